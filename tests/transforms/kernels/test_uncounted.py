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

MAKERS = {"arange", "array", "astype", "copy", "empty", "empty_like", "full", "full_like"}
MAKERS |= {"concatenate", "ones", "ones_like", "repeat", "zeros", "zeros_like"}


def is_scalar(annotation):
    """Tell whether a type, or each type that a union or a tuple is made of, is a number or None."""
    parts = [part for part in typing.get_args(annotation) if part is not ...]
    if parts:
        return all(map(is_scalar, parts))
    return isinstance(annotation, type) and issubclass(annotation, SCALARS)


def codes(code):
    """Yield the code of a function and of those inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from codes(each)


def names_in(kernel):
    """Return the names of globals and attributes that a kernel uses."""
    return {name for code in codes(kernel.py_func.__code__) for name in code.co_names}


def called(kernel):
    """Return the kernels that a kernel may call: those of the names that it uses."""
    names = names_in(kernel)
    function = kernel.py_func
    waiting = [function.__globals__.get(name) for name in sorted(names)]
    waiting += [cell.cell_contents for cell in function.__closure__ or ()]
    found = []
    while waiting:
        each = waiting.pop()
        if isinstance(each, Dispatcher) and each not in found:
            found.append(each)
        elif isinstance(each, types.ModuleType) and each is not np:
            waiting += [getattr(each, name, None) for name in names]
    return found


def faults(kernel, *, seen=()):
    """Yield what an uncounted kernel must not do, and the kernels that it calls."""
    hints = typing.get_type_hints(kernel.py_func)
    name = kernel.py_func.__name__
    if not is_scalar(hints.pop("return")):
        yield f"{name} returns an array"
    if kernel.targetoptions.get("_nrt", True):
        if not all(map(is_scalar, hints.values())):
            yield f"{name} takes an array and counts references"
        if made := sorted(names_in(kernel) & MAKERS):
            yield f"{name} makes an array: {made}"
    for each in called(kernel):
        if each not in seen:
            yield from faults(each, seen=(*seen, kernel, each))


def uncounted_kernels():
    """Return all kernels that count no references, by module and name."""
    result = {}
    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        for name, each in vars(importlib.import_module(module.name)).items():
            if isinstance(each, Dispatcher) and not each.targetoptions.get("_nrt", True):
                result[f"{each.py_func.__module__}.{name}"] = each
    return result


def test_uncounted_kernels_return_no_array_and_call_none_that_counts():
    found = {name: sorted(set(faults(kernel))) for name, kernel in uncounted_kernels().items()}
    assert len(found) > 190
    assert {name: each for name, each in found.items() if each} == {}


WORDS = np.arange(3)


def tail(values: np.ndarray) -> tuple[int, np.ndarray]:
    """Return a view."""
    return len(values), values[1:]


def room(size: int) -> np.ndarray:
    """Make an array."""
    return np.empty(size)


TAIL, ROOM = numba.njit(tail), numba.njit(room)


@numba.njit
def size_of(size: int) -> int:
    """Use an array."""
    return len(np.empty(size))


@numba.njit
def length_of_tail(size: int) -> int:
    """Use a view of a global array."""
    return size + TAIL(WORDS)[0]


@numba.njit
def twice(size: int) -> int:
    """Use a number."""
    return 2 * size


def calls(callee):
    """Return an uncounted kernel that calls another, which it has from outside."""

    def kernel(size: int) -> int:
        return callee(size)

    return numba.njit(_nrt=False)(kernel)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (calls(twice), []),
        (calls(spans.advance), []),
        (calls(calls(twice)), []),
        (calls(size_of), ["size_of makes an array: ['empty']"]),
        (calls(calls(size_of)), ["size_of makes an array: ['empty']"]),
        (
            calls(length_of_tail),
            ["tail returns an array", "tail takes an array and counts references"],
        ),
        (
            calls(ROOM),
            ["room makes an array: ['empty']", "room returns an array"],
        ),
        (numba.njit(_nrt=False)(tail), ["tail returns an array"]),
    ],
)
def test_faults_of_uncounted_kernels_are_found_wherever_the_fault_is(kernel, expected):
    assert sorted(set(faults(kernel))) == expected


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
        uncounted(room)(3)


def test_kernels_are_looked_for_in_modules_and_in_functions_inside():
    kernel = numba.njit(lambda data: size_of(3) + spans.same_bytes(data, 0, 1, data))
    assert set(called(kernel)) == {size_of, spans.same_bytes}
    kernel = numba.njit(lambda data: (lambda: size_of(len(data)))())
    assert called(kernel) == [size_of]


def test_python_gets_back_what_it_lends():
    data = np.zeros(1000, np.uint8)
    before = sys.getrefcount(data)
    for _ in range(100):
        assert spans.advance(data, 3, 4) == 7
    assert sys.getrefcount(data) == before
