"""One process at a time compiles a function; the others wait and load the result.

Workers of a first run need the same kernels at the same moment. Numba's cache has no lock: each of
them would compile every kernel, and of two signatures that are saved at once, one may be lost.
"""

import contextlib
import errno
import fcntl
import functools
import os
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

LOCKS = "pairweave-kernels.lock"
"""File in each directory with compiled functions; each byte of it represents a function."""

PATIENCE_SECONDS = 300.0
"""Seconds to wait for another process, which may have been suspended, before compiling too."""

_WAIT_SECONDS = 0.05
_BUSY = (errno.EACCES, errno.EAGAIN)
_held: set[tuple[str, int]] = set()


def compile_once() -> None:
    """Make Numba lock each cached function that it compiles or loads; a second call has no effect.

    Without a directory that can be written to, or a file system with locks, nothing is locked.
    """
    if not hasattr(Dispatcher.compile, "__wrapped__"):
        Dispatcher.compile = _locking(Dispatcher.compile)  # type: ignore[assignment, method-assign]


def _locking(compile_function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    @functools.wraps(compile_function)
    def compile_locked(dispatcher: Any, signature: Any) -> Any:  # noqa: ANN401
        directory = dispatcher._cache.cache_path
        if directory is None:
            return compile_function(dispatcher, signature)
        function = dispatcher.py_func
        # Numba's own lock comes first: otherwise two threads could wait for each other.
        with global_compiler_lock, locked(directory, f"{function.__module__}.{function.__name__}"):
            return compile_function(dispatcher, signature)

    return compile_locked


@contextlib.contextmanager
def locked(directory: str, function: str) -> Iterator[None]:
    """Lock a function for this process, or continue without a lock after `PATIENCE_SECONDS`.

    Locks are taken from callers to the functions that they call, so processes cannot wait for each
    other.

    Args:
        directory: Where its compiled code is.
        function: Its name.
    """
    place = zlib.crc32(function.encode())
    file = None if (directory, place) in _held else _lock_file(directory)
    if file is None or not _acquire(file, place):
        yield
        return
    _held.add((directory, place))
    try:
        yield
    finally:
        _held.remove((directory, place))
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


@functools.cache
def _lock_file(directory: str) -> int | None:
    """Open the file of a directory; it stays open, because closing it would release all locks."""
    try:
        return os.open(Path(directory) / LOCKS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return None


def _acquire(file: int, place: int) -> bool:
    """Tell whether the byte is locked for this process."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError as error:
            if error.errno not in _BUSY or time.monotonic() > deadline:
                return False
            time.sleep(_WAIT_SECONDS)
        else:
            return True
