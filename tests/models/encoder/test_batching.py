"""Batches, shrinking budgets and prefetching."""

import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.models.encoder.batching import (
    Budget,
    allowed_threads,
    cut_batches,
    prefetch,
    run_batches,
)


class FullError(Exception):
    """Stands for a device's memory running out."""


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 200), st.sampled_from([1, 4, 8]))
def test_every_sequence_is_in_one_batch_within_the_budget(lengths, budget, multiple):
    batches = cut_batches(np.array(lengths, dtype=np.int64), budget, multiple)
    members = [number for batch in batches for number in batch.members.tolist()]
    assert sorted(members) == list(range(len(lengths)))
    assert members == sorted(members, key=lambda number: (-lengths[number], number))
    for batch in batches:
        assert batch.width % multiple == 0
        assert batch.width >= max(lengths[number] for number in batch.members)
        assert len(batch.members) == 1 or len(batch.members) * batch.width <= budget


def run_with_room(rows, count, room):
    """Do a batch on a device that holds ``room`` pieces, of which a row takes ten."""
    budget = Budget(rows * 10, (FullError,))
    done, freed = [], []

    def work(members):
        if len(members) * 10 > room:
            raise FullError
        done.append(members.tolist())

    budget.run(np.arange(count), 10, work, lambda: freed.append(1))
    return budget, done, freed


@pytest.mark.parametrize(
    ("limit", "row_size", "sizes"),
    [(6, 1, [6, 4]), (6, 2, [3, 3, 3, 1]), (6, 0, [6, 4]), (1, 5, [1] * 10), (0, 1, [1] * 10)],
)
def test_a_batch_has_as_many_rows_as_the_budget_allows(limit, row_size, sizes):
    done = []
    Budget(limit, (FullError,)).run(np.arange(10), row_size, done.append, lambda: None)
    assert [len(members) for members in done] == sizes


def test_a_batch_that_does_not_fit_is_halved_and_goes_on():
    budget, done, freed = run_with_room(rows=100, count=13, room=40)
    assert [row for rows in done for row in rows] == list(range(13))
    assert max(map(len, done)) <= 4
    assert budget.halvings == len(freed) == 2
    # What was learned holds for the next batch.
    budget.run(np.arange(8), 10, lambda members: done.append(members.tolist()), lambda: None)
    assert max(map(len, done)) <= 4


def test_a_single_sequence_that_does_not_fit_is_an_error():
    with pytest.raises(FullError):
        run_with_room(rows=100, count=3, room=5)


def test_another_error_is_not_taken_for_lack_of_memory():
    with pytest.raises(ZeroDivisionError):
        Budget(100, (FullError,)).run(np.arange(4), 10, lambda _: 1 // 0, lambda: None)


def test_batches_are_worked_on_at_once_by_so_many_threads():
    batches = cut_batches(np.full(8, 10), 20)
    together = threading.Barrier(4, timeout=20)  # breaks unless four come at a time
    done = []

    def work(members):
        together.wait()
        done.append(members.tolist())

    run_batches(batches, Budget(20, (FullError,)), work, lambda: None, threads=4)
    assert sorted(done) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_two_batches_are_enough_to_work_on_at_once():
    together = threading.Barrier(2, timeout=20)
    run_batches(
        cut_batches(np.full(2, 10), 10),
        Budget(10, (FullError,)),
        lambda _: together.wait(),
        lambda: None,
        threads=2,
    )
    assert not together.broken


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_batch_ends_the_others(threads):
    begun = []

    def work(members):
        begun.append(members.tolist())
        if members[0] > 0:
            time.sleep(0.1)  # so that the others are not all done before the error is seen
        raise ZeroDivisionError

    batches = cut_batches(np.full(50, 10), 10)
    with pytest.raises(ZeroDivisionError):
        run_batches(batches, Budget(10, (FullError,)), work, lambda: None, threads)
    assert len(begun) < len(batches)


def test_batches_of_many_threads_that_do_not_fit_are_halved():
    budget = Budget(80, (FullError,))
    done = []

    def work(members):
        if len(members) > 2:
            raise FullError
        done.append(members.tolist())

    run_batches(cut_batches(np.full(64, 10), 80), budget, work, lambda: None, threads=4)
    assert sorted(row for rows in done for row in rows) == list(range(64))
    assert budget.limit == 20


def test_no_more_threads_than_cores():
    cores = len(os.sched_getaffinity(0))
    assert [allowed_threads(wanted) for wanted in (0, 1, cores, 10_000)] == [1, 1, cores, cores]


def test_prefetched_items_keep_their_order_and_are_made_ahead():
    main = threading.get_ident()
    made_by = []

    def make(item):
        made_by.append(threading.get_ident())
        return item * item

    assert list(prefetch(range(20), make)) == [item * item for item in range(20)]
    assert main not in made_by


def test_an_error_while_prefetching_is_raised_in_its_turn():
    items = prefetch([1, 2, 0, 4], lambda item: 1 / item)
    assert [next(items), next(items)] == [1.0, 0.5]
    with pytest.raises(ZeroDivisionError):
        next(items)


def test_a_caller_that_stops_early_ends_the_thread():
    before = threading.active_count()
    items = prefetch(range(1_000_000), lambda item: item)
    assert next(items) == 0
    items.close()
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before
