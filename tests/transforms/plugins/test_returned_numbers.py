"""The numbers that a plugin returns."""

import decimal
import re

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms.plugins.returned_numbers import returned_numbers


@pytest.mark.parametrize(
    "returned",
    [
        [1, 0.5],
        (1, np.float64(0.5)),
        np.array([1, 0.5], np.float16),
        pa.array([1, 0.5]),
        pa.chunked_array([[1.0], [0.5]]),
        [decimal.Decimal(1), decimal.Decimal("0.5")],
    ],
)
def test_numbers_of_any_kind_are_read(returned):
    actual = returned_numbers(returned, 2, "values")
    assert (actual.dtype, actual.tolist()) == (np.float32, [1.0, 0.5])


@pytest.mark.filterwarnings("error")
def test_none_is_no_number_and_what_is_too_large_is_infinite():
    assert np.isnan(returned_numbers([None, 1.0], 2, "values")).tolist() == [True, False]
    assert np.isnan(returned_numbers(pa.array([None, 1.0]), 2, "values")).tolist() == [True, False]
    assert returned_numbers([True, False], 2, "values").tolist() == [1.0, 0.0]
    assert returned_numbers([1e300, -1e300], 2, "values").tolist() == [np.inf, -np.inf]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "returned NoneType for 2 pairs"),
        (0.5, "returned one number for 2 pairs"),
        ((number for number in range(2)), "returned generator for 2 pairs"),
        ([0.5], "returned 1 values for 2 pairs"),
        (np.zeros((2, 3)), "returned 2x3 values for 2 pairs"),
        (["0.5", "1"], "returned values of the type <U3"),
        (pa.array(["0.5", "1"]), "returned str for a pair"),
        ([1j, 0], "returned values of the type complex128"),
        ([np.datetime64("2026-01-01")] * 2, "returned values of the type datetime64[D]"),
        ([10**400, 0], "returned values that are too large"),
        ([[1], [1, 2]], "returned no array of numbers: setting an array element"),
    ],
)
def test_what_is_no_number_for_each_pair_is_refused(returned, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        returned_numbers(returned, 2, "values")
