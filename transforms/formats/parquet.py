"""Parquet: one row group per unit; only the wanted columns and the footer are read.

The bytes are fetched once, checked against the plan, and parsed from memory, so that the parsed
bytes are the planned ones.
"""

import bisect
import io
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairweave.transforms.errors import InputError
from pairweave.transforms.reading.given_scores import SCORE
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.links_of_rows import LINKS, written_links
from pairweave.transforms.reading.parquet.parquet_cells import Cells, byte_lengths
from pairweave.transforms.reading.parquet.parquet_scan import (
    ORIGIN,
    expansion_limit,
    field_paths,
    footer_metadata,
    is_list_of_links,
    scan_parquet,
)
from pairweave.transforms.reading.rows import (
    BATCH_BYTES,
    Problem,
    RowMaker,
    read_text,
    with_origin,
)
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage.byte_streams import PLAIN_CHUNK_BYTES, part_bytes, stored_chunks
from pairweave.transforms.units import Columns, Part, ReadLimits, Unit

_EXPANDED_BYTES = 256 << 20
"""Maximum size of a batch if texts shared by rows are copied into each row."""

_CONTROLS = np.zeros(256, dtype=np.bool_)
_CONTROLS[:32] = True
_CONTROLS[[0x09, 0x0A, 0x0D]] = False


class _FetchedFile(io.RawIOBase):
    """A file with some of its ranges in memory."""

    def __init__(self, part: Part, contents: list[bytes]) -> None:
        super().__init__()
        self._part = part
        self._starts = [start for start, _ in part.ranges]
        self._contents = contents
        self._size = part.ranges[-1][1]
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = base + offset
        return self._position

    def read(self, size: int = -1) -> bytes:
        stop = self._size if size < 0 else min(self._position + size, self._size)
        start, self._position = self._position, max(stop, self._position)
        place = bisect.bisect_right(self._starts, start) - 1
        if place >= 0:
            base = self._starts[place]
            if stop <= base + len(self._contents[place]):
                return self._contents[place][start - base : stop - base]
        # Arrow reads up to 100 bytes past a column that an old parquet-mr wrote (PARQUET-816).
        return b"".join(stored_chunks(self._part.path, start, stop, PLAIN_CHUNK_BYTES))


def read_parquet(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one row group, in ROWS batches of at most about `BATCH_BYTES` of text.

    Raises:
        WorkerError: The file is not what was planned.
        InputError: ``parquet_corrupt``: the pages are damaged, as they were when planned;
            ``expansion_limit``: they contain more text than ``max_expansion`` allows.
    """
    part, columns = unit.parts[0], unit.columns
    assert columns is not None
    maker = RowMaker(unit)
    paths = field_paths(columns, unit.source_lang, unit.target_lang)
    line = unit.first_line
    budget = _TextBudget(unit, limits)
    for batch in _batches(unit, _fetch(part), paths, batch_rows):
        origin = [batch.column(name) for name in ORIGIN] if columns.origin else None
        stored = {
            side: _column(batch, path)
            for side, path in paths.items()
            if origin is None or side not in ORIGIN
        }
        lengths = {side: byte_lengths(column) for side, column in stored.items()}
        budget.spend(sum(int(sizes.sum()) for sizes in lengths.values()))
        for start, stop in _cuts(list(lengths.values()), limits.max_line_bytes):
            problems: dict[int, Problem] = {}
            texts = {}
            for side, column in stored.items():
                cell = Cells(column[start:stop], lengths[side][start:stop], side, limits)
                texts[side] = _texts(cell, problems, columns)
            numbers = np.arange(line, line + stop - start, dtype=np.int64)
            rows = maker.batch(numbers, texts, problems)
            if origin is not None:
                rows = with_origin(rows, *(column[start:stop] for column in origin))
            yield rows
            line += stop - start


class _TextBudget:
    """A limit on the text in a unit's stored bytes.

    A file may contain `ReadLimits.max_expansion` bytes of text per stored byte, or
    `ReadLimits.expansion_floor_bytes` in total if that is more; a row group has its share of this.
    """

    def __init__(self, unit: Unit, limits: ReadLimits) -> None:
        self._unit = unit
        self._limits = limits
        file_bytes = unit.parts[0].ranges[-1][1]
        most = max(limits.max_expansion, limits.expansion_floor_bytes / file_bytes)
        self._most = int(most * unit.stored_bytes)
        self._spent = 0

    def spend(self, text_bytes: int) -> None:
        self._spent += text_bytes
        if self._spent > self._most:
            raise expansion_limit(
                self._unit.file,
                f"row group {self._unit.row_group}",
                self._unit.stored_bytes,
                self._spent,
                self._limits.max_expansion,
            )


def _cuts(lengths: list[np.ndarray], max_line_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows with at most `BATCH_BYTES` of text, or one row.

    Texts over the limit do not count: they are not kept.
    """
    kept = sum(np.where(sizes > max_line_bytes, 0, sizes) for sizes in lengths)
    ends = np.cumsum(kept)
    start = done = 0
    while start < len(ends):
        stop = max(start + 1, int(np.searchsorted(ends, done + BATCH_BYTES, "right")))
        yield start, stop
        start, done = stop, int(ends[stop - 1])


def _batches(
    unit: Unit, contents: list[bytes], paths: dict[str, tuple[str, ...]], batch_rows: int
) -> Iterator[pa.RecordBatch]:
    part = unit.parts[0]
    assert unit.row_group is not None
    wanted = sorted({".".join(path) for path in paths.values()})
    try:
        metadata = footer_metadata(contents[-1])
        rows = _rows_at_once(metadata, unit.row_group, batch_rows)

        def read(size: int, dictionaries: list[str]) -> Iterator[pa.RecordBatch]:
            source = pa.PythonFile(_FetchedFile(part, contents), mode="r")
            file = pq.ParquetFile(source, metadata=metadata, read_dictionary=dictionaries)
            return file.iter_batches(
                size, row_groups=[unit.row_group], columns=wanted, use_threads=False
            )

        shared = _shared_texts(metadata, unit.row_group, wanted)
        if shared:
            first = next(read(1, shared), None)
            longest = _longest_entry(first, list(paths.values()))
            if longest * rows <= _EXPANDED_BYTES:
                shared = []
        yield from read(rows, shared)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            "parquet_corrupt",
            part.name,
            f"row group {unit.row_group} is damaged ({error}); write the file again",
        ) from error


