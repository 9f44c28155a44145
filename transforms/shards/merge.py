"""The rows of a shard from its parts: sorted by id, every id once."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow.flat_columns import MAX_ITEMS
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.rejects import Reason, Reject, Stage
from pairweave.transforms.shards.rejected_texts import leave_out_of_table


def merge_rows(parts: Iterable[pa.Table]) -> tuple[pa.Table, pa.Table]:
    """Make a shard from its parts, which may be in any order.

    Among rows with the same id that were not rejected before, the first by (corpus, file, line) is
    kept and the others are rejected as duplicates. If a file is given twice, the first copy counts.

    Args:
        parts: Rows (`schemas.ROWS`) of one shard.

    Returns:
        The kept rows and the rejected rows, both `schemas.ROWS`, sorted by id and place; rows
        without an id come last.
    """
    rows = pa.concat_tables([schemas.ROWS.empty_table(), *parts]).unify_dictionaries()
    order, first = _order(rows)
    rejected = rows.column("reason").is_valid().to_numpy()[order]
    keepers = ~rejected
    # Among equal ids only rows not yet rejected compete; they are adjacent once filtered.
    kept_rows = np.flatnonzero(keepers)
    repeated = np.zeros(len(order), dtype=np.bool_)
    if len(kept_rows):
        same = np.zeros(len(kept_rows), dtype=np.bool_)
        same[1:] = first[kept_rows][1:] == first[kept_rows][:-1]
        repeated[kept_rows[same]] = True
    kept = gather(rows, order[keepers & ~repeated])
    others = gather(rows, order[rejected])
    if repeated.any():
        others = join_rejected(others, _as_duplicates(rows, order[repeated], kept))
    return kept, others


def join_rejected(rejected: pa.Table, more: pa.Table) -> pa.Table:
    """Join rejected rows with further ones, in order."""
    together = pa.concat_tables([rejected, more]).unify_dictionaries()
    return gather(together, order_of(together))


def order_of(rows: pa.Table) -> np.ndarray:
    """Return the order of rows (`schemas.ROWS`, dictionaries unified) in a shard, int64 ``[row]``.

    They are sorted by id, corpus, file, line and unit; rows without an id come last.
    """
    return _order(rows)[0]


def _order(rows: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Return the order by (id, corpus, file, line), and a number for each id in that order."""
    rows = rows.select(["id", "corpus", "file", "line", "unit"]).combine_chunks()
    column = rows.column("id")
    valid = column.is_valid().to_numpy()
    high = np.full(len(column), np.iinfo(np.uint64).max, dtype=np.uint64)
    low = high.copy()
    high[valid], low[valid] = ids.halves(column.drop_null())
    lines = rows.column("line").to_numpy()
    # A file given twice has the same lines twice, perhaps with other links.
    units = rows.column("unit").to_numpy()
    order = np.lexsort(
        (units, lines, _ranks(rows, "file"), _ranks(rows, "corpus"), low, high, ~valid)
    )
    high, low, valid = high[order], low[order], valid[order]
    changes = np.ones(len(order), dtype=np.int64)
    if len(order):
        changes[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1]) | ~valid[1:]
    return order, np.cumsum(changes)


def _ranks(rows: pa.Table, name: str) -> np.ndarray:
    """Return the rank of each row's name among the column's names, in code point order."""
    column = rows.column(name).combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else pa.array([], type=column.type)
    names = column.dictionary.to_pylist()
    ranks = {name: rank for rank, name in enumerate(sorted(set(names)))}
    lookup = np.array([ranks[name] for name in names] or [0], dtype=np.int64)
    return lookup[column.indices.to_numpy()]


def _as_duplicates(rows: pa.Table, repeated: np.ndarray, kept: pa.Table) -> pa.Table:
    """Return the repeated rows, in the table's order, each with the place of the kept row."""
    chosen = np.zeros(rows.num_rows, dtype=np.bool_)
    chosen[repeated] = True
    repeats = rows.column("id").filter(pa.array(chosen))
    places = {
        row["id"]: f"of {row['corpus']} {row['file']} line {row['line']}"
        for row in kept.select(["id", "corpus", "file", "line"])
        .filter(pa.compute.is_in(kept.column("id"), repeats))
        .to_pylist()
    }
    marked, start = [], 0
    for batch in rows.to_batches():
        wanted = chosen[start : start + batch.num_rows]
        start += batch.num_rows
        if wanted.any():
            repetitions = pa.Table.from_batches([batch.filter(pa.array(wanted))])
            details = [places[pair_id] for pair_id in repetitions.column("id").to_pylist()]
            marked.append(mark_rejected(repetitions, Stage.SHUFFLE, Reject.DUPLICATE, details))
    return pa.concat_tables(marked)


