"""Rows from the segments of an XML file, for the readers of TMX and XLIFF."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.markup.markup import Marked
from pairweave.transforms.markup.segments import Segment
from pairweave.transforms.problems import Problem
from pairweave.transforms.reading.inline_tags import InlinePair, xml_of
from pairweave.transforms.reading.rows import RowMaker, in_batches, too_long
from pairweave.transforms.reading.scan import Digests, Scan, ScanRequest
from pairweave.transforms.reading.xml_stream import Handler, parse_xml
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.units import ReadLimits, Unit


@dataclasses.dataclass(frozen=True, slots=True)
class XmlRow:
    """One pair as written in the file.

    Attributes:
        source: The source; None if it is missing or too long.
        target: The target.
        problem: The reason to reject the row.
    """

    source: Marked | None
    target: Marked | None
    problem: Problem | None = None

    @property
    def has_tags(self) -> bool:
        """Tell whether a side has inline tags."""
        return any(side is not None and side.tags for side in (self.source, self.target))

    def characters(self) -> int:
        """Return the number of code points of both sides, including tags."""
        sides = [side for side in (self.source, self.target) if side is not None]
        return sum(len(side.text) + sum(len(tag.raw) for tag in side.tags) for side in sides)


class RowHandler(Handler, Protocol):
    """A handler that collects rows, and counts those with inline tags."""

    rows_with_tags: int

    def pop_rows(self) -> list[XmlRow]:
        """Return the complete rows, and forget them."""


def content(
    segment: Segment | None, side: str, limits: ReadLimits
) -> tuple[Marked | None, Problem | None]:
    """Return the content of a segment, or the reason to reject it."""
    if segment is None:
        return None, None
    marked = segment.finish()
    if segment.is_too_long:
        head = xml_of(marked).encode()
        return None, too_long(side, segment.bytes, limits.max_line_bytes, head)
    return marked, None


def parse_rows(
    chunks: Iterable[bytes], name: str, limits: ReadLimits, handler: RowHandler
) -> Iterator[XmlRow]:
    """Yield the rows that a handler finds in a document.

    Raises:
        InputError: The document cannot be used; the rows yielded before are invalid.
    """
    for _ in parse_xml(chunks, name, limits, handler):
        yield from handler.pop_rows()


def scan_xml(file: ScanRequest, handler: RowHandler) -> Scan:
    """Scan an XML file.

    Raises:
        InputError: The document cannot be used.
    """
    digests = Digests()
    text = digests.text_of(file)
    rows = sum(1 for _ in parse_rows(text, file.name, file.limits, handler))
    return dataclasses.replace(digests.scan(rows), rows_with_tags=handler.rows_with_tags)


def require_document(required: object, name: str, what: str, kind: str) -> None:
    """Refuse a document that lacks what every document of its kind has.

    Raises:
        InputError: ``unsupported_format``.
    """
    if not required:
        raise InputError(
            "unsupported_format", name, f"the document lacks {what}, so it is not {kind}"
        )


def read_xml(
    unit: Unit, limits: ReadLimits, batch_rows: int, handler: RowHandler
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an XML file, in ROWS batches; ``line`` is the row's number in the file.

    Raises:
        WorkerError: The file is not what was planned.
    """
    part = unit.parts[0]
    maker = RowMaker(unit)
    parsed = parse_rows(part_text(part, limits), part.name, limits, handler)
    first = unit.first_line
    try:
        for rows in in_batches(parsed, XmlRow.characters, batch_rows):
            yield _batch(maker, rows, first)
            first += len(rows)
    except InputError as error:
        raise WorkerError(f"{error}; it could be read when the plan was made") from error


def _batch(maker: RowMaker, rows: list[XmlRow], first: int) -> pa.RecordBatch:
    inline = {}
    for number, row in enumerate(rows):
        if row.has_tags and row.source is not None and row.target is not None:
            raw = (xml_of(row.source), xml_of(row.target))
            inline[number] = InlinePair(row.source, row.target, *raw)
    texts = {
        side: pa.array([_text(getattr(row, side)) for row in rows], pa.string())
        for side in ("source", "target")
    }
    problems = {number: row.problem for number, row in enumerate(rows) if row.problem is not None}
    lines = np.arange(first, first + len(rows), dtype=np.int64)
    return maker.batch(lines, texts, problems, inline)


def _text(marked: Marked | None) -> str | None:
    if marked is None:
        return None
    return xml_of(marked) if marked.tags else marked.text
