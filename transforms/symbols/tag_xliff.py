"""Numbered tags as the inline elements of XLIFF, whose closing tags do not name their element."""

import re
from collections.abc import Sequence
from typing import ClassVar

from pairweave.transforms.kernels.tags import tag_names
from pairweave.transforms.markup.markup import Kind, Marked, Tag
from pairweave.transforms.markup.tag_table import Mark, TagTable, mark_of
from pairweave.transforms.symbols.tag_symbols import Representation, read_symbols, with_symbols


class Xliff(Representation):
    """The inline elements of XLIFF 1.2, with ids from 1, left to right in the source.

    ``<g>`` for a pair, ``<x/>`` for an empty tag, ``<bx/>`` and ``<ex/>`` for halves (Hanneman and
    Dinu 2020, section 3.1). A pair that crosses another is ``<bx/>`` and ``<ex/>`` with one id,
    since ``</g>`` always closes the last ``<g>``.
    """

    name = "xliff"
    way = tag_names.XLIFF
    _PATTERN: ClassVar = re.compile(
        r'<(?:g id="(?P<pair>[1-9][0-9]*)"|(?P<close>/)g'
        r'|(?P<name>x|bx|ex) id="(?P<id>[1-9][0-9]*)"/)>'
    )

    def symbols(self, numbers: int) -> list[str]:
        """Return ``<g id="1">`` and so on, ``</g>``, then ``<x/>``, ``<bx/>`` and ``<ex/>``."""
        ids = range(1, numbers + 1)
        halves = [f'<{name} id="{number}"/>' for name in ("x", "bx", "ex") for number in ids]
        return [*(f'<g id="{number}">' for number in ids), "</g>", *halves]

    def symbol(self, use: int, number: int) -> str:
        """Return the element of an id from 0."""
        if use == tag_names.WHOLE_CLOSE:
            return "</g>"
        if use == tag_names.WHOLE_OPEN:
            return f'<g id="{number + 1}">'
        names = {tag_names.ALONE: "x", tag_names.HALF_OPEN: "bx", tag_names.HALF_CLOSE: "ex"}
        return f'<{names[use]} id="{number + 1}"/>'

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches every symbol."""
        return self._PATTERN

    def write(self, marked: Marked, table: TagTable) -> Marked:
        """Return numbered tags as inline elements."""
        ids = {number: place + 1 for place, number in enumerate(table.numbers)}
        nested = _nested_pairs(marked.tags, table.halved)
        names = {Kind.OPEN: "bx", Kind.CLOSE: "ex", Kind.EMPTY: "x"}
        symbols = []
        for place, tag in enumerate(marked.tags):
            kind, number = mark_of(tag)
            if place not in nested:
                symbols.append(f'<{names[kind]} id="{ids[number]}"/>')
            else:
                symbols.append("</g>" if kind is Kind.CLOSE else f'<g id="{ids[number]}">')
        return with_symbols(marked, symbols)

    def read(self, string: str, table: TagTable) -> Marked:
        """Return a text with numbered tags in place of its inline elements.

        ``</g>`` closes the last open ``<g>``; if there is none, the first pair of the table whose
        ``<g>`` is missing.
        """
        matches = list(self._PATTERN.finditer(string))
        # Ids are compared as text: a model may repeat a digit thousands of times.
        by_id = {str(place + 1): number for place, number in enumerate(table.numbers)}
        present = {match["pair"] for match in matches}
        missing = iter(
            [
                number
                for key, number in by_id.items()
                if key not in present and number in table.spans and number not in table.halved
            ]
        )
        kinds = {"bx": Kind.OPEN, "ex": Kind.CLOSE, "x": Kind.EMPTY}
        opened: list[int | None] = []

        def facts(match: re.Match[str]) -> tuple[Kind, Mark | None]:
            number: int | None
            if match["close"]:
                kind = Kind.CLOSE
                number = opened.pop() if opened else next(missing, None)
            else:
                kind = Kind.OPEN if match["pair"] else kinds[match["name"]]
                number = by_id.get(match["pair"] or match["id"])
                if match["pair"]:
                    opened.append(number)
            if number is None or Mark(kind, number) not in table.places:
                return kind, None
            return kind, Mark(kind, number)

        return read_symbols(string, self._PATTERN, facts)


def _nested_pairs(tags: Sequence[Tag], halved: frozenset[int]) -> frozenset[int]:
    """Return the places of the tags of pairs that cross no other."""
    waiting: dict[int, list[int]] = {}
    pairs = []
    for place, tag in enumerate(tags):
        kind, number = mark_of(tag)
        if kind is Kind.OPEN and number not in halved:
            waiting.setdefault(number, []).append(place)
        elif kind is Kind.CLOSE and waiting.get(number):
            pairs.append((waiting[number].pop(), place))
    kept: list[int] = []
    opened: list[int] = []  # the ends of the kept pairs that are open, the innermost last
    for start, end in sorted(pairs):
        while opened and opened[-1] < start:
            opened.pop()
        if not opened or end < opened[-1]:
            opened.append(end)
            kept += [start, end]
    return frozenset(kept)
