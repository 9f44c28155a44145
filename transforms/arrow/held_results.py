"""Results computed from columns, kept until they are requested a second time."""

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import pyarrow as pa

_Result = TypeVar("_Result")


class HeldResults(threading.local, Generic[_Result]):
    """Results that two steps of a job need of the same columns, a few in each thread.

    A column is known by where its values lie in memory, so nothing is compared. What is held goes
    at the second asking, or once too many others have come.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Hashable, tuple[Sequence[pa.Array], _Result]] = {}

    def find(
        self, columns: Sequence[pa.Array], settings: Hashable, found: Callable[[], _Result]
    ) -> _Result:
        """Return the result held for columns and settings, or find it and hold it.

        Args:
            columns: All columns that the result depends on.
            settings: All else that it depends on.
            found: Finds it; nobody may write to it.
        """
        key = (*map(_place_in_memory, columns), settings)
        if key in self._held:
            return self._held.pop(key)[1]
        result = found()
        while len(self._held) >= self._most:
            del self._held[next(iter(self._held))]
        # With the columns, so that no others can come to lie in their place.
        self._held[key] = columns, result
        return result


def _place_in_memory(column: pa.Array) -> Hashable:
    if pa.types.is_dictionary(column.type):
        return _place_in_memory(column.indices), _place_in_memory(column.dictionary)
    buffers = [buffer is not None and (buffer.address, buffer.size) for buffer in column.buffers()]
    return column.type, column.offset, len(column), *buffers
