"""Repair of tags that a translation model dropped, invented, or put in an invalid order."""

import bisect
import dataclasses
import itertools
from collections.abc import Iterable, Sequence

from pairweave.transforms.markup.markup import Kind, Marked, Tag
from pairweave.transforms.markup.tag_table import Mark, TagTable, find_spans, mark_of, numbered_tag


@dataclasses.dataclass(frozen=True, slots=True)
class Repairs:
    """Repairs of the tags of one text.

    Attributes:
        dropped: Tags that were missing.
        spurious: Tags that are not in the table, or that occurred before.
        moved: Tags moved to restore order and nesting.
        spaces: Places where the model did not follow the white-space shift of its input
            (`transforms.symbols.whitespace.Unshifted`).
    """

    dropped: int = 0
    spurious: int = 0
    moved: int = 0
    spaces: int = 0

    def __bool__(self) -> bool:
        """Tell whether anything was wrong."""
        return self != Repairs()


def repair_tags(numbered: Marked, table: TagTable) -> tuple[Marked, Repairs]:
    """Return a text with every tag of its table once, nested as in the source.

    A text with valid tags is left unchanged. Otherwise, in this order:

    1. Tags that are not in the table and repeated tags are removed; of repeated closing tags, the
       first one after the opening tag is kept.
    2. Missing tags are added at the end of the text, in their order in the source (Hanneman and
       Dinu 2020, section 4.2). If half of a pair is present, unlike in the paper, an opening tag
       is added directly before its closing one, so that no further text is marked; a closing tag
       is added inside the pairs that contain it in the source.
    3. If a pair closes before it opens, its tags are swapped.
    4. A pair is extended over the pairs that it contains in the source, if the two cross or contain
       each other the other way round.
    5. If two other pairs cross that do not cross in the source, the one with less text of its own
       keeps their overlap.

    Nested pairs of the source may be disjoint in the text, and vice versa, as in human
    translations. Empty tags and halves may be anywhere.

    Args:
        numbered: The text with numbered tags; those without a key are unknown.
        table: The table of the tags that the text must have.
    """
    if [mark_of(tag) if tag.key else None for tag in numbered.tags] == [*table.marks]:
        return numbered, Repairs()
    kept = _first_of_each(numbered.tags, frozenset(table.marks))
    sequence = _Sequence(kept, len(numbered.text), table)
    dropped = sequence.put_back()
    moved = sequence.nest()
    repairs = Repairs(dropped, len(numbered.tags) - len(kept), moved)
    return Marked(numbered.text, sequence.tags()), repairs


def _first_of_each(tags: Iterable[Tag], wanted: frozenset[Mark]) -> list[Tag]:
    """Keep one tag of each kind and number."""
    places: dict[Mark, list[int]] = {}
    numbered = [tag for tag in tags if tag.key]
    for place, tag in enumerate(numbered):
        places.setdefault(mark_of(tag), []).append(place)
    kept = []
    for mark, of_mark in places.items():
        opening = places.get(Mark(Kind.OPEN, mark.number), [-1])[0]
        behind = (place for place in of_mark if mark.kind is not Kind.CLOSE or place > opening)
        if mark in wanted:
            kept.append(next(behind, of_mark[0]))
    return [numbered[place] for place in sorted(kept)]


