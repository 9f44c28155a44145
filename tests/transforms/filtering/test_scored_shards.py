"""Scored shards in files: what is read is what was written, and nothing damaged is believed."""

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.filtering import filtered, rules, scored_shards, selection
from pairweave.transforms.filtering.evidence import HMM_COLUMNS
from pairweave.transforms.filtering.score import read_weights
from pairweave.transforms.filtering.scored_shards import Place
from pairweave.transforms.filtering.selection import Border
from pairweave.transforms.shards.merge import merge_rows, pairs_of
from pairweave.transforms.shards.shard import Shard
from tests.makers.rows import row

TEXTS = (("A red house.", "Ein rotes Haus."), ("the cat sat", "the cat sat"), ("Yes.", "Ja."))


@pytest.fixture
def shard():
    """Return a shard of three scored pairs, one of which a rule rejects, and a rejected row."""
    made = [row(*texts, line=number) for number, texts in enumerate(TEXTS, 1)]
    made.append(row(None, None, line=9, reason="invalid_utf8"))
    kept, rejected = merge_rows([pa.Table.from_pylist(made, schema=schemas.ROWS)])
    pairs = pairs_of(kept)
    judged = rules.judge(pairs, rules.RuleConfig())
    hmm = {name: np.full(3, 0.5, np.float32) for name in HMM_COLUMNS}
    return Shard(3, kept, rejected, filtered.scored(pairs, judged, hmm, read_weights()))


@pytest.fixture
def place(tmp_path):
    return Place(str(tmp_path), "plan")


def test_a_shard_and_its_ranks_are_read_as_they_were_written(shard, place):
    assert scored_shards.finished(place, 5) == frozenset()
    assert scored_shards.write(shard, place) == 3
    assert scored_shards.finished(place, 5) == frozenset({3})
    actual = scored_shards.read(place, 3)
    assert (actual.kept, actual.rejected, actual.table) == (shard.kept, shard.rejected, shard.table)
    ranked, words = scored_shards.read_ranks(place, 3)
    open_rows = shard.table.filter(shard.table.column("reason").is_null())
    assert sorted(words.tolist()) == [1, 3]
    expected = selection.ranks(open_rows.column("score").to_numpy(), open_rows.column("id"))
    np.testing.assert_array_equal(ranked, expected)


@pytest.mark.parametrize("name", ["shard-00003.arrows", "ranks-00003.npz", "receipt-00003.json"])
@pytest.mark.parametrize("damage", ["cut", "delete"])
def test_a_damaged_file_makes_the_shard_missing(shard, place, tmp_path, name, damage):
    scored_shards.write(shard, place)
    path = tmp_path / "_scored" / name
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.unlink()
    assert scored_shards.finished(place, 5) == frozenset()


def test_files_of_another_plan_are_not_used(shard, place):
    scored_shards.write(shard, place)
    scored_shards.write_border(Border(whole=True), place)
    other = Place(place.output, "other")
    assert scored_shards.finished(other, 5) == frozenset()
    assert scored_shards.read_border(other) is None


def test_a_shard_that_is_cut_short_or_missing_is_an_error(shard, place, tmp_path):
    with pytest.raises(WorkerError, match="cannot be read"):
        scored_shards.read(place, 3)
    scored_shards.write(shard, place)
    path = tmp_path / "_scored" / "shard-00003.arrows"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(WorkerError, match="is truncated"):
        scored_shards.read(place, 3)


@pytest.mark.parametrize(
    ("border", "complete"),
    [
        (Border((1, 2, 3, 4, 5, 6), 7), True),
        (Border(whole=True), True),
        (Border((1, 2), 7), False),
    ],
)
def test_a_border_is_read_if_it_is_complete(place, border, complete):
    assert scored_shards.read_border(place) is None
    scored_shards.write_border(border, place)
    assert scored_shards.read_border(place) == (border if complete else None)


def test_nothing_is_left_of_a_committed_run(shard, place, tmp_path):
    scored_shards.write(shard, place)
    scored_shards.delete(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
