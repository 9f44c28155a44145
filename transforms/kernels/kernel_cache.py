"""Compiled kernels in files: an index that an earlier version wrote counts as out of date.

And a message while they are compiled, which takes a minute after an installation.

Numba keeps compiled functions beside their sources, or in the user's cache if that folder is
read-only, under the same names for every version of a package. It unpickles the index of a
function, with the types of its parameters, before it compares the time of the source. After an
upgrade that renames or moves such a type, the index cannot be unpickled, and each call of the
function would fail.
"""

import functools
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import caching, event

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


class Announcer(event.Listener):
    """Logs that kernels are compiled, once in a run, when that begins to take time.

    Worker processes compile too; a file in the run's temporary directory, which all of them have in
    ``TMPDIR``, tells them that one has said so.
    """

    SECONDS = 0.5
    MARK = "compiling"

    def __init__(self) -> None:
        self._since: float | None = None
        self._said = False
        self._lock = threading.Lock()

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002
        """Notice that a function begins to be compiled."""
        self._notice()

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002
        """Notice that one has been compiled."""
        self._notice()

    def _notice(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._since = self._since or now
            if self._said or now - self._since < self.SECONDS:
                return
            self._said = True
        if _is_first(self.MARK):
            logging.getLogger("pairweave").info(
                "compiling kernels, once for this installation: a minute or two, then a run "
                "starts at once"
            )


def _is_first(mark: str) -> bool:
    """Tell whether no process of the run has left a mark before; a run has a directory."""
    directory = Path(os.environ.get("TMPDIR", ""))
    if not directory.name.startswith("pairweave-run-"):
        return True
    try:
        (directory / mark).touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


@functools.cache
def announce_compilation() -> None:
    """Let this process log that it compiles kernels; a second call changes nothing."""
    event.register("numba:compile", Announcer())
