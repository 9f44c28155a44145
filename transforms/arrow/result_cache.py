"""Results computed from columns, kept until they are requested a second time."""

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import pyarrow as pa

_Result = TypeVar("_Result")


class ResultCache(threading.local, Generic[_Result]):
    """Results that two steps of a job compute from the same columns, a few per thread.

    Columns are identified by the addresses of their values, so nothing is compared. A result is
    dropped when it is requested again, or when there are too many others.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Hashable, tuple[Sequence[pa.Array], _Result]] = {}

    def find(
        self, columns: Sequence[pa.Array], settings: Hashable, found: Callable[[], _Result]
    ) -> _Result:
        """Return the cached result for columns and settings, or compute and cache it.

        Args:
            columns: All columns that the result depends on.
            settings: All else that it depends on.
            found: Computes it; the result must not be modified.
        """
        key = (*map(_place_in_memory, columns), settings)
        if key in self._held:
            return self._held.pop(key)[1]
        result = found()
        while len(self._held) >= self._most:
            del self._held[next(iter(self._held))]
        # Keeping the columns prevents reuse of their addresses.
        self._held[key] = columns, result
        return result


def _place_in_memory(column: pa.Array) -> Hashable:
    if pa.types.is_dictionary(column.type):
        return _place_in_memory(column.indices), _place_in_memory(column.dictionary)
    buffers = [buffer is not None and (buffer.address, buffer.size) for buffer in column.buffers()]
    return column.type, column.offset, len(column), *buffers
