"""The selection and order of exported rows.

A number is drawn for every row from the seed, the pair's id and the row's place within its pair. A
sample consists of the rows with the smallest numbers, so a larger sample contains a smaller one. A
shuffled export is sorted by number, so a smaller sample is the beginning of a larger one.
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
from pairweave.transforms.storage import named_errors

Rows: TypeAlias = pa.RecordBatch

METHODS = ("random", "alignment", "parallel")
"""Methods of ``suggest`` rows; the index of a method enters its rows' draws."""

KINDS = {"augment": ("plain", "tagged"), "suggest": ("replace", "insert", "delete")}
"""Values of ``--kinds``, by job."""

_KIND_COLUMNS = {"augment": "kind", "suggest": "operation"}

PILE_BYTES = 256 << 20
"""Approximate amount of a shuffled export in memory at once."""

MAX_PILES = 256
BATCH_ROWS = 8_192

_DRAW = "__draw"


@dataclasses.dataclass(frozen=True)
class Selection:
    """The rows to export, and their order.

    Attributes:
        methods: For ``suggest``: the methods of the rows; empty for all.
        kinds: The kinds of the rows (`KINDS`); empty for all.
        sample: Number of rows, drawn by hash; None for all.
        shuffle: Whether rows are in the order of their draws instead of the run's.
        seed: Seed of the draws.
    """

    methods: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sample: int | None = None
    shuffle: bool = False
    seed: int = 1

    def check(self, job: str) -> None:
        """Refuse methods and kinds that a job's rows do not have.

        Raises:
            ConfigError: The job has no such methods or kinds.
        """
        if self.methods and job != "suggest":
            raise ConfigError(f"--methods: rows of {job} have no method; leave it out")
        if self.kinds and job not in KINDS:
            raise ConfigError(f"--kinds: rows of {job} have no kinds; leave it out")
        for name, given, known in (
            ("methods", self.methods, METHODS),
            ("kinds", self.kinds, KINDS.get(job, ())),
        ):
            odd = [word for word in given if word not in known]
            if odd:
                raise ConfigError(f"--{name} {odd[0]}: a run of {job} has {', '.join(known)}")


def wanted_rows(batch: Rows, job: str, selection: Selection) -> Rows:
    """Return the rows of the selected methods and kinds; for ``filter``, the rows to keep.

    A run of ``filter --annotate_only`` also has the rows that it would reject.
    """
    if job == "filter" and "keep" in batch.schema.names:
        batch = batch.filter(batch.column("keep"))
    for column, names in (("method", selection.methods), (_KIND_COLUMNS.get(job), selection.kinds)):
        if names:
            batch = batch.filter(pc.is_in(batch.column(column), pa.array(names)))
    return batch


def draws_of(batch: Rows, seed: int) -> np.ndarray:
    """Return the number drawn for each row, uint64 ``[row]``."""
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
    """Yield a sample of a run's rows, shuffled if requested.

    A sample takes 16 bytes of memory per row and reads the run twice. A shuffled export is first
    partitioned by draw into uncompressed piles in the temporary directory; each pile, of about
    `PILE_BYTES`, is then sorted in memory.

    Args:
        read: Reads the rows of the selected methods and kinds, in the run's order; may be called
            twice.
        selection: The sample and the order.
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
    """Return the largest draw of a sample; None if the sample contains all rows."""
    smallest: list[np.ndarray] = []
    size, cut = 0, False
    for drawn in draws:
        smallest.append(drawn)
        size += len(drawn)
        if size >= 2 * count:
            smallest = [np.partition(np.concatenate(smallest), count - 1)[:count]]
            size, cut = count, True
    if size <= count and not cut:
        return None
    return np.partition(np.concatenate(smallest), count - 1)[count - 1]


def _shuffled(batches: Iterable[Rows], seed: int, stored_bytes: int) -> Iterator[Rows]:
    """Yield rows in the order of their draws: partitioned by draw into piles, each sorted."""
    # Text of a corpus takes about six times as much space in memory as in Parquet.
    piles = min(MAX_PILES, 1 + 6 * stored_bytes // PILE_BYTES)
    with contextlib.ExitStack() as stack:
        # These files have no names, so nothing remains of them however the process ends.
        opened = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(piles)]
        with named_errors.naming(tempfile.gettempdir()):
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
    """Write rows with their draws to their piles; return the schema of the rows."""
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
