"""Which rows of a finished run are exported, and in which order.

Every row has one number, drawn from the seed, the pair's id and the row's place among the rows of
its pair, and from nothing else. A sample is the rows of the smallest numbers, so a larger sample
contains a smaller one; a shuffled export is in the order of the numbers, so a smaller sample is the
beginning of a larger one.
"""

import contextlib
import dataclasses
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.ids import pair_keys
from pairweave.transforms.kernels import sampling

Rows: TypeAlias = pa.RecordBatch

METHODS = ("random", "alignment", "parallel")
"""Of the rows of ``suggest``; the place of a method is a part of its rows' numbers."""

KINDS = {"augment": ("plain", "tagged"), "suggest": ("replace", "insert", "delete")}
"""What ``--kinds`` may name, by job."""

_KIND_COLUMNS = {"augment": "kind", "suggest": "operation"}

PILE_BYTES = 256 << 20
"""About how much of a shuffled export is in memory at once."""

MOST_PILES = 256
BATCH_ROWS = 8_192

_DRAW = "__draw"


@dataclasses.dataclass(frozen=True)
class Selection:
    """Which rows are wanted.

    Attributes:
        methods: Of ``suggest``: the methods of the rows; empty for all.
        kinds: The kinds of the rows (`KINDS`); empty for all.
        sample: How many rows, drawn by hash; None for all.
        shuffle: Whether they come in the order of their draws instead of the run's.
        seed: Another seed draws otherwise.
    """

    methods: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sample: int | None = None
    shuffle: bool = False
    seed: int = 1

    def check(self, job: str) -> None:
        """Refuse what says nothing of a job's rows.

        Raises:
            ConfigError: Says what there is.
        """
        if self.methods and job != "suggest":
            raise ConfigError(f"--methods: rows of {job} have no method; leave it out")
        if self.kinds and job not in KINDS:
            raise ConfigError(f"--kinds: rows of {job} are all alike; leave it out")
        for name, given, known in (
            ("methods", self.methods, METHODS),
            ("kinds", self.kinds, KINDS.get(job, ())),
        ):
            odd = [word for word in given if word not in known]
            if odd:
                raise ConfigError(f"--{name} {odd[0]}: a run of {job} has {', '.join(known)}")


def wanted_rows(batch: Rows, job: str, selection: Selection) -> Rows:
    """Return the rows of the methods and kinds that are wanted."""
    for column, names in (("method", selection.methods), (_KIND_COLUMNS.get(job), selection.kinds)):
        if names:
            batch = batch.filter(pc.is_in(batch.column(column), pa.array(names)))
    return batch


def draws_of(batch: Rows, seed: int) -> np.ndarray:
    """Return the number that is drawn for each row, uint64 ``[row]``."""
    places = np.zeros(batch.num_rows, np.uint64)
    if "variant" in batch.schema.names:
        places = batch.column("variant").to_numpy().astype(np.uint64)
    if "method" in batch.schema.names:
        method = pc.index_in(batch.column("method"), pa.array(METHODS))
        places = places + (method.to_numpy().astype(np.uint64) << np.uint64(32))
    return sampling.row_draws(
        np.uint64(seed), pair_keys(batch.column("id")), sampling.STEP_EXPORT, places
    )


def select(
    read: Callable[[], Iterable[Rows]], selection: Selection, stored_bytes: int
) -> Iterator[Rows]:
    """Yield the sample of a run's rows, shuffled if that is wanted.

    A sample takes 16 bytes of memory for each of its rows, and a second reading of the run. A
    shuffled export is dealt to piles in the temporary directory first, in uncompressed form; each
    is sorted in memory, about `PILE_BYTES` at a time.

    Args:
        read: Reads the rows that are wanted, in the run's order; may be called twice.
        selection: What else is wanted of them.
        stored_bytes: The size of all rows in Parquet.
    """
    batches = iter(read())
    if selection.sample is not None:
        last = _last_draw((draws_of(batch, selection.seed) for batch in batches), selection.sample)
        batches = _drawn(read(), selection.seed, last)
    return _shuffled(batches, selection.seed, stored_bytes) if selection.shuffle else batches


def _drawn(batches: Iterable[Rows], seed: int, last: np.uint64 | None) -> Iterator[Rows]:
    for batch in batches:
        yield batch if last is None else batch.filter(pa.array(draws_of(batch, seed) <= last))


def _last_draw(draws: Iterable[np.ndarray], count: int) -> np.uint64 | None:
    """Return the greatest draw of a sample; None if all rows together are not more."""
    held: list[np.ndarray] = []
    size, more = 0, False
    for found in draws:
        held.append(found)
        size += len(found)
        if size >= 2 * count:
            held, size, more = [np.partition(np.concatenate(held), count - 1)[:count]], count, True
    if size <= count and not more:
        return None
    return np.partition(np.concatenate(held), count - 1)[count - 1]


def _shuffled(batches: Iterable[Rows], seed: int, stored_bytes: int) -> Iterator[Rows]:
    """Yield rows in the order of their draws: dealt to piles by the draw, each pile sorted."""
    # Text of a corpus takes some six times as much in memory as in Parquet.
    piles = min(MOST_PILES, 1 + 6 * stored_bytes // PILE_BYTES)
    with contextlib.ExitStack() as stack:
        # Files without a name: nothing of them is left, however the process ends.
        opened = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(piles)]
        schema = _deal(batches, seed, opened)
        for file in opened:
            if schema is None:
                return
            file.seek(0)
            with pa.ipc.open_stream(file) as reader:
                pile = reader.read_all()
            order = np.argsort(pile.column(_DRAW).to_numpy(), kind="stable")
            pile = pile.drop_columns([_DRAW])
            for start in range(0, len(order), BATCH_ROWS):
                rows = pile.take(pa.array(order[start : start + BATCH_ROWS])).combine_chunks()
                yield from rows.to_batches()


def _deal(batches: Iterable[Rows], seed: int, piles: Sequence[IO[bytes]]) -> pa.Schema | None:
    """Write rows with their draws to the piles that these belong to; return their schema."""
    writers: list[pa.ipc.RecordBatchStreamWriter] = []
    schema = None
    for batch in batches:
        draws = draws_of(batch, seed)
        drawn = batch.append_column(_DRAW, pa.array(draws))
        if schema is None:
            schema = drawn.schema
            writers = [pa.ipc.new_stream(file, schema) for file in piles]
        # The high half of a draw times the number of piles, as in `kernels.sampling.below`.
        pile = ((draws >> np.uint64(32)) * np.uint64(len(piles))) >> np.uint64(32)
        for number, writer in enumerate(writers):
            rows = np.flatnonzero(pile == number)
            if len(rows):
                writer.write_batch(drawn.take(pa.array(rows)))
    for writer in writers:
        writer.close()
    return schema
