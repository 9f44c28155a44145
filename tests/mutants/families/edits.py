"""Faults as edits of a module's text, so that all other lines stay as they were written."""

import ast
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

Position = tuple[int, int]
"""A line, from one, and a column, from zero."""


@dataclass(frozen=True)
class Edit:
    """Bytes of the source, half-open, and what takes their place."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Change:
    """One fault.

    Attributes:
        start: Where the place in the code begins that has this fault, and perhaps others.
        end: Where it ends.
        line: The line that tests must run to notice the fault.
        edits: What changes; they do not overlap.
    """

    start: Position
    end: Position
    line: int
    edits: tuple[Edit, ...]


class Source:
    """The text of a module, its syntax tree, and where each node of it is in the text."""

    def __init__(self, text: str) -> None:
        """Parse the text."""
        self.text = text
        self.tree = ast.parse(text)

    @cached_property
    def encoded(self) -> bytes:
        """Return the text as the bytes that columns of nodes count."""
        return self.text.encode()

    @cached_property
    def _line_starts(self) -> list[int]:
        lengths = (len(line) for line in self.encoded.split(b"\n"))
        return [0, *accumulate(length + 1 for length in lengths)]

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the byte with which a node begins."""
        return self._line_starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the byte after a node."""
        return self._line_starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        return self.encoded[self.start(node) : self.end(node)].decode()

    def replaced(self, edits: tuple[Edit, ...]) -> str:
        """Return the whole text with some edits."""
        changed = self.encoded
        for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
            changed = changed[: edit.start] + edit.text.encode() + changed[edit.end :]
        return changed.decode()


def span(node: ast.expr | ast.stmt) -> tuple[Position, Position]:
    """Return where a node begins and ends."""
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
