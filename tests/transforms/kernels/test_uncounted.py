"""Uncounted kernels return no array, make none, and call only kernels that do neither."""

import importlib
import pkgutil
import sys
import types
import typing

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from pairweave.transforms import kernels
from pairweave.transforms.kernels.text import spans
from pairweave.transforms.kernels.uncounted import uncounted

SCALARS = (bool, int, float, np.generic, types.NoneType)


def is_scalar(annotation):
    """Tell whether a type, or each type that a union or a tuple is made of, is a number or None."""
    parts = [part for part in typing.get_args(annotation) if part is not ...]
    if parts:
        return all(map(is_scalar, parts))
    return isinstance(annotation, type) and issubclass(annotation, SCALARS)


def is_harmless(kernel):
    """Tell whether an uncounted kernel may call a kernel: uncounted as well, or without arrays."""
    hints = typing.get_type_hints(kernel.py_func)
    if kernel.targetoptions.get("_nrt", True):
        return all(map(is_scalar, hints.values()))
    return is_scalar(hints["return"])


def called(kernel):
    """Return the kernels that a kernel may call: those of the names that it uses."""
    names, known = kernel.py_func.__code__.co_names, kernel.py_func.__globals__
    found = [known.get(name) for name in names]
    modules = [each for each in found if isinstance(each, types.ModuleType)]
    found += [getattr(module, name, None) for module in modules for name in names]
    return [each for each in found if isinstance(each, Dispatcher)]


def uncounted_kernels():
    """Return all kernels that count no references, by module and name."""
    result = {}
    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        for name, each in vars(importlib.import_module(module.name)).items():
            if isinstance(each, Dispatcher) and not each.targetoptions.get("_nrt", True):
                result[f"{each.py_func.__module__}.{name}"] = each
    return result


def test_uncounted_kernels_return_no_array_and_call_no_kernel_that_counts():
    all_of_them = uncounted_kernels()
    assert len(all_of_them) > 150
    bad = {
        name: [each.py_func.__name__ for each in called(kernel) if not is_harmless(each)]
        for name, kernel in all_of_them.items()
    }
    assert {name: calls for name, calls in bad.items() if calls} == {}
    assert [name for name, kernel in all_of_them.items() if not is_harmless(kernel)] == []


def ones(size: int) -> np.ndarray:
    """Make an array."""
    return np.empty(size)


@numba.njit
def size_of(size: int) -> int:
    """Use an array."""
    return len(np.empty(size))


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int | np.int64, True),
        (tuple[int, ...], True),
        (None.__class__, True),
        (np.ndarray, False),
        (tuple[int, np.ndarray], False),
        (spans.FlatSpans, False),
    ],
)
def test_numbers_are_told_from_arrays(annotation, expected):
    assert is_scalar(annotation) is expected


def test_an_uncounted_kernel_cannot_make_an_array():
    with pytest.raises(numba.core.errors.NumbaError, match="nopython"):
        uncounted(ones)(3)


def test_a_kernel_that_an_uncounted_one_calls_is_looked_for_in_modules_too():
    kernel = numba.njit(lambda data: size_of(3) + spans.same_bytes(data, 0, 1, data))
    assert called(kernel) == [size_of, spans.same_bytes]
    assert is_harmless(size_of)
    assert not is_harmless(numba.njit(ones))


def test_python_gets_back_what_it_lends():
    data = np.zeros(1000, np.uint8)
    before = sys.getrefcount(data)
    for _ in range(100):
        assert spans.advance(data, 3, 4) == 7
    assert sys.getrefcount(data) == before
