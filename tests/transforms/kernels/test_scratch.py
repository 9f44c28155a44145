"""Arrays of a pair in memory that the next pair takes again."""

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from pairweave.transforms.kernels.scratch import (
    LINE,
    lent,
    make_scratch,
    take,
    take_rows,
    take_zero_rows,
    take_zeros,
)


@pytest.fixture
def counted():
    """Have Numba count its allocations."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


@numba.njit
def make_four(scratch, length):
    """Fill the block with ones, then return whether new arrays are apart, and their contents."""
    scratch.used[0] = 0
    scratch.memory[:] = 1
    line = take(scratch, np.int32, length)
    nothing = take_zeros(scratch, np.float64, length)
    rows = take_rows(scratch, np.int16, length, 3)
    no_rows = take_zero_rows(scratch, np.float32, 2, length)
    line[:], rows[:] = 7, 9
    return line.copy(), nothing.copy(), rows.copy(), no_rows.copy()


@pytest.mark.parametrize("size", [0, 64, 200, 1 << 12, 1 << 20])
@pytest.mark.parametrize("length", [0, 1, 16, 17, 200])
def test_arrays_are_apart_and_have_their_contents_in_a_block_of_any_size(size, length):
    line, nothing, rows, no_rows = make_four(make_scratch(size), length)
    assert line.tolist() == [7] * length
    assert nothing.tolist() == [0.0] * length
    assert rows.tolist() == [[9] * 3] * length
    assert no_rows.tolist() == [[0.0] * length] * 2
    assert [each.dtype for each in (line, nothing, rows, no_rows)] == [
        np.int32,
        np.float64,
        np.int16,
        np.float32,
    ]


@numba.njit
def use(scratch, lengths):
    """Return what is used of the block after each array."""
    used = np.empty(len(lengths), np.int64)
    for at in range(len(lengths)):
        take(scratch, np.uint8, lengths[at])[:] = 1
        used[at] = scratch.used[0]
    return used


def test_an_array_begins_a_line_and_one_without_room_takes_nothing_of_the_block():
    scratch = make_scratch(3 * LINE)
    used = use(scratch, np.array([1, LINE, LINE + 1, 0, 5, 1]))
    assert used.tolist() == [LINE, 2 * LINE, 2 * LINE, 2 * LINE, 3 * LINE, 3 * LINE]


@numba.njit
def work(scratch, pairs, length):
    """Work on pairs, each of which uses the block from its beginning."""
    total = 0.0
    scratch = lent(scratch)
    for pair in range(pairs):
        scratch.used[0] = 0
        total += take_zeros(scratch, np.float64, length).sum() + pair
    return total


def allocations(kernel, *arguments):
    """Call a kernel; return its result and the number of its allocations, all released."""
    kernel(*arguments)  # compiled
    before = rtsys.get_allocation_stats()
    result = kernel(*arguments)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free
    return result, after.alloc - before.alloc


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize(("length", "expected"), [(10, 0), (1000, 50)])
def test_only_arrays_without_room_are_allocated_and_all_are_released(length, expected):
    scratch = make_scratch(1 << 10)
    _, for_arguments = allocations(work, scratch, 0, length)
    total, actual = allocations(work, scratch, 50, length)
    assert total == sum(range(50))
    assert actual - for_arguments == expected


@numba.njit
def first_of_each(arrays):
    one, (other, number) = lent(arrays)
    return one[0] + other[0] * number


@pytest.mark.usefixtures("counted")
def test_arrays_of_a_nested_tuple_can_be_lent():
    one, other = np.array([1.5]), np.array([2, 3])
    total, _ = allocations(first_of_each, (one, (other, 4)))
    assert total == 9.5
