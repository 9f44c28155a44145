"""Passes over the pairs of a run: their order, and shards that stay in memory."""

import dataclasses

import numpy as np
import pytest

from pairweave.pipelines.streaming import streamed_runs
from pairweave.pipelines.streaming.stream_options import StreamCommandOptions
from pairweave.transforms.streaming import pair_passes
from pairweave.transforms.streaming.pair_passes import PairPasses
from tests.makers import finished_runs

CONFIGURATION = {"seed": 1, "tokens": "words"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run of `align` with two shards of two pairs each, opened to be streamed."""
    output = str(tmp_path_factory.mktemp("run") / "aligned")
    finished_runs.write_run(
        output,
        finished_runs.aligned_data,
        {"pairs": 4},
        job="align",
        configuration=CONFIGURATION,
    )
    options = StreamCommandOptions(runs=(output,), epochs=1)
    finished = streamed_runs._finished(output)
    opened = streamed_runs._open(finished, options, seed=1, links=False)
    assert opened.pairs == (2, 2)
    return opened


def ids_of(passes, start, stop):
    parts = passes.parts(start, stop)
    return [name for part in parts for name in part.drawable.pairs["id"].to_pylist()]


def test_each_pass_has_its_own_order_within_a_shard(run):
    """A run of one shard has no order of shards that could hide an order kept from before."""
    one = dataclasses.replace(run, pairs=run.pairs[:1])
    passes = PairPasses(one, np.uint64(1), memory=1 << 30)
    first = [ids_of(passes, 2 * number, 2 * number + 1)[0] for number in range(12)]
    assert len(set(first)) == 2
    # The same places again, asked for after those of other passes, are the same pairs.
    assert first == [ids_of(passes, 2 * number, 2 * number + 1)[0] for number in range(12)]


@pytest.mark.parametrize(("shards_in_memory", "reads"), [(0, 2 * 3), (2, 2)], ids=["none", "both"])
def test_shards_that_fit_into_memory_are_read_once(run, monkeypatch, shards_in_memory, reads):
    monkeypatch.setattr(PairPasses, "_shard_order", lambda *_: np.arange(2))
    read, sizes = [], []
    whole, prepare = PairPasses._read, pair_passes.prepare

    def counted(self, shard):
        read.append(shard)
        return whole(self, shard)

    def measured(*arguments):
        made = prepare(*arguments)
        sizes.append(made.nbytes)
        return made

    monkeypatch.setattr(PairPasses, "_read", counted)
    monkeypatch.setattr(pair_passes, "prepare", measured)
    ids_of(PairPasses(run, np.uint64(1)), 0, 4)
    room = sum(sizes[:shards_in_memory])
    read.clear()
    passes = PairPasses(run, np.uint64(1), memory=room)
    once = ids_of(passes, 0, 12)
    assert sorted(once) == sorted(3 * sorted(set(once)))
    assert len(read) == reads
