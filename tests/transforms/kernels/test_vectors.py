import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from pairweave.transforms.kernels import vectors
from pairweave.transforms.kernels.vectors import LANES, any_reaches, load, spread, store

rng = np.random.default_rng(3)


def numbers(*shape):
    return rng.normal(size=shape).astype(np.float32)


@numba.njit
def calculate(one, other, made):
    """Apply every operation to eight numbers at place 3 of two arrays."""
    left, right = load(one, 3), load(other, 3)
    store(made, 0, left + right)
    store(made, 8, left - right)
    store(made, 16, left * right)
    store(made, 24, left / right)
    store(made, 32, vectors.least(left, right))
    store(made, 40, vectors.greatest(left, right))
    store(made, 48, spread(one[1]) * left + right)


def test_lanes_are_what_single_numbers_are_to_the_bit():
    one, other, made = numbers(20), numbers(20), np.zeros(58, np.float32)
    calculate(one, other, made)
    left, right = one[3:11], other[3:11]
    # NumPy rounds the product before the addition: no two operations may be fused.
    expected = (
        left + right,
        left - right,
        left * right,
        left / right,
        np.minimum(left, right),
        np.maximum(left, right),
        one[1] * left + right,
    )
    assert made[:56].tolist() == np.concatenate(expected).tolist()
    assert made[56:].tolist() == [0, 0]


@numba.njit
def sum_of_four(array, at):
    return vectors.sum_lanes(vectors.load_half(array, at) + vectors.load_half(array, at + 4))


def test_four_lanes_are_added_in_pairs():
    array = numbers(12)
    one, two, three, four = array[2:6] + array[6:10]
    assert sum_of_four(array, 2) == (one + two) + (three + four)


@numba.njit
def chosen(places, limit, one, other, made):
    choice = vectors.choose_below(load(places, 0), spread(limit), load(one, 0), load(other, 0))
    store(made, 0, choice)


@pytest.mark.parametrize("limit", range(-1, 10))
def test_lanes_below_a_limit_are_of_the_first_vector(limit):
    one, other, made = numbers(8), numbers(8), np.zeros(8, np.float32)
    chosen(np.arange(8, dtype=np.float32), np.float32(limit), one, other, made)
    assert made.tolist() == np.where(np.arange(8) < limit, one, other).tolist()


@numba.njit
def reached(array, limit):
    return any_reaches(load(array, 0), spread(limit))


@pytest.mark.parametrize("lane", range(LANES))
def test_one_lane_is_enough_to_reach_a_limit(lane):
    array, limit = np.zeros(8, np.float32), np.float32(0.3)
    array[lane] = np.nextafter(limit, np.float32(0))
    assert not reached(array, limit)
    array[lane] = limit
    assert reached(array, limit)
    array[lane] = np.nan
    assert not reached(array, limit)


@numba.njit
def bits_of(value):
    return vectors.count_bits(value)


@pytest.mark.parametrize("value", [0, 1, 0x8000000000000000, 0xF0F0, 2**64 - 1])
def test_bits_are_counted(value):
    assert bits_of(np.uint64(value)) == value.bit_count()


@numba.njit
def fetch(array, at):
    vectors.prefetch(array, at)
    return array[0]


def test_a_place_outside_an_array_can_be_fetched():
    array = np.arange(3)
    assert [fetch(array, at) for at in (0, 3, 1 << 40)] == [0, 0, 0]


@pytest.mark.parametrize("array", [np.zeros(16), np.zeros(32, np.float32)[::2]])
def test_only_float32_side_by_side_is_a_vector(array):
    with pytest.raises(TypingError, match="contiguous arrays of float32"):
        reached(array, np.float32(0))
