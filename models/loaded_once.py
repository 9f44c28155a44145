"""Objects that a process loads once and keeps."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class LoadedOnce(dict[Hashable, Value], Generic[Value]):
    """Objects that a process has loaded, by digest or another key that identifies their bytes.

    Attributes:
        lock: Held during loading, so that threads do not load an object twice.
    """

    def __init__(self, loaded: dict[Hashable, Value] | None = None) -> None:
        """Begin with the objects that are already loaded."""
        super().__init__(loaded or {})
        self.lock = threading.RLock()

    def load(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the object under a key; make it first if there is none."""
        with self.lock:
            if key not in self:
                self[key] = make()
            return self[key]
