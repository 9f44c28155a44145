"""Line-parallel text: one sentence per line, one file per side (the format of Moses and OPUS)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.export.export_formats import IN_LINE, LinkedRows, RowExport, joined_lines
from pairweave.transforms.reading.column_lines import Lines, decode, line_blocks, whole_lines
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.json_documents import (
    AS_JSON_LINES,
    DocumentWatch,
    are_json_lines,
)
from pairweave.transforms.reading.known_content import HEAD_BYTES
from pairweave.transforms.reading.links_of_rows import LINKS
from pairweave.transforms.reading.rows import Problem, RowMaker
from pairweave.transforms.reading.scan import Scan, ScanRequest
from pairweave.transforms.reading.scan_lines import scan_lines
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.units import Part, ReadLimits, Unit

if TYPE_CHECKING:
    from pairweave.transforms.sentences.line_shift import LineShift

_SIDES = ("source", "target")
_TEXTS = (*_SIDES, "translation")
_COLUMNS = {"links": LINKS}
"""Columns whose name differs from the role of their file."""


class Side:
    """The lines of one side, with a position.

    Args:
        name: Its file, for messages.
        column: The column of its texts.
        text: The text in pieces.
        limits: The limits of the readers.
        offset: Offset of the first piece in the file.
    """

    def __init__(
        self, name: str, column: str, text: Iterable[bytes], limits: ReadLimits, offset: int = 0
    ) -> None:
        self.name = name
        self.column = column
        self._blocks = line_blocks(text, limits.max_line_bytes, offset)
        self._lines: Lines | None = None
        self._next = 0

    def ready(self) -> int:
        """Return the number of lines that can be taken at once; 0 at the end of the part."""
        while self._lines is None or self._next == len(self._lines):
            self._lines = next(self._blocks, None)
            self._next = 0
            if self._lines is None:
                return 0
        return len(self._lines) - self._next

    def take(self, count: int, limits: ReadLimits, problems: dict[int, Problem]) -> pa.StringArray:
        """Return the next lines as texts."""
        assert self._lines is not None
        stretch = whole_lines(self._lines, self._next, self._next + count)
        self._next += count
        return decode(stretch, self.column, limits.max_line_bytes, problems)


def read_moses(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of line-parallel text, in ROWS batches.

    Raises:
        WorkerError: A part is not what was planned.
    """
    sides = [_side(part, limits) for part in unit.parts]
    yield from read_sides(unit, sides, limits, batch_rows)


def _side(part: Part, limits: ReadLimits) -> Side:
    offset = part.ranges[0][0] if part.compression == "none" else 0
    column = _COLUMNS.get(part.role, part.role)
    return Side(part.name, column, part_text(part, limits), limits, offset)


def read_sides(
    unit: Unit, sides: Sequence[Side], limits: ReadLimits, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of sides line by line, in ROWS batches.

    Raises:
        WorkerError: A side continues after another one ends.
    """
    maker = RowMaker(unit, in_line=True)
    done = 0
    while True:
        ready = [side.ready() for side in sides]
        count = min(*ready, batch_rows)
        if not count:
            break
        problems: dict[int, Problem] = {}
        texts = {side.column: side.take(count, limits, problems) for side in sides}
        first = unit.first_line + done
        yield maker.batch(np.arange(first, first + count, dtype=np.int64), texts, problems)
        done += count
    longer = [side.name for side, left in zip(sides, ready, strict=True) if left]
    if longer:
        raise WorkerError(
            f"{longer[0]}: continues after line {unit.first_line + done - 1}, where "
            f"{', '.join(side.name for side in sides if side.name not in longer)} ends"
        )


def _write(rows: pa.RecordBatch) -> list[bytes]:
    return [joined_lines(rows.column(side)) for side in _SIDES]


def _write_linked(rows: pa.RecordBatch) -> list[bytes]:
    return [*_write(rows), joined_lines(rows.column("links"))]


def shift_between(source: Side, target: Side, more: int, limits: ReadLimits) -> "LineShift | None":
    """Find where two sides with different numbers of lines stop corresponding line by line.

    Args:
        source: The source, from its first line.
        target: The translation, from its first line.
        more: Number of lines of the target minus that of the source.
        limits: The limits of the readers.
    """
    # Imported here because it loads kernels.
    from pairweave.transforms.sentences.line_shift import find_line_shift

    def texts() -> Iterator[tuple[pa.Array, pa.Array]]:
        while count := min(source.ready(), target.ready()):
            lines = [side.take(count, limits, {}) for side in (source, target)]
            yield pc.fill_null(lines[0], ""), pc.fill_null(lines[1], "")

    return find_line_shift(texts(), more)


_LXM = re.compile(rb"(\xef\xbb\xbf)?\s*\{\s*(\"\w+\"\s*:\s*\"[^\"]*\"\s*,\s*)*\"text\"\s*:\s*\{")
"""The beginning of a file of LXM JSON (`transforms.formats.lxm`), whose texts have names; in JSON
Lines, ``text`` would be a string."""


def scan_moses(file: ScanRequest) -> Scan:
    """Scan one side, unless it is JSON, which does not have one sentence per line.

    Raises:
        InputError: The whole file cannot be used (``lxm_as_text`` if it is JSON whose texts have
            names, ``json_as_text`` if it is another JSON document or has one on each line).
    """
    if file.role not in _TEXTS:
        return scan_lines(file)
    document = DocumentWatch()
    seen = False

    def see(chunk: bytes) -> None:
        nonlocal seen
        if not seen and file.role in _SIDES and _LXM.match(chunk):
            raise InputError("lxm_as_text", file.name, "this is LXM JSON; give --format lxm")
        if not seen and are_json_lines(chunk[:HEAD_BYTES]):
            raise InputError("json_as_text", file.name, f"this is {AS_JSON_LINES}")
        seen = True
        document.see(chunk)

    scan = scan_lines(file, see=see)
    kind = document.kind()
    if kind is not None:
        raise InputError(
            "json_as_text",
            file.name,
            f"this is one JSON {kind}, and text must have a sentence on each line; write its pairs "
            "as JSON lines (.jsonl), each an object with source and target, and give that file "
            "with --input",
        )
    return scan


INPUT = InputFormat("moses", scan_moses, read_moses, sides=True)
EXPORT = RowExport(
    "moses",
    ("augment", "filter"),
    (".src", ".tgt"),
    _SIDES,
    IN_LINE,
    _write,
    linked=LinkedRows("none", (".src", ".tgt", ".align"), _write_linked),
)