class _Sequence:
    """The tags of a text in their order, with their offsets."""

    def __init__(self, tags: Sequence[Tag], length: int, table: TagTable) -> None:
        self._wanted = table.marks
        self._length = length
        self._offsets = {mark_of(tag): tag.offset for tag in tags}
        self._marks = list(self._offsets)
        self._places: dict[Mark, int] = {}
        self._number_places()
        self._moved = 0
        self._settled = 0  # number of tags that have been searched for crossing pairs
        self._opened: list[int] = []  # the pairs that are open behind them
        present = {mark.number for mark in self._marks}
        # By their opening tags in the source. Pairs that were dropped completely do not count.
        self._spans = find_spans(table.marks)
        self._pairs = list(self._spans)
        self._present = [number for number in self._pairs if number in present]

    def tags(self) -> tuple[Tag, ...]:
        """Return the tags."""
        return tuple(numbered_tag(*mark, self._offsets[mark]) for mark in self._marks)

    def put_back(self) -> int:
        """Add the missing tags; return their number."""
        present = frozenset(self._marks)
        missing = [mark for mark in self._wanted if mark not in present]
        partners = [Mark(_PARTNER[mark.kind], mark.number) for mark in missing]
        for mark, partner in zip(missing, partners, strict=True):
            if partner in present and mark.kind is Kind.OPEN:
                self._insert_before(mark, partner)
            elif partner in present:
                self._close(mark, present)
        for mark, partner in zip(missing, partners, strict=True):
            if partner not in present:
                self._insert(mark, len(self._marks), self._length)
        return len(missing)

    def nest(self) -> int:
        """Order the tags of pairs; return the number of moved tags."""
        for number in self._pairs:
            self._order(number)
        for number in reversed(self._present):
            self._hold_others(number)
        while (crossing := self._find_crossing()) is not None:
            self._part(*crossing)
        return self._moved

    def _close(self, mark: Mark, present: frozenset[Mark]) -> None:
        """Insert a closing tag at the end of the innermost pair that contains it in the source."""
        at = self._places[Mark(Kind.OPEN, mark.number)]
        for outer in reversed(self._present):
            opening, closing = Mark(Kind.OPEN, outer), Mark(Kind.CLOSE, outer)
            if not self._holds(outer, mark.number) or not {opening, closing} <= present:
                continue
            if self._places[opening] < at < self._places[closing]:
                self._insert_before(mark, closing)
                return
        self._insert(mark, len(self._marks), self._length)

    def _order(self, number: int) -> None:
        opening, closing = Mark(Kind.OPEN, number), Mark(Kind.CLOSE, number)
        first, second = self._places[closing], self._places[opening]
        if first < second:
            self._marks[first], self._marks[second] = opening, closing
            offsets = self._offsets
            offsets[opening], offsets[closing] = offsets[closing], offsets[opening]
            self._places[opening], self._places[closing] = first, second
            self._moved += 2

    def _hold_others(self, number: int) -> None:
        inside = [inner for inner in self._present if self._holds(number, inner)]
        while sum(self._grow(number, inner) for inner in inside):
            pass  # an extended pair may overlap another one

    def _grow(self, outer: int, inner: int) -> bool:
        """Extend a pair over another if they overlap; return whether it was extended."""
        start, end = self._span(outer)
        inner_start, inner_end = self._span(inner)
        if inner_end < start or end < inner_start:
            return False
        if inner_start < start:
            self._move([Mark(Kind.OPEN, outer)], before=Mark(Kind.OPEN, inner))
        if inner_end > end:
            self._move([Mark(Kind.CLOSE, outer)], behind=Mark(Kind.CLOSE, inner))
        return inner_start < start or inner_end > end

    def _find_crossing(self) -> tuple[int, int] | None:
        """Return two pairs that cross here and not in the source, the left one first."""
        while self._settled < len(self._marks):
            mark = self._marks[self._settled]
            if mark.number not in self._spans:
                pass
            elif mark.kind is Kind.OPEN:
                self._opened.append(mark.number)
            else:
                place = bisect.bisect_left(
                    self._opened, self._opening(mark.number), key=self._opening
                )
                for other in itertools.islice(self._opened, place + 1, None):
                    if not self._crosses(mark.number, other):
                        return mark.number, other
                del self._opened[place]
            self._settled += 1
        return None

    def _opening(self, number: int) -> int:
        return self._places[Mark(Kind.OPEN, number)]

    def _go_back(self, place: int) -> None:
        """Look for crossing pairs from a place on again, before its tags are moved."""
        while self._settled > place:
            self._settled -= 1
            mark = self._marks[self._settled]
            if mark.number not in self._spans:
                continue
            if mark.kind is Kind.OPEN:
                self._opened.pop()
            else:
                bisect.insort(self._opened, mark.number, key=self._opening)

    def _part(self, left: int, right: int) -> None:
        """Give the overlap of two pairs to the one that has less text of its own."""
        offsets = self._offsets
        end, start = Mark(Kind.CLOSE, left), Mark(Kind.OPEN, right)
        own_left = offsets[start] - offsets[Mark(Kind.OPEN, left)]
        own_right = offsets[Mark(Kind.CLOSE, right)] - offsets[end]
        between = self._marks[self._places[start] + 1 : self._places[end]]
        if own_left <= own_right:
            inside = [mark for mark in between if self._holds(right, mark.number)]
            self._move([start, *inside], behind=end)
        else:
            inside = [mark for mark in between if self._holds(left, mark.number)]
            self._move([*inside, end], before=start)

    def _span(self, number: int) -> tuple[int, int]:
        return self._places[Mark(Kind.OPEN, number)], self._places[Mark(Kind.CLOSE, number)]

    def _number_places(self, first: int = 0, stop: int | None = None) -> None:
        """Note the places of the tags from one place to another."""
        for place, mark in enumerate(self._marks[first:stop], first):
            self._places[mark] = place

    def _holds(self, outer: int, inner: int) -> bool:
        """Tell whether one pair contains another in the source."""
        spans = self._spans
        if inner not in spans:
            return False
        return spans[outer][0] < spans[inner][0] and spans[inner][1] < spans[outer][1]

    def _crosses(self, one: int, other: int) -> bool:
        """Tell whether two pairs cross in the source."""
        (start, end), (second, second_end) = sorted((self._spans[one], self._spans[other]))
        return start < second < end < second_end

    def _insert(self, mark: Mark, place: int, offset: int) -> None:
        self._marks.insert(place, mark)
        self._offsets[mark] = offset
        self._number_places(place)

    def _insert_before(self, mark: Mark, other: Mark) -> None:
        self._insert(mark, self._places[other], self._offsets[other])

    def _move(
        self, marks: list[Mark], *, before: Mark | None = None, behind: Mark | None = None
    ) -> None:
        """Move tags next to another, in the order given."""
        anchor = before or behind
        assert anchor is not None
        leaving = frozenset(marks)
        # No tag outside of these places moves.
        places = [self._places[mark] for mark in (anchor, *marks)]
        first, stop = min(places), max(places) + 1
        self._go_back(first)
        part = [mark for mark in self._marks[first:stop] if mark not in leaving]
        place = part.index(anchor) + (before is None)
        part[place:place] = marks
        self._marks[first:stop] = part
        self._number_places(first, stop)
        for mark in marks:
            self._offsets[mark] = self._offsets[anchor]
        self._moved += len(marks)


_PARTNER = {Kind.OPEN: Kind.CLOSE, Kind.CLOSE: Kind.OPEN, Kind.EMPTY: Kind.EMPTY}
