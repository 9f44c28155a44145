"""Comma-separated values (RFC 4180): quoted fields may contain commas and line ends.

A file is one unit, because a reader must start at the beginning to know which line ends are inside
a field.
"""

import collections
import contextlib
import csv
import dataclasses
import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.export.export_formats import RowExport, flat_names
from pairweave.transforms.formats.registry import FormatOptions
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
"""The character between fields, by the value of ``csv_delimiter``."""

MAX_LINE_BYTES = 256 << 20
"""The highest ``max_line_bytes``."""

LOOKED_AT = 1000
"""Number of records at the start of a file that are checked for another delimiter."""

_ADVICE = (
    "A quoted field ends with a quote before the next delimiter, and a quote inside it is doubled; "
    "a file without quoting is read with --format tsv"
)

_RETURN = "\ud800"
"""Replaces a carriage return inside a line, which the library would take for a line end. No bytes
decode to this character."""


csv.field_size_limit(MAX_LINE_BYTES)  # `_Feed` applies the run's own limit


class Record(NamedTuple):
    """One record.

    Attributes:
        line: The line where it begins, from 1.
        fields: Its fields without quotes; `_bytes` returns the bytes of one.
    """

    line: int
    fields: list[str]


class _Row(NamedTuple):
    """A record as read: its line, a text for each wanted field, and its problem."""

    line: int
    texts: list[str | None]
    problem: Problem | None


def parse_csv(
    blocks: Iterable[Lines], name: str, limit: int, delimiter: str = ","
) -> Iterator[Record]:
    """Yield the records of a file.

    A quote encloses a field only if the field begins with it; elsewhere it is an ordinary
    character. Line ends inside a field become line feeds.

    Args:
        blocks: The lines of the file.
        name: The file's name, for messages.
        limit: Largest size of a record, in bytes.
        delimiter: The character between fields.

    Raises:
        InputError: ``csv_syntax``: a quoted field does not end, or something other than a delimiter
            follows it; or a record is over the limit. The rest could be misread, so the whole file
            is refused.
    """
    feed = _Feed(name, limit)
    reader = csv.reader(feed.lines(blocks), delimiter=delimiter, strict=True)
    try:
        for fields in reader:
            yield Record(feed.first, fields)
            feed.begin(reader.line_num + 1)
    except csv.Error as error:
        advice = f"{_other_delimiter(feed.last, delimiter)}{_ADVICE}"
        raise InputError(
            "csv_syntax",
            name,
            f"the record that begins here: {error}. {advice}",
            feed.first,
        ) from error


def _other_delimiter(line: str, given: str) -> str:
    """Return the advice to set another delimiter that divides a refused line; else nothing."""
    for name, sign in DELIMITERS.items():
        if sign == given:
            continue
        with contextlib.suppress(csv.Error):  # the line may be refused with this one, too
            if len(next(csv.reader([line], delimiter=sign, strict=True))) > 1:
                return f"A {name} divides it: give --csv_delimiter {name}. "
    return ""


class _Feed:
    """Passes lines on to the library, and counts the bytes of the record that it reads."""

    def __init__(self, name: str, limit: int) -> None:
        self.first = 1
        self.last = ""
        self._name = name
        self._limit = limit
        self._size = 0

    def begin(self, line: int) -> None:
        """Begin a record."""
        self.first, self._size = line, 0

    def lines(self, blocks: Iterable[Lines]) -> Iterator[str]:
        """Yield lines as text, each with a line feed."""
        for lines in blocks:
            for index in range(len(lines)):
                long = lines.long.get(index)
                raw = lines.line(index)
                self._size += (len(raw) if long is None else long.length) + 1
                if self._size > self._limit + 1:
                    raise InputError(
                        "csv_syntax",
                        self._name,
                        f"the record that begins here has more than {self._limit} bytes, which is "
                        f"max_line_bytes. {_ADVICE}",
                        self.first,
                    )
                self.last = raw.decode("utf-8", "surrogateescape").replace("\r", _RETURN) + "\n"
                yield self.last


