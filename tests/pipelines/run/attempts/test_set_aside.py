"""Shards that fail alone are found and set aside, and all others are finished."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.pipelines.run.attempts import set_aside
from pairweave.pipelines.run.attempts.set_aside import finish_others
from pairweave.transforms.errors import SetAsideError, WorkerError


class Made:
    """Shards, some of which fail: a graph makes those before the first that does."""

    def __init__(self, shards, poison, order, marks):
        self._poison, self._order, self._marks = poison, order, marks
        self.left, self.last = frozenset(range(shards)), frozenset()
        self.graphs = 0

    def missing(self):
        return self.left

    def begun(self):
        return self.last & self.left

    def make(self, shards):
        self.graphs += 1
        queue = sorted(shards & self.left, key=self._order.__getitem__)
        failing = next((place for place, shard in enumerate(queue) if shard in self._poison), None)
        if failing is None:
            self.left -= shards
            return None
        self.left -= frozenset(queue[:failing])
        self.last = self._marks(queue, failing)
        return f"shard {queue[failing]} of these"


MARKS = {
    "exact": lambda queue, failing: frozenset(queue[failing : failing + 1]),
    "with neighbours": lambda queue, failing: frozenset(queue[failing : failing + 3]),
    "all": lambda queue, failing: frozenset(queue[failing:]),  # steps that are not fused
    "none but at first": lambda queue, failing: frozenset(),  # noqa: ARG005
}


@given(
    shards=st.integers(2, 40),
    poison=st.frozensets(st.integers(0, 39), min_size=1, max_size=3),
    marks=st.sampled_from(sorted(MARKS)),
    data=st.data(),
)
def test_every_shard_that_does_not_fail_is_finished(shards, poison, marks, data):
    poison = frozenset(shard % shards for shard in poison)
    order = data.draw(st.permutations(range(shards)))
    made = Made(shards, poison, order, MARKS[marks])
    message = made.make(made.left)
    made.last = made.last or made.left
    made.graphs = 0
    if len(poison) == shards:
        with pytest.raises(WorkerError):
            finish_others(made, shards, 3, message)
        return
    with pytest.raises(SetAsideError) as raised:
        finish_others(made, shards, 3, message)
    assert made.left == poison
    for shard in poison:
        assert f"shard {shard}: " in str(raised.value)
    assert made.graphs <= len(poison) * (2 + 2 * math.ceil(math.log2(shards)) + set_aside.FEW)


def test_a_failure_that_a_lone_attempt_does_not_show_ends_well():
    made = Made(5, frozenset(), list(range(5)), MARKS["exact"])
    made.last = frozenset({2})
    finish_others(made, 5, 3, "once")
    assert not made.left


@pytest.mark.parametrize(("most", "marked"), [(0, {1}), (3, set())])
def test_without_a_suspect_or_where_none_may_be_set_aside_the_failure_is_the_end(most, marked):
    made = Made(5, frozenset({1}), list(range(5)), MARKS["exact"])
    made.last = frozenset(marked)
    with pytest.raises(WorkerError, match="as it was"):
        finish_others(made, 5, most, "as it was")
    assert made.graphs == 0


def test_a_fault_of_every_shard_is_given_up_after_a_few():
    made = Made(1000, frozenset(range(1000)), list(range(1000)), MARKS["exact"])
    message = made.make(made.left)
    with pytest.raises(WorkerError, match="4 of 1000 shards fail alone"):
        finish_others(made, 1000, 3, message)
    assert made.graphs < 12


def test_the_last_missing_shard_is_not_tried_once_more():
    made = Made(5, frozenset({4}), list(range(5)), MARKS["exact"])
    message = made.make(made.left)
    with pytest.raises(SetAsideError, match=r"1 of 5 shards .* shard 4: shard 4 of these"):
        finish_others(made, 5, 3, message)
    assert made.graphs == 1


def test_that_all_shards_fail_is_no_reason_to_set_them_aside():
    made = Made(2, poison={0, 1}, order=[0, 1], marks=MARKS["exact"])
    made.last = frozenset({0})
    with pytest.raises(WorkerError, match="2 of 2 shards fail alone"):
        finish_others(made, 2, 8, "a fault")
