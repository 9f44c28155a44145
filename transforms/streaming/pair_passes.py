"""The endless sequence of a run's pairs: one pass over all of them after another.

A pass takes the shards in random order, and the pairs of a shard in random order. The shard of a
pair is decided by a hash of its text (`transforms.ids`), so each is a random sample of the corpus,
and only one is in memory at a time.
"""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pairweave.transforms import ids
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels import sampling
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.streaming.drawable_pairs import DrawablePairs, Drawing, prepare
from pairweave.transforms.streaming.seeds import derived, random_order


@dataclasses.dataclass(frozen=True)
class StreamedRun:
    """A finished run whose pairs are streamed.

    Attributes:
        run: The run, of ``align``, or of ``augment`` that keeps its links.
        pairs: Number of pairs in each shard.
        drawing: How its tags are drawn.
    """

    run: FinishedRun
    pairs: tuple[int, ...]
    drawing: Drawing

    @property
    def size(self) -> int:
        """Return the number of its pairs."""
        return sum(self.pairs)


class Part(NamedTuple):
    """Consecutive pairs of one pass.

    Attributes:
        number: The number of the pass, from 0.
        drawable: The pairs.
    """

    number: int
    drawable: DrawablePairs


class PairPasses:
    """The sequence of a run's pairs, which can be read from any place.

    Prepared shards stay in memory as long as there is room; the last one read always stays. Several
    threads must not use an object at the same time.
    """

    def __init__(
        self, run: StreamedRun, seed: np.uint64, *, shuffle: bool = True, memory: int = 0
    ) -> None:
        """Start with nothing read.

        Args:
            run: The run.
            seed: The seed of the order.
            shuffle: Whether the order is random; otherwise it is that of the run.
            memory: Maximum number of bytes for shards that are not in use.
        """
        self._run, self._seed, self._shuffle = run, seed, shuffle
        self._room = memory
        self._again = dataclasses.replace(run.run, checked=False)
        self._checked: set[int] = set()
        self._kept: dict[int, DrawablePairs] = {}
        self._last: tuple[int, DrawablePairs] | None = None
        self._order: tuple[int, int, np.ndarray] | None = None

    def parts(self, start: int, stop: int) -> Iterator[Part]:
        """Yield the pairs of the sequence from one place to another, in its order.

        Raises:
            WorkerError: A shard is missing or differs from the manifest.
        """
        while start < stop:
            number, within = divmod(start, self._run.size)
            shards = self._shard_order(number)
            bounds = np.cumsum([self._run.pairs[shard] for shard in shards])
            place = int(np.searchsorted(bounds, within, "right"))
            shard = int(shards[place])
            first = within - (int(bounds[place]) - self._run.pairs[shard])
            count = min(stop - start, self._run.pairs[shard] - first)
            yield Part(number, self._pairs(number, shard, first, count))
            start += count

    def _shard_order(self, number: int) -> np.ndarray:
        shards = np.arange(len(self._run.pairs), dtype=np.uint64)
        if not self._shuffle:
            return shards
        seed = derived(self._seed, sampling.STEP_STREAM_SHARDS, number)
        return random_order(shards, seed, sampling.STEP_STREAM_SHARDS)

    def _pairs(self, number: int, shard: int, first: int, count: int) -> DrawablePairs:
        drawable = self._drawable(shard)
        if not self._shuffle:
            return drawable.take(np.arange(first, first + count))
        if self._order is None or self._order[:2] != (number, shard):
            seed = derived(self._seed, sampling.STEP_STREAM_PAIRS, number)
            keys = ids.pair_keys(drawable.pairs.column("id"))
            self._order = number, shard, random_order(keys, seed, sampling.STEP_STREAM_PAIRS)
        # Taking ascending rows is faster, and the rows of a window are put in random order anyway.
        return drawable.take(np.sort(self._order[2][first : first + count]))

    def _drawable(self, shard: int) -> DrawablePairs:
        if shard in self._kept:
            return self._kept[shard]
        if self._last is None or self._last[0] != shard:
            self._last = None  # free it before another one is read
            self._last = shard, prepare(self._read(shard), self._run.drawing)
            size = self._last[1].nbytes
            if size <= self._room:
                self._room -= size
                self._kept[shard] = self._last[1]
        return self._last[1]

    def _read(self, shard: int) -> pa.Table:
        streamed = self._run
        run = self._again if shard in self._checked else streamed.run
        pairs = run.links(shard)
        self._checked.add(shard)
        if pairs.num_rows != streamed.pairs[shard]:
            raise WorkerError(
                f"{run.directory}: {run.names[shard]}: expected {streamed.pairs[shard]} pairs with "
                f"a plain row, found {pairs.num_rows}"
            )
        return pairs.combine_chunks()
