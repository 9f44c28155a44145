"""The decorator of kernels that make no arrays.

Compiled code counts the references to each array from the start of a function to its end, by
locked additions of about twenty cycles, which takes longer than the work of most small kernels. A
function that makes no array and returns none can do without this, since its caller keeps the arrays
that it passes.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

# Numba's type hints lack the last setting.
_SETTINGS: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def uncounted(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function that counts no references to its arrays.

    Its result must not be an array or a tuple of arrays, although Numba does not refuse the latter:
    nothing would keep a view's memory. A kernel that it calls may be compiled for the first time
    from here, and then counts no references for its other callers either. So it may call only
    uncounted kernels, and kernels of numbers that make no array.
    """
    return cast("Callable[_Parameters, _Result]", numba.njit(**_SETTINGS)(function))
