"""Parquet: one row group a unit, of which only the wanted columns and the footer are read.

The bytes are fetched once, checked against the plan, and parsed from memory, so that what is
parsed is what was planned.
"""

import bisect
import io
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transforms.errors import InputError
from transforms.read.rows import Problem, RowMaker, read_text, too_long
from transforms.read.scores import SCORE
from transforms.read.streams import PLAIN_CHUNK_BYTES, part_bytes, stored_chunks
from transforms.rejects import Reject
from transforms.units import Columns, Part, ReadLimits, Unit

MAGIC = b"PAR1"
_BATCH_BYTES = 64 << 20
_CONTROLS = np.zeros(256, dtype=np.bool_)
_CONTROLS[:32] = True
_CONTROLS[[0x09, 0x0A, 0x0D]] = False


def field_paths(columns: Columns, source_lang: str, target_lang: str) -> dict[str, tuple[str, ...]]:
    """Return where each side's text, and the score, is: a column, or a field of a column."""
    scores = {} if columns.score is None else {SCORE: (columns.score,)}
    if columns.languages_in is not None:
        return {
            "source": (columns.languages_in, source_lang),
            "target": (columns.languages_in, target_lang),
            **scores,
        }
    paths: dict[str, tuple[str, ...]] = {
        "source": (columns.source,),
        "target": (columns.target,),
        **scores,
    }
    if columns.translation is not None:
        paths["translation"] = (columns.translation,)
    return paths


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a column of this type holds text, plain or dictionary-encoded."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def footer_metadata(footer: bytes) -> pq.FileMetaData:
    """Parse a file's last bytes: the footer, its length and the closing magic.

    Raises:
        pyarrow.ArrowException: The footer is damaged.
    """
    return pq.read_metadata(io.BytesIO(MAGIC + footer))


class _FetchedFile(io.RawIOBase):
    """A file of which only some ranges were fetched, into memory."""

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
    """Yield the rows of one row group, in ROWS batches.

    Raises:
        WorkerError: The file is not what was planned.
        InputError: ``parquet_corrupt``: the pages are damaged, as they were when planned.
    """
    part, columns = unit.parts[0], unit.columns
    assert columns is not None
    maker = RowMaker(unit)
    paths = field_paths(columns, unit.source_lang, unit.target_lang)
    line = unit.first_line
    for batch in _batches(unit, _fetch(part), paths, batch_rows):
        problems: dict[int, Problem] = {}
        texts = {
            side: _texts(_column(batch, path), side, limits, problems, columns)
            for side, path in paths.items()
        }
        numbers = np.arange(line, line + batch.num_rows, dtype=np.int64)
        yield maker.batch(numbers, texts, problems)
        line += batch.num_rows


def _batches(
    unit: Unit, contents: list[bytes], paths: dict[str, tuple[str, ...]], batch_rows: int
) -> Iterator[pa.RecordBatch]:
    part = unit.parts[0]
    assert unit.row_group is not None
    try:
        metadata = footer_metadata(contents[-1])
        source = pa.PythonFile(_FetchedFile(part, contents), mode="r")
        yield from pq.ParquetFile(source, metadata=metadata).iter_batches(
            batch_size=_rows_at_once(metadata, unit.row_group, batch_rows),
            row_groups=[unit.row_group],
            columns=sorted({".".join(path) for path in paths.values()}),
            use_threads=False,
        )
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            "parquet_corrupt",
            part.name,
            f"row group {unit.row_group} is damaged ({error}); write the file again",
        ) from error


def _fetch(part: Part) -> list[bytes]:
    """Return the bytes of each range, once they all have the planned digest."""
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
    return max(1, min(batch_rows, _BATCH_BYTES // mean))


def _column(batch: pa.RecordBatch, path: tuple[str, ...]) -> pa.Array:
    column = batch.column(path[0])
    for name in path[1:]:
        column = pc.struct_field(column, name)  # null where the struct is null
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column if pa.types.is_string(column.type) else column.cast(pa.string())


def _texts(
    column: pa.StringArray,
    side: str,
    limits: ReadLimits,
    problems: dict[int, Problem],
    columns: Columns,
) -> pa.StringArray:
    if side in ("source", "target") or (side != SCORE and columns.translation_required):
        missing = column.is_null().to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(missing).tolist():
            problems.setdefault(row, Problem(Reject.MISSING_FIELD, f"{side}: null"))
    if _is_clean(column, limits.max_line_bytes):
        return column
    texts: list[str | None] = []
    for row, raw in enumerate(column.cast(pa.binary()).to_pylist()):
        if raw is None:
            texts.append(None)
            continue
        found: str | Problem
        if len(raw) > limits.max_line_bytes:
            found = too_long(side, len(raw), limits.max_line_bytes, raw)
        else:
            found = read_text(raw, side, multiline=True)
        if isinstance(found, Problem):
            problems.setdefault(row, found)
            texts.append(None)
        else:
            texts.append(found)
    return pa.array(texts, pa.string())


def _is_clean(column: pa.StringArray, max_line_bytes: int) -> bool:
    """Tell whether all texts are UTF-8 without controls and within the limit."""
    if not len(column):
        return True
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    _, offset_buffer, data = column.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)[column.offset :][: len(column) + 1]
    if int(np.diff(offsets).max()) > max_line_bytes:
        return False
    if data is None:
        return True
    view = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    low = view[view < 32]
    return not bool(_CONTROLS[low].any())
