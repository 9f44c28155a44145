"""Comma-separated values (RFC 4180): fields that may be quoted and then hold commas and line ends.

A file is one unit, since only reading it from the start tells which line ends are inside a field.
"""

import csv
import dataclasses
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.export.export_formats import RowExport, flat_names
from pairweave.transforms.formats.registry import CsvOptions
from pairweave.transforms.reading.column_lines import Lines, line_blocks
from pairweave.transforms.reading.given_scores import SCORE
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.links_of_rows import LINKS
from pairweave.transforms.reading.named_fields import find_fields
from pairweave.transforms.reading.rows import RAW_BYTES, Problem, RowMaker, in_batches, read_text
from pairweave.transforms.reading.scan import Digests, Scan, ScanRequest
from pairweave.transforms.reading.scan_lines import LineCounter
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.units import Columns, ReadLimits, Unit

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}
"""What parts fields, by the value of ``csv_delimiter``."""

_RETURN = "\ud800"
"""Instead of a carriage return inside a line, which the library would take for a line end. No bytes
are decoded to it."""


class Record(NamedTuple):
    """One record.

    Attributes:
        line: The line where it begins, from 1.
        fields: Its fields without quotes; `_bytes` returns the bytes of one.
    """

    line: int
    fields: list[str]


def parse_csv(
    blocks: Iterable[Lines], name: str, limit: int, delimiter: str = ","
) -> Iterator[Record]:
    """Yield the records of a file.

    A quote is one if its field begins with it; elsewhere it is a character as any other. Line ends
    inside a field are line feeds.

    Args:
        blocks: The lines of the file.
        name: The file's name, for messages.
        limit: Largest size of a field, in characters, and of a line, in bytes.
        delimiter: The character between fields.

    Raises:
        InputError: ``csv_syntax``: a quoted field does not end, or is followed by other characters
            than a delimiter; a line or field is over the limit. What follows could be
            misunderstood, so the file as a whole cannot be used.
    """
    reader = csv.reader(_lines(blocks, name, limit), delimiter=delimiter, strict=True)
    line = 1
    previous = csv.field_size_limit(limit)
    try:
        for fields in reader:
            yield Record(line, fields)
            line = reader.line_num + 1
            csv.field_size_limit(limit)
    except csv.Error as error:
        raise InputError(
            "csv_syntax",
            name,
            f"the record that begins here: {error}. A quoted field ends with a quote before the "
            "next delimiter, and a quote inside it is doubled; a file without quoting is read with "
            "--format tsv",
            line,
        ) from error
    finally:
        csv.field_size_limit(previous)


def _lines(blocks: Iterable[Lines], name: str, limit: int) -> Iterator[str]:
    """Yield lines as text, each with a line feed."""
    number = 0
    for lines in blocks:
        for index in range(len(lines)):
            number += 1
            if index in lines.long:
                raise InputError(
                    "csv_syntax",
                    name,
                    f"{lines.long[index].length} bytes, max_line_bytes is {limit}",
                    number,
                )
            text = lines.line(index).decode("utf-8", "surrogateescape")
            yield text.replace("\r", _RETURN) + "\n"


def read_csv(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a CSV file, in ROWS batches; ``line`` is where the record begins.

    Raises:
        WorkerError: The file is not what was planned.
    """
    part, columns = unit.parts[0], unit.columns
    assert columns is not None
    maker = RowMaker(unit)
    blocks = line_blocks(part_text(part, limits), limits.max_line_bytes)
    delimiter = DELIMITERS[unit.options(CsvOptions).csv_delimiter]
    records = parse_csv(blocks, part.name, limits.max_line_bytes, delimiter)
    try:
        if unit.first_line > 1:
            next(records)  # the header
        for found in in_batches(records, _characters, batch_rows):
            yield _batch(maker, found, columns)
    except InputError as error:
        raise WorkerError(f"{error}; it could be read when the plan was made") from error


def _characters(record: Record) -> int:
    return sum(map(len, record.fields))


def _batch(maker: RowMaker, records: Sequence[Record], columns: Columns) -> pa.RecordBatch:
    places = {
        "source": columns.source,
        "target": columns.target,
        "translation": columns.translation,
        SCORE: columns.score,
        LINKS: columns.links,
    }
    wanted = {side: int(place) - 1 for side, place in places.items() if place is not None}
    texts: dict[str, list[str | None]] = {side: [] for side in wanted}
    problems: dict[int, Problem] = {}
    for row, (_, fields) in enumerate(records):
        if len(fields) != columns.field_count:
            detail = f"{len(fields)} fields, expected {columns.field_count}"
            raw = _bytes(",".join(fields))[:RAW_BYTES]
            problems[row] = Problem(Reject.FIELD_COUNT, detail, raw)
        for side, place in wanted.items():
            text = (
                None if row in problems else read_text(_bytes(fields[place]), side, multiline=True)
            )
            if isinstance(text, Problem):
                problems[row], text = text, None
            texts[side].append(text)
    lines = np.array([record.line for record in records], dtype=np.int64)
    arrays = {side: pa.array(column, pa.string()) for side, column in texts.items()}
    return maker.batch(lines, arrays, problems)


def _bytes(text: str) -> bytes:
    return text.replace(_RETURN, "\r").encode("utf-8", "surrogateescape")


def _scan(file: ScanRequest) -> Scan:
    digests, counter = Digests(), LineCounter()
    limit = file.limits.max_line_bytes
    blocks = line_blocks(counter.pass_on(digests.plain_text_of(file)), limit)
    options = CsvOptions(**file.corpus.format_options)
    records = parse_csv(blocks, file.name, limit, DELIMITERS[options.csv_delimiter])
    first = next(records, None)
    if first is None:
        return counter.scan(digests, 0)
    shown = [_bytes(field).decode(errors="backslashreplace") for field in first.fields]
    columns, header = find_fields(shown, file)
    rows = 1 - header + sum(1 for _ in records)
    scan = counter.scan(digests, rows)
    return dataclasses.replace(scan, header_lines=header, columns=columns)


def _write(rows: pa.RecordBatch) -> list[bytes]:
    text = io.StringIO()
    names = flat_names(rows.schema)
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
    return [text.getvalue().encode()]


def _header(names: Sequence[str]) -> bytes:
    return (",".join(names) + "\r\n").encode()


INPUT = InputFormat("csv", _scan, read_csv, (".csv",), columns=True)
EXPORT = RowExport(
    "csv", ("suggest", "augment", "filter"), (".csv",), (), "", _write, header=_header
)
