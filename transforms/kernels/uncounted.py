"""The decorator of kernels that make no arrays.

Compiled code counts the references to each array from the start of a function to its end, by
locked additions of about twenty cycles, which takes longer than what most small kernels do. A
function that makes no array and returns none can do without, since its caller keeps what it lends.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

# Numba's type hints lack the last.
_SETTINGS: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def uncounted(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function that counts no references to its arrays.

    Its result has no array, nor a tuple of arrays, which Numba does not refuse: nothing would keep
    a view's memory. A kernel that it calls may be compiled for the first time from here, and then
    counts none for its other callers either. So it calls only uncounted ones, and ones of numbers
    that make no array.
    """
    return cast("Callable[_Parameters, _Result]", numba.njit(**_SETTINGS)(function))
