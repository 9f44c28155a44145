"""Compiled kernels in files: an index that an earlier version wrote counts as out of date.

Numba keeps compiled functions beside their sources, or in the user's cache if that folder is
read-only, under the same names for every version of a package. It unpickles the index of a
function, with the types of its parameters, before it compares the time of the source. After an
upgrade that renames or moves such a type, the index cannot be unpickled, and each call of the
function would fail.
"""

import functools
from collections.abc import Callable
from typing import Any

from numba.core import caching

_OUTDATED = (AttributeError, ImportError)
"""What unpickling raises if a type is no longer there."""


def outlive_upgrades() -> None:
    """Make Numba compile a function anew if its index names types that are no longer there.

    A second call changes nothing.
    """
    load = caching.IndexDataCacheFile._load_index
    if not hasattr(load, "__wrapped__"):
        caching.IndexDataCacheFile._load_index = _forgiving(load)  # type: ignore[method-assign]


def _forgiving(load: Callable[[Any], dict[Any, str]]) -> Callable[[Any], dict[Any, str]]:
    @functools.wraps(load)
    def load_index(file: Any) -> dict[Any, str]:  # noqa: ANN401
        try:
            return load(file)
        except _OUTDATED:
            return {}

    return load_index
