"""The shuffle: row batches become shard tables, sorted by id, every id once."""

from collections.abc import Iterable, Iterator, Mapping

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from pairweave.transforms import arrow_coder, ids, schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.flat_lists import MOST_ITEMS
from pairweave.transforms.gather import gather, longest_column
from pairweave.transforms.rejected_texts import leave_out_of_table
from pairweave.transforms.rejects import Reject, Stage

arrow_coder.register()

Shard = tuple[int, pa.Table, pa.Table, pa.Table]
"""A shard's number; its kept rows and its rejected rows (`schemas.ROWS`, sorted by id and place);
and the table that the steps work on, one row for each kept row."""

Batches = beam.PCollection[pa.RecordBatch]
Shards = beam.PCollection[Shard]

BUFFER_BYTES = 128 << 20
"""Rows held before they are split, so that a part of a shard is not a handful of rows."""


def split_rows(
    batches: list[pa.RecordBatch], shards: int, wanted: frozenset[int] | None
) -> Iterator[tuple[int, pa.Table]]:
    """Split rows by shard.

    Args:
        batches: Rows (`schemas.ROWS`).
        shards: Number of shards.
        wanted: Shards to make; None for all.

    Yields:
        A shard's number and its rows among these, in their order.
    """
    numbers = np.concatenate([ids.shard_numbers(batch, shards) for batch in batches])
    order = np.argsort(numbers, kind="stable")
    rows = pa.Table.from_batches(batches).unify_dictionaries().take(pa.array(order))
    bounds = np.searchsorted(numbers[order], np.arange(shards + 1))
    for shard in range(shards):
        start, end = int(bounds[shard]), int(bounds[shard + 1])
        if start < end and (wanted is None or shard in wanted):
            yield shard, rows.slice(start, end - start)


class SplitRows(beam.DoFn):
    """Gathers a bundle's row batches and splits them by shard; of an empty batch, every shard."""

    def __init__(self, shards: int, wanted: frozenset[int]) -> None:
        self._shards = shards
        self._wanted = wanted
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0

    def start_bundle(self) -> None:
        """Forget what a failed bundle held."""
        self._batches, self._bytes = [], 0

    def process(self, batch: pa.RecordBatch) -> Iterator[tuple[int, pa.Table]]:
        """Hold a batch; emit when enough is held."""
        if not batch.num_rows:
            for shard in sorted(self._wanted):
                yield shard, schemas.ROWS.empty_table()
            return
        self._batches.append(batch)
        self._bytes += batch.nbytes
        if self._bytes >= BUFFER_BYTES:
            yield from self._emit()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        """Emit the rest."""
        window = GlobalWindow()
        for part in self._emit():
            yield WindowedValue(part, window.max_timestamp(), (window,))

    def _emit(self) -> Iterator[tuple[int, pa.Table]]:
        batches, self._batches, self._bytes = self._batches, [], 0
        if batches:
            yield from split_rows(batches, self._shards, self._wanted)


def merge_rows(parts: Iterable[pa.Table]) -> tuple[pa.Table, pa.Table]:
    """Make a shard from its parts, whatever their order.

    Of rows with the same id that were not rejected before, the first by (corpus, file, line)
    stays and the others are rejected as duplicates. Of a file given twice the first copy counts.

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
        others = _join(others, _as_duplicates(rows, order[repeated], kept))
    return kept, others


def _join(rejected: pa.Table, more: pa.Table) -> pa.Table:
    """Join rejected rows with further ones, in order."""
    together = pa.concat_tables([rejected, more]).unify_dictionaries()
    return gather(together, _order(together)[0])


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
    """Return the repeated rows, in the table's order, each with the place of the row that stays."""
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
            found = pa.Table.from_batches([batch.filter(pa.array(wanted))])
            details = [places[pair_id] for pair_id in found.column("id").to_pylist()]
            marked.append(mark_rejected(found, Stage.SHUFFLE, Reject.DUPLICATE, details))
    return pa.concat_tables(marked)


def make_shard(
    element: tuple[int, Iterable[pa.Table]],
) -> tuple[int, pa.Table, pa.Table, pa.Table]:
    """Turn one key of the shuffle into a shard whose working table is its pairs."""
    number, parts = element
    kept, rejected = merge_rows(parts)
    require_room(kept, f"shard {number}", "lower --shard_pairs")
    return number, kept, rejected, pairs_of(kept)


def require_room(kept: pa.Table, what: str, remedy: str, most_bytes: int = MOST_ITEMS) -> None:
    """Check that the steps after the shuffle can hold the kept rows' texts.

    Args:
        kept: Kept rows (`schemas.ROWS`).
        what: What they are, for the message.
        remedy: What to do if they are too many.
        most_bytes: What a column may hold.

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


def reject(
    kept: pa.Table,
    rejected: pa.Table,
    marks: np.ndarray,
    stage: Stage,
    reason: Reject,
    details: list[str] | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Move marked rows of a shard from the kept to the rejected.

    Args:
        kept: Kept rows (`schemas.ROWS`).
        rejected: Rejected rows (`schemas.ROWS`).
        marks: Booleans ``[kept row]``.
        stage: The step that rejects.
        reason: Its reason.
        details: A detail for each marked row.

    Returns:
        The rows still kept, and all rejected ones in order.
    """
    if not marks.any():
        return kept, rejected
    moved = mark_rejected(kept.filter(pa.array(marks)), stage, reason, details)
    return kept.filter(pa.array(~marks)), _join(rejected, moved)


def give_up(
    kept: pa.Table, rejected: pa.Table, given_up: Mapping[int, tuple[str, str]]
) -> tuple[pa.Table, pa.Table]:
    """Move rows that an aligner cannot take from the kept to the rejected.

    Args:
        kept: Kept rows (`schemas.ROWS`).
        rejected: Rejected rows.
        given_up: Reason and detail, by kept row.
    """
    if not given_up:
        return kept, rejected
    rows = np.arange(kept.num_rows)
    for reason in sorted({reason for reason, _ in given_up.values()}):
        marks = np.array([given_up.get(int(row), ("",))[0] == reason for row in rows])
        details = [given_up[int(row)][1] for row in rows[marks]]
        kept, rejected = reject(kept, rejected, marks, Stage.ALIGN, Reject(reason), details)
        rows = rows[~marks]
    return kept, rejected


def mark_rejected(
    rows: pa.Table, stage: Stage, reason: Reject, details: list[str] | None
) -> pa.Table:
    """Return rows (`schemas.ROWS`) with one stage and reason, and a detail each.

    Their long texts are left out (`transforms.rejected_texts`).
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


class MakeShards(beam.PTransform[Batches, Shards]):
    """Shuffles row batches into shards; every wanted shard comes out, an empty one too.

    One of the batches must be empty: it brings shards into being that no row falls into. (To
    flatten two collections instead costs a copy of all that is shuffled on some runners.)
    """

    def __init__(self, shards: int, wanted: frozenset[int]) -> None:
        super().__init__()
        self.shards = shards
        self.wanted = wanted

    def expand(self, batches: Batches) -> Shards:
        """Split, group and merge."""
        return (
            batches
            | "Split"
            >> beam.ParDo(SplitRows(self.shards, self.wanted)).with_output_types(
                tuple[int, pa.Table]
            )
            | "Group" >> beam.GroupByKey()
            | "Merge" >> beam.Map(make_shard)
        )
