"""What a process loads once and keeps."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class LoadedOnce(dict[Hashable, Value], Generic[Value]):
    """What a process has loaded, by digest or by another key that stands for the same bytes.

    Attributes:
        lock: Held while something is loaded, so that threads do not load it twice.
    """

    def __init__(self, loaded: dict[Hashable, Value] | None = None) -> None:
        """Begin with what is loaded already."""
        super().__init__(loaded or {})
        self.lock = threading.RLock()

    def load(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return what is there under a key; make it first if there is nothing yet."""
        with self.lock:
            if key not in self:
                self[key] = make()
            return self[key]
