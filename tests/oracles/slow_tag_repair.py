"""Repair of tags that searches the whole text again after every move."""

from unittest import mock

from pairweave.transforms.markup.markup import Kind
from pairweave.transforms.symbols import tag_repair


class SlowSequence(tag_repair._Sequence):
    """The tags of a text, numbered anew after every change."""

    def _find_crossing(self):
        opened = []
        for mark in self._marks:
            if mark.number not in self._spans:
                continue
            if mark.kind is Kind.OPEN:
                opened.append(mark.number)
            else:
                place = opened.index(mark.number)
                for other in opened[place + 1 :]:
                    if not self._crosses(mark.number, other):
                        return mark.number, other
                opened.pop(place)
        return None

    def _insert(self, mark, place, offset):
        self._marks.insert(place, mark)
        self._offsets[mark] = offset
        self._number_places()

    def _move(self, marks, *, before=None, behind=None):
        anchor = before or behind
        self._marks = [mark for mark in self._marks if mark not in marks]
        place = self._marks.index(anchor) + (before is None)
        self._marks[place:place] = marks
        self._number_places()
        for mark in marks:
            self._offsets[mark] = self._offsets[anchor]
        self._moved += len(marks)


def repair_tags(numbered, table):
    """Return what `transforms.symbols.tag_repair.repair_tags` does."""
    with mock.patch.object(tag_repair, "_Sequence", SlowSequence):
        return tag_repair.repair_tags(numbered, table)
