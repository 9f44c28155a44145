"""Pairs on which an aligner fails are found, and nothing else is rejected."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.models.encoder.hosting import failing_pairs
from pairweave.models.encoder.hosting.failing_pairs import ALIGNER_FAILED, align_isolated
from pairweave.transforms.errors import ConfigError, WorkerError


def pairs(count):
    """Return a table of which the fake aligners below need no more than an id and a text."""
    rows = failing_pairs.PROBE.to_pylist() * count
    rows = [{**row, "id": f"{number:032x}"} for number, row in enumerate(rows)]
    return pa.Table.from_pylist(rows, schema=failing_pairs.PROBE.schema)


class Fake:
    """Links nothing, turns away what it is told to, and fails on what it is told to."""

    def __init__(self, failing=(), turned_away=(), error=ValueError):
        self.failing = {f"{number:032x}" for number in failing}
        self.turned_away = {f"{number:032x}" for number in turned_away}
        self.error = error
        self.calls = 0
        self.limit = None

    def __call__(self, table):
        self.calls += 1
        names = table["id"].to_pylist()
        probing = table["corpus"].to_pylist() == [""] and len(names) == 1 and names == ["0" * 32]
        bad = self.failing.intersection(names)
        if bad and not probing:
            raise self.error(f"cannot align {len(bad)} of {len(names)}\nand more lines")
        if self.limit is not None and len(names) > self.limit:
            raise self.error("too many at once")
        away = {
            row: ("turned_away", "") for row, name in enumerate(names) if name in self.turned_away
        }
        kept = pa.array([name not in self.turned_away for name in names], pa.bool_())
        return table.filter(kept), away


def test_nothing_is_done_twice_where_nothing_fails():
    fake = Fake(turned_away=[2])
    linked, rejected = align_isolated(fake, pairs(5), (ConfigError,))
    assert linked.num_rows == 4
    assert rejected == {2: ("turned_away", "")}
    assert fake.calls == 1


@given(
    count=st.integers(1, 40),
    failing=st.sets(st.integers(1, 39), max_size=failing_pairs.ALWAYS_ALLOWED),
    away=st.sets(st.integers(1, 39), max_size=5),
)
def test_exactly_the_failing_pairs_are_rejected_and_the_rest_is_aligned(count, failing, away):
    table = pairs(count)
    linked, rejected = align_isolated(Fake(failing, away), table, (ConfigError,))
    failing = {row for row in failing if row < count}
    away = {row for row in away if row < count} - failing
    assert {row for row, (why, _) in rejected.items() if why == ALIGNER_FAILED} == failing
    assert {row for row, (why, _) in rejected.items() if why == "turned_away"} == away
    assert list(rejected) == sorted(rejected)
    assert linked["id"].to_pylist() == [
        name for row, name in enumerate(table["id"].to_pylist()) if row not in rejected
    ]


def test_the_detail_is_the_errors_first_line_and_never_speaks_of_neighbours():
    _, rejected = align_isolated(Fake([3]), pairs(9), (ConfigError,))
    assert rejected == {3: (ALIGNER_FAILED, "ValueError: cannot align 1 of 1")}
    _, rejected = align_isolated(Fake([3], error=WorkerError), pairs(9), (ConfigError,))
    assert rejected == {3: (ALIGNER_FAILED, "cannot align 1 of 1")}


def test_a_long_error_is_cut():
    def align(table):
        if f"{1:032x}" in table["id"].to_pylist():
            raise ValueError("x" * 999)
        return table, {}

    _, rejected = align_isolated(align, pairs(3), ())
    assert len(rejected[1][1]) == failing_pairs.MAX_DETAIL


@pytest.mark.parametrize("count", [20, 2_000])
def test_an_aligner_that_fails_on_too_many_pairs_is_an_error(count):
    fake = Fake(range(1, count))
    with pytest.raises(
        WorkerError, match=r"pairs of .* fail, so the fault is in the aligner.* first pair 0"
    ):
        align_isolated(fake, pairs(count), (ConfigError,))
    assert fake.calls < 150


def test_one_pair_in_a_hundred_may_fail_and_no_more():
    linked, rejected = align_isolated(Fake(range(1, 21)), pairs(2_000), (ConfigError,))
    assert (linked.num_rows, len(rejected)) == (1_980, 20)
    with pytest.raises(WorkerError, match="the fault is in the aligner"):
        align_isolated(Fake(range(1, 22)), pairs(2_000), (ConfigError,))


def test_a_shard_of_which_every_pair_fails_is_rejected_if_the_aligner_is_sound():
    table = pairs(4).slice(1)
    linked, rejected = align_isolated(Fake([1, 2, 3]), table, (ConfigError,))
    assert linked.num_rows == 0
    assert list(rejected) == [0, 1, 2]


def test_an_aligner_that_fails_on_the_probe_too_is_an_error():
    def broken(table):
        if table.num_rows:
            raise RuntimeError("no kernel image")
        return table, {}

    with pytest.raises(WorkerError, match="even on a pair of single letters: RuntimeError: no ker"):
        align_isolated(broken, pairs(3), (ConfigError,))


def test_a_fault_of_the_moment_rejects_nothing():
    calls = []

    def hiccup(table):
        calls.append(table.num_rows)
        if len(calls) == 1:
            raise RuntimeError("once")
        return table, {}

    linked, rejected = align_isolated(hiccup, pairs(6), (ConfigError,))
    assert linked.num_rows == 6
    assert rejected == {}
    assert calls[-2:] == [6, 1]  # all together again, then the probe


def test_a_pair_that_fails_only_at_first_is_an_error():
    calls = []

    def hiccup(table):
        calls.append(table.num_rows)
        if len(calls) < 4 and f"{2:032x}" in table["id"].to_pylist():
            raise RuntimeError("at first")
        return table, {}

    with pytest.raises(WorkerError, match="failed once and then did not: RuntimeError: at first"):
        align_isolated(hiccup, pairs(3).slice(1), (ConfigError,))


def test_pairs_that_fail_together_alone_are_an_error():
    fake = Fake()
    fake.limit = 3
    with pytest.raises(WorkerError, match="4 pairs fail together but not alone"):
        align_isolated(fake, pairs(4), (ConfigError,))


@pytest.mark.parametrize("error", [ConfigError, MemoryError, ConnectionResetError])
def test_what_is_no_pairs_fault_is_raised_as_it_is(error):
    fake = Fake([1], error=error)
    with pytest.raises(error, match="cannot align"):
        align_isolated(fake, pairs(5), (ConfigError, OSError, MemoryError))
    assert fake.calls == 1