def read_csv(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a CSV file, in ROWS batches; ``line`` is where the record begins.

    Raises:
        WorkerError: The file is not what was planned.
    """
    part, columns = unit.parts[0], unit.columns
    assert columns is not None
    maker = RowMaker(unit)
    blocks = line_blocks(part_text(part, limits), limits.max_line_bytes)
    delimiter = DELIMITERS[unit.options(FormatOptions).csv_delimiter]
    records = parse_csv(blocks, part.name, limits.max_line_bytes, delimiter)
    places = {
        "source": columns.source,
        "target": columns.target,
        "translation": columns.translation,
        SCORE: columns.score,
        LINKS: columns.links,
    }
    wanted = {side: int(place) - 1 for side, place in places.items() if place is not None}
    assert columns.field_count is not None
    try:
        if unit.first_line > 1:
            next(records)  # the header
        rows = (_row(record, wanted, columns.field_count, delimiter) for record in records)
        for batch in in_batches(rows, _characters, batch_rows):
            yield _batch(maker, batch, list(wanted))
    except InputError as error:
        raise WorkerError(f"{error}; it could be read when the plan was made") from error


def _row(record: Record, wanted: Mapping[str, int], count: int, delimiter: str) -> _Row:
    line, fields = record
    if len(fields) != count:
        raw = _bytes(delimiter.join(fields[:RAW_BYTES]))[:RAW_BYTES]
        detail = f"{len(fields)} fields, expected {count}"
        return _Row(line, [None] * len(wanted), Problem(Reject.FIELD_COUNT, detail, raw))
    problem: Problem | None = None
    texts: list[str | None] = []
    for side, place in wanted.items():
        text = read_text(_bytes(fields[place]), side, multiline=True)
        if isinstance(text, Problem):
            problem = problem or text
            texts.append(None)
        else:
            texts.append(text)
    return _Row(line, texts, problem)


def _characters(row: _Row) -> int:
    return sum(len(text) for text in row.texts if text is not None)


def _batch(maker: RowMaker, rows: Sequence[_Row], sides: Sequence[str]) -> pa.RecordBatch:
    columns = zip(*(row.texts for row in rows), strict=True)
    texts = {
        side: pa.array(column, pa.string()) for side, column in zip(sides, columns, strict=True)
    }
    problems = {place: row.problem for place, row in enumerate(rows) if row.problem is not None}
    return maker.batch(np.array([row.line for row in rows], dtype=np.int64), texts, problems)


def _bytes(text: str) -> bytes:
    return text.replace(_RETURN, "\r").encode("utf-8", "surrogateescape")


def _scan(file: ScanRequest) -> Scan:
    digests, counter = Digests(), LineCounter()
    limit = file.limits.max_line_bytes
    blocks = line_blocks(counter.pass_on(digests.plain_text_of(file)), limit)
    delimiter = FormatOptions(**file.corpus.format_options).csv_delimiter
    records = parse_csv(blocks, file.name, limit, DELIMITERS[delimiter])
    first = next(records, None)
    if first is None:
        return counter.scan(digests, 0)
    shown = [_bytes(field).decode(errors="backslashreplace") for field in first.fields]
    columns, header = _find_fields(shown, delimiter, file)
    more = map(_divisions, itertools.islice(records, LOOKED_AT - 1))
    start = [_divisions(first), *more]
    _check_delimiter(start, delimiter, file.name)
    rows = len(start) - header + sum(1 for _ in records)
    scan = counter.scan(digests, rows)
    return dataclasses.replace(scan, header_lines=header, columns=columns)


def _find_fields(first: Sequence[str], delimiter: str, file: ScanRequest) -> tuple[Columns, int]:
    """Find the wanted fields by the first record (`find_fields`); refuse an undivided record."""
    if not first:
        raise InputError("missing_column", file.name, "the first line is blank", 1)
    if len(first) == 1:
        for name, sign in DELIMITERS.items():
            if name != delimiter and sign in first[0]:
                raise InputError(
                    "missing_column",
                    file.name,
                    f"the first line has no {delimiter}, but a {name}; give --csv_delimiter {name}",
                    1,
                )
    return find_fields(first, file)


def _divisions(record: Record) -> tuple[int, dict[str, int]]:
    """Return how many fields a record has, and how often each delimiter is inside them."""
    inside = {
        name: sum(field.count(sign) for field in record.fields) for name, sign in DELIMITERS.items()
    }
    return len(record.fields), inside


def _check_delimiter(
    records: Sequence[tuple[int, Mapping[str, int]]], delimiter: str, name: str
) -> None:
    """Refuse a file if its first records vary in length but another delimiter divides them evenly.

    Args:
        records: The first records, from `_divisions`.
        delimiter: The name of the delimiter between their fields.
        name: The file.

    Raises:
        InputError: ``csv_delimiter``: another delimiter is in nine of ten records equally often.
    """
    expected, number = records[0][0], len(records)
    others = sum(fields != expected for fields, _ in records)
    if 2 * others <= number:
        return
    for other in sorted(DELIMITERS.keys() - {delimiter}):
        usual, times = collections.Counter(inside[other] for _, inside in records).most_common(1)[0]
        if usual and 10 * times >= 9 * number:
            raise InputError(
                "csv_delimiter",
                name,
                f"the first record has {expected} fields, but {others:,} of the first {number:,} "
                f"have another number; divided at each {other}, {times:,} have {usual + 1}: give "
                f"--csv_delimiter {other}",
                1,
            )


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
