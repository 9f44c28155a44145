"""A file through which the worker processes of one machine pass tables to each other.

Data that one worker sends to another passes through the process that started both, over two
connections. Workers that have joined an exchange write large streams to a file instead, and send
their place in it. The file has no name, so nothing of it remains, however the processes end.
"""

import contextlib
import fcntl
import os
import struct
import tempfile
import threading
from collections.abc import Iterator
from typing import IO

from pairweave.transforms.errors import FULL, FullError, MachineError

MARK = b"in file\0"
"""First bytes of a place; an Arrow stream begins with four bytes of ones."""

MIN_BYTES = 64 << 10
"""Smaller streams are sent directly."""

_PLACE = struct.Struct("<8sQQ")


class Exchange:
    """A file that several processes have open: each process appends to it, and all read it.

    Attributes:
        file: Its descriptor in this process.
    """

    def __init__(self, file: int) -> None:
        """Take part as one of the processes."""
        self.file = file
        self._lock = threading.Lock()

    def leave(self, stream: memoryview) -> bytes:
        """Write a stream to the file and return its place.

        Raises:
            MachineError: There is no room for the stream.
        """
        left = stream.cast("B")
        size = len(left)
        try:
            start = place = self._reserve(size)
            while left:
                written = os.pwrite(self.file, left, place)
                place += written
                left = left[written:]
        except OSError as error:
            raise unwritable(error, size) from error
        return _PLACE.pack(MARK, start, size)

    def _reserve(self, size: int) -> int:
        """Extend the file by this much and return where it ended before."""
        with self._lock:  # the file's lock belongs to the process, not to the thread
            fcntl.lockf(self.file, fcntl.LOCK_EX)
            try:
                start = os.fstat(self.file).st_size
                os.ftruncate(self.file, start + size)
            finally:
                fcntl.lockf(self.file, fcntl.LOCK_UN)
        return start

    def fetch(self, place: bytes) -> bytes:
        """Return the stream at a place.

        Raises:
            EOFError: The file ends before the stream does.
        """
        _, start, size = _PLACE.unpack(place)
        parts = []
        while size:
            part = os.pread(self.file, size, start)
            if not part:
                raise EOFError(f"{size} bytes are missing in the file that workers share")
            parts.append(part)
            start += len(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def unwritable(error: OSError, size: int) -> MachineError:
    """Return the error for temporary files that have no space for more bytes of a shuffle."""
    kind = FullError if error.errno in FULL else MachineError
    return kind(
        f"{tempfile.gettempdir()}: cannot hold {size:,} more bytes of the shuffle: "
        f"{error.strerror}; free some space there, or set TMPDIR to another directory"
    )


_joined: Exchange | None = None


def join(exchange: Exchange | None) -> None:
    """Make this process write and read streams in a file from now on; None ends this."""
    global _joined
    _joined = exchange


_opening = threading.Lock()
_opened: IO[bytes] | None = None
_users = 0


@contextlib.contextmanager
def opened() -> Iterator[int]:
    """Make this process, and those that get the file from it, use the file for streams in a block.

    Runs of one process that overlap use one file, which lasts as long as any of them.

    Yields:
        The file's descriptor.
    """
    global _opened, _users
    with _opening:
        if _opened is None:
            _opened = tempfile.TemporaryFile()  # noqa: SIM115 - closed by its last user
            join(Exchange(_opened.fileno()))
        file = _opened
        _users += 1
    try:
        yield file.fileno()
    finally:
        with _opening:
            _users -= 1
            if not _users:
                join(None)
                _opened = None
                file.close()


def leave(stream: memoryview) -> bytes | None:
    """Write a large stream to the file and return its place; return None for one to be sent."""
    return None if _joined is None else _joined.leave(stream)


def fetch(place: bytes) -> bytes:
    """Return the stream at a place, which begins with `MARK`.

    Raises:
        RuntimeError: This process shares no file with the one that left it.
        EOFError: See `Exchange.fetch`.
    """
    if _joined is None:
        raise RuntimeError("a table lies in a file that other processes share")
    return _joined.fetch(place)
