"""Claims on directories: a lock that ends with the process that has it, however that ends."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pairweave.transforms.errors import ConfigError


@contextlib.contextmanager
def claimed(directory: Path, *, wait: bool = False) -> Iterator[bool]:
    """Claim a directory, which is made if it is missing.

    Args:
        directory: The directory.
        wait: Whether to wait until no other process has it.

    Yields:
        Whether this process has it now.

    Raises:
        ConfigError: The file system has no locks.
    """
    directory.mkdir(parents=True, exist_ok=True)
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        except OSError as error:
            raise ConfigError(
                f"{directory}: cannot be locked: {error.strerror}; give --output on a file system "
                "with locks"
            ) from error
        try:
            yield True
        finally:
            # A worker that was forked meanwhile has the file too, and would keep the lock.
            fcntl.flock(place, fcntl.LOCK_UN)
    finally:
        os.close(place)