def require_room(kept: pa.Table, what: str, remedy: str, most_bytes: int = MAX_ITEMS) -> None:
    """Check that the columns of the steps after the shuffle can hold the kept rows' texts.

    Args:
        kept: Kept rows (`schemas.ROWS`).
        what: The word for the rows, for the message.
        remedy: Advice if there are too many.
        most_bytes: The capacity of a column.

    Raises:
        ConfigError: A column of text is larger.
    """
    if kept.nbytes <= most_bytes:
        return
    name, size = longest_column(kept)
    if size > most_bytes:
        raise ConfigError(
            f"{what}: its {kept.num_rows} pairs hold {size} bytes in the column {name}, more than "
            f"the {most_bytes} that fit; {remedy}, or --max_tokens"
        )


def pairs_of(rows: pa.Table) -> pa.Table:
    """Return kept rows as `schemas.PAIRS`."""
    return rows.select(schemas.PAIRS.names).cast(schemas.PAIRS).combine_chunks()


def mark_rejected(
    rows: pa.Table, stage: Stage, reason: Reason, details: list[str] | None
) -> pa.Table:
    """Return rows (`schemas.ROWS`) with one stage and reason, and a detail for each.

    Their long texts are left out (`transforms.shards.rejected_texts`).
    """
    size = rows.num_rows
    columns = {
        "stage": [str(stage)] * size,
        "reason": [str(reason)] * size,
        "detail": details if details is not None else [None] * size,
    }
    for name, values in columns.items():
        field = schemas.ROWS.field(name)
        column = pa.array(values, type=pa.string()).cast(field.type)
        rows = rows.set_column(rows.schema.get_field_index(name), field, column)
    return leave_out_of_table(rows)


_WIDE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}


def gather(rows: pa.Table, order: np.ndarray, most_bytes: int = MAX_ITEMS) -> pa.Table:
    """Return rows of a table in a given order.

    Args:
        rows: The rows; their dictionaries are unified.
        order: The wanted rows, int64 ``[row]``.
        most_bytes: Maximum number of bytes in a chunk of a text column.

    Returns:
        The rows: every column in one chunk, or if its text does not fit, in as few as possible.
    """
    if len(order) < rows.num_rows:
        chosen = np.zeros(rows.num_rows, dtype=np.bool_)
        chosen[order] = True
        rows = rows.filter(pa.array(chosen))  # chunk by chunk
        order = (np.cumsum(chosen) - 1)[order]
    if rows.nbytes <= most_bytes:
        return rows.combine_chunks().take(pa.array(order))
    wide = rows.cast(_with_types(rows.schema)).combine_chunks()
    slices = [
        wide.take(pa.array(order[start:stop])).combine_chunks().cast(rows.schema)
        for start, stop in _cuts(_text_ends(wide, order), most_bytes)
    ]
    if not slices:
        return rows.schema.empty_table()
    return slices[0] if len(slices) == 1 else pa.concat_tables(slices)


def longest_column(rows: pa.Table) -> tuple[str, int]:
    """Return the text column with the most bytes, and their number."""
    sizes = {
        field.name: int(_lengths(rows.column(field.name)).sum())
        for field in rows.schema
        if field.type in _WIDE
    }
    name = max(sizes, key=lambda name: sizes[name])
    return name, sizes[name]


def _with_types(schema: pa.Schema) -> pa.Schema:
    """Return a schema whose text columns have 64-bit offsets."""
    fields = [field.with_type(_WIDE.get(field.type, field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


def _lengths(column: pa.ChunkedArray) -> np.ndarray:
    sizes = pc.binary_length(column).cast(pa.int64())
    return pc.fill_null(sizes, 0).to_numpy()


def _text_ends(wide: pa.Table, order: np.ndarray) -> list[np.ndarray]:
    """Return, for each column of text, the bytes up to each wanted row's end."""
    return [
        np.cumsum(_lengths(wide.column(field.name))[order])
        for field in wide.schema
        if field.type in _WIDE.values()
    ]


def _cuts(ends: list[np.ndarray], most_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows in which no column has more bytes, or ranges of one row."""
    start, count = 0, len(ends[0]) if ends else 0
    while start < count:
        done = [int(column[start - 1]) if start else 0 for column in ends]
        stops = [
            int(np.searchsorted(column, before + most_bytes, "right"))
            for column, before in zip(ends, done, strict=True)
        ]
        stop = max(start + 1, min(stops))
        yield start, stop
        start = stop
