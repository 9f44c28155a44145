"""The shuffle of many shards: through groups of shards, with the same rows in each."""

import functools

import apache_beam as beam
import pyarrow as pa
import pytest

from pairweave.pipelines.steps import steps
from pairweave.transforms import schemas
from pairweave.transforms.shards import shuffle
from pairweave.transforms.units import Columns, Part, Unit
from tests.makers.rows import batch, row

EMPTY = pa.RecordBatch.from_pylist([], schema=schemas.ROWS)
SHARDS = 11


def batches():
    rows = [row(f"s{n}", "t", line=n, reason="too_long" if n % 5 == 0 else None) for n in range(40)]
    return [EMPTY, batch(*rows[:7]), batch(*rows[7:30], *rows[3:5]), batch(*rows[30:])]


def shards_of(wanted, tmp_path):
    """Return the rows of the shards that the graph makes, by number."""
    path = tmp_path / "shards"

    def write(shard):
        with path.open("a") as file:
            texts = [each.column("source").to_pylist() for each in (shard.kept, shard.rejected)]
            file.write(f"{shard.number} {texts}\n")

    with beam.Pipeline() as pipeline:
        rows = pipeline | beam.Create([0]) | beam.FlatMap(lambda _: batches())
        _ = rows | shuffle.MakeShards(SHARDS, wanted) | beam.Map(write)
    return sorted(path.read_text().splitlines())


@pytest.mark.parametrize("wanted", [frozenset(range(SHARDS)), frozenset({0, 4, 10})])
def test_groups_of_shards_give_the_shards_of_one_shuffle(wanted, tmp_path, monkeypatch):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = shards_of(wanted, tmp_path / "one")
    monkeypatch.setattr(shuffle, "DIRECT_SHARDS", 1)
    monkeypatch.setattr(shuffle, "GROUP_SHARDS", 3)
    monkeypatch.setattr(shuffle, "BUFFER_BYTES", 2_000)
    assert shards_of(wanted, tmp_path / "two") == one
    assert len(one) == len(wanted)


def test_a_group_is_split_as_all_rows_would_be():
    rows = batches()[1:]
    direct = {}
    for shard, part in shuffle.split_rows(rows, SHARDS, None):
        direct.setdefault(shard, []).extend(part.column("line").to_pylist())
    actual = {}
    numbers = functools.partial(
        shuffle._group_numbers, numbers_of=shuffle.ids.shard_numbers, shards=SHARDS, group=4
    )
    for group, part in shuffle.split_rows(rows, 3, None, numbers):
        for shard, own in shuffle.split_group((group, [part]), SHARDS, {*range(SHARDS)}, group=4):
            actual.setdefault(shard, []).extend(own.column("line").to_pylist())
    assert {shard: sorted(lines) for shard, lines in actual.items() if lines} == {
        shard: sorted(lines) for shard, lines in direct.items()
    }


def units(count):
    part = Part("a", "/a", "none", ((0, 9), (12, 15)), "0" * 32)
    other = Part("b", "/b", "gzip", ((0, 9),), "1" * 32, "target")
    columns = Columns("1", "2", field_count=3)
    return tuple(
        Unit(n, "c", "en", "de", "moses", (part, other), 1 + n, 1, columns, earlier=(("c", None),))
        for n in range(count)
    )


def test_a_large_plan_reaches_the_workers_whole(monkeypatch, tmp_path):
    monkeypatch.setattr(steps, "MANY_UNITS", 3)
    monkeypatch.setattr(steps, "UNITS_AT_ONCE", 2)
    path = tmp_path / "units"

    def write(unit):
        with path.open("a") as file:
            file.write(f"{unit}\n")

    with beam.Pipeline() as pipeline:
        _ = pipeline | steps.DistributeUnits(units(5)) | beam.Map(write)
    expected = sorted(map(str, [None, *units(5)]))
    assert sorted(path.read_text().splitlines()) == expected