def _shared_texts(metadata: pq.FileMetaData, row_group: int, wanted: list[str]) -> list[str]:
    """Return the text columns that a row group may store as dictionaries."""
    group = metadata.row_group(row_group)
    return [
        path
        for index in range(group.num_columns)
        if (path := metadata.schema.column(index).path) in wanted
        and metadata.schema.column(index).physical_type == "BYTE_ARRAY"
        and group.column(index).has_dictionary_page
    ]


def _longest_entry(batch: pa.RecordBatch | None, paths: list[tuple[str, ...]]) -> int:
    """Return the size of the longest text in any dictionary, 0 without one."""
    columns = [_column(batch, path) for path in paths] if batch is not None else []
    entries = [
        byte_lengths(column.dictionary) for column in columns if pa.types.is_dictionary(column.type)
    ]
    return max((int(sizes.max()) for sizes in entries if len(sizes)), default=0)


def _fetch(part: Part) -> list[bytes]:
    """Return the bytes of each range, after checking that they have the planned digest."""
    data = b"".join(part_bytes(part))
    contents = []
    position = 0
    for start, stop in part.ranges:
        contents.append(data[position : position + stop - start])
        position += stop - start
    return contents


def _rows_at_once(metadata: pq.FileMetaData, row_group: int, batch_rows: int) -> int:
    group = metadata.row_group(row_group)
    mean = max(1, group.total_byte_size // max(1, group.num_rows))
    return max(1, min(batch_rows, BATCH_BYTES // mean))


def _column(batch: pa.RecordBatch, path: tuple[str, ...]) -> pa.Array:
    """Return a column as strings, or as a dictionary of strings; numbers as text."""
    column = batch.column(path[0])
    for name in path[1:]:
        column = pc.struct_field(column, name)  # null if the struct is null
    kind = column.type
    if is_list_of_links(kind):
        return pa.array([written_links(value) for value in column.to_pylist()], pa.string())
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    return column.cast(pa.large_string())


def _texts(cells: Cells, problems: dict[int, Problem], columns: Columns) -> pa.StringArray:
    side, column = cells.side, cells.texts
    if side in ("source", "target", LINKS) or (side != SCORE and columns.translation_required):
        for row in np.flatnonzero(cells.null).tolist():
            problems.setdefault(row, Problem(Reject.MISSING_FIELD, f"{side}: null"))
    for row, problem in cells.long.items():
        problems.setdefault(row, problem)
    if _is_clean(column):
        return column
    texts: list[str | None] = []
    for row, raw in enumerate(column.cast(pa.binary()).to_pylist()):
        text = None if raw is None else read_text(raw, side, multiline=True)
        if isinstance(text, Problem):
            problems.setdefault(row, text)
            text = None
        texts.append(text)
    return pa.array(texts, pa.string())


def _is_clean(column: pa.StringArray) -> bool:
    """Tell whether all texts are UTF-8 without controls."""
    if not len(column):
        return True
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    _, offset_buffer, data = column.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)[column.offset :][: len(column) + 1]
    if data is None:
        return True
    view = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    low = view[view < 32]
    return not bool(_CONTROLS[low].any())


INPUT = InputFormat(
    "parquet", scan_parquet, read_parquet, (".parquet",), compressed=False, columns=True
)
