"""Tab-separated text: fields separated by tabs, without quotes or types."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import InputError
from pairweave.transforms.export.export_formats import IN_FIELD, RowExport, flat_names, joined_lines
from pairweave.transforms.reading.column_lines import Lines, Stretch, decode, line_blocks
from pairweave.transforms.reading.given_scores import SCORE
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.links_of_rows import LINKS
from pairweave.transforms.reading.named_fields import are_numbers, find_fields, wanted_fields
from pairweave.transforms.reading.rows import RAW_BYTES, Problem, RowMaker, too_long
from pairweave.transforms.reading.scan import Scan, ScanRequest
from pairweave.transforms.reading.scan_lines import scan_lines
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.units import Columns, ReadLimits, Unit


def read_tsv(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a TSV unit, in ROWS batches.

    Raises:
        WorkerError: The file is not what was planned.
    """
    part, columns = unit.parts[0], unit.columns
    assert columns is not None
    maker = RowMaker(unit, in_line=True)
    wanted = {"source": int(columns.source) - 1, "target": int(columns.target) - 1}
    if columns.translation is not None:
        wanted["translation"] = int(columns.translation) - 1
    if columns.score is not None:
        wanted[SCORE] = int(columns.score) - 1
    if columns.links is not None:
        wanted[LINKS] = int(columns.links) - 1
    offset = part.ranges[0][0] if part.compression == "none" else 0
    skip = unit.skip_lines
    line = unit.first_line
    for lines in line_blocks(part_text(part, limits), limits.max_line_bytes, offset):
        begin = min(skip, len(lines))
        skip -= begin
        for first in range(begin, len(lines), batch_rows):
            stop = min(first + batch_rows, len(lines))
            problems = _count_problems(lines, first, stop, columns.field_count, limits)
            absent = frozenset(problems)
            fields = {
                side: _field(lines, first, stop, column, columns.field_count)
                for side, column in wanted.items()
            }
            texts = {
                side: decode(field, side, limits.max_line_bytes, problems, absent)
                for side, field in fields.items()
            }
            count = stop - first
            yield maker.batch(np.arange(line, line + count, dtype=np.int64), texts, problems)
            line += count


def _tabs_before(lines: Lines, positions: np.ndarray) -> np.ndarray:
    return np.searchsorted(lines.tabs, positions)


def _count_problems(
    lines: Lines, first: int, stop: int, expected: int, limits: ReadLimits
) -> dict[int, Problem]:
    """Return the problems of rows that do not have the expected fields."""
    problems = {
        line - first: too_long("line", long.length, limits.max_line_bytes, long.head)
        for line, long in lines.long.items()
        if first <= line < stop
    }
    counts = 1 + (
        _tabs_before(lines, lines.ends[first:stop]) - _tabs_before(lines, lines.starts[first:stop])
    )
    for row in np.flatnonzero(counts != expected).tolist():
        problems.setdefault(
            row,
            Problem(
                Reject.FIELD_COUNT,
                f"{counts[row]} fields, expected {expected}",
                lines.line(first + row)[:RAW_BYTES],
            ),
        )
    return problems


def _field(lines: Lines, first: int, stop: int, column: int, count: int) -> Stretch:
    """Return the location of a column; arbitrary in lines with a wrong number of fields."""
    starts, ends = lines.starts[first:stop], lines.ends[first:stop]
    # Imaginary tabs before and after the block make every index below valid.
    borders = np.concatenate(([-1], lines.tabs, [len(lines.data)]))
    before = _tabs_before(lines, starts)
    if column:
        place = np.minimum(before + column, len(borders) - 1)
        left = np.minimum(borders[place] + 1, ends)
    else:
        left = starts
    right = ends
    if column < count - 1:
        place = np.minimum(before + column + 1, len(borders) - 1)
        right = np.maximum(left, np.minimum(borders[place], ends))
    return Stretch(lines, first, stop, left, right)


def _scan(file: ScanRequest) -> Scan:
    return scan_lines(file, _find_columns)


def _find_columns(first_line: bytes, file: ScanRequest) -> tuple[Columns, int]:
    """Find the wanted columns by the first line; return them and the number of header lines.

    Raises:
        InputError: ``missing_column``, with the wanted and the existing columns.
        ConfigError: Some fields are numbers and some are names.
    """
    corpus, limit = file.corpus, file.limits.max_line_bytes
    wanted, _ = wanted_fields(corpus)
    if len(first_line) > limit and (corpus.field_count is None or not are_numbers(wanted)):
        raise InputError(
            "missing_column",
            file.name,
            f"the first line is longer than max_line_bytes {limit}, so its fields cannot be "
            "counted; give field_count",
        )
    fields = [field.decode(errors="backslashreplace") for field in first_line.split(b"\t")]
    return find_fields(fields, file)


def _write(rows: pa.RecordBatch) -> list[bytes]:
    columns = [rows.column(name) for name in flat_names(rows.schema)]
    return [joined_lines(*columns, separator="\t")]


def _header(names: Sequence[str]) -> bytes:
    return ("\t".join(names) + "\n").encode()


INPUT = InputFormat("tsv", _scan, read_tsv, (".tsv",), columns=True)
EXPORT = RowExport(
    "tsv", ("suggest", "augment", "filter"), (".tsv",), (), IN_FIELD, _write, header=_header
)
