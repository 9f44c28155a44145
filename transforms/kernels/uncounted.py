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

    Its result has no array: a view would not keep its memory. Every kernel that it calls is
    uncounted as well, since Numba compiles them with the same settings.
    """
    return cast("Callable[_Parameters, _Result]", numba.njit(**_SETTINGS)(function))
