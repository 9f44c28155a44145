"""A format for tests: a line holds source and target with ``|||`` or another sign between them."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from pydantic import Field

from pairweave.transforms.export.export_formats import MarkupExport
from pairweave.transforms.export.markup_rows import MarkupRow
from pairweave.transforms.export.markup_texts import tagged_texts
from pairweave.transforms.formats.registry import FormatOptions
from pairweave.transforms.problems import Problem
from pairweave.transforms.reading.column_lines import line_blocks
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.rows import RowMaker, read_text
from pairweave.transforms.reading.scan_lines import scan_lines
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.units import ReadLimits, Unit

_BETWEEN = "|||"


class CsvpairOptions(FormatOptions):
    """The option of the format."""

    csvpair_between: str = Field(_BETWEEN, min_length=1, description="what stands between texts")


def read_csvpair(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a unit, in ROWS batches."""
    part = unit.parts[0]
    maker = RowMaker(unit, in_line=True)
    between = unit.options(CsvpairOptions).csvpair_between
    number = unit.first_line
    for lines in line_blocks(part_text(part, limits), limits.max_line_bytes, part.ranges[0][0]):
        for first in range(0, len(lines), batch_rows):
            rows = [
                _row(lines.line(line), between) for line in range(first, len(lines))[:batch_rows]
            ]
            texts = {
                side: pa.array([row[place] for row in rows], pa.string())
                for place, side in enumerate(("source", "target"))
            }
            problems = {place: row[2] for place, row in enumerate(rows) if row[2] is not None}
            numbers = np.arange(number, number + len(rows), dtype=np.int64)
            yield maker.batch(numbers, texts, problems)
            number += len(rows)


def _row(raw: bytes, between: str) -> tuple[str | None, str | None, Problem | None]:
    text = read_text(raw, "line")
    if isinstance(text, Problem):
        return None, None, text
    fields = text.split(between)
    if len(fields) != 2:
        return None, None, Problem(Reject.FIELD_COUNT, f"{len(fields)} fields, expected 2", raw)
    return fields[0], fields[1], None


def _write(rows: Iterable[MarkupRow], _: str | None) -> Iterator[tuple[bytes, ...]]:
    for row in rows:
        yield (f"{_BETWEEN.join(tagged_texts(row))}\n".encode(),)


INPUT = InputFormat("csvpair", scan_lines, read_csvpair, (".csvpair",))
EXPORT = MarkupExport("csvpair", (".csvpair",), _write, "html")
