"""A lock on a directory, which ends with the process that holds it, however that ends."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pairweave.transforms.errors import ConfigError


@contextlib.contextmanager
def claimed(directory: Path, remedy: str, *, wait: bool = False) -> Iterator[bool]:
    """Claim a directory by a lock on itself, so that no lock file is needed.

    Args:
        directory: The directory, which exists.
        remedy: What to do if the file system has no locks, for the message.
        wait: Whether to wait until no other process holds the lock.

    Yields:
        Whether this process holds it now.

    Raises:
        ConfigError: The file system has no locks.
    """
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        except OSError as error:
            raise ConfigError(
                f"{directory}: cannot be locked: {error.strerror}; {remedy}"
            ) from error
        try:
            yield True
        finally:
            # A worker that was forked meanwhile has the file too, and would keep the lock.
            fcntl.flock(place, fcntl.LOCK_UN)
    finally:
        os.close(place)


@contextlib.contextmanager
def alone_in(directory: Path, refusal: str) -> Iterator[None]:
    """Hold the lock of a directory.

    Args:
        directory: The directory, which exists.
        refusal: The message if another process holds it.

    Raises:
        ConfigError: Another process holds it, or the file system has no locks.
    """
    with claimed(directory, "give a directory on a local disk") as is_ours:
        if not is_ours:
            raise ConfigError(f"{directory}: {refusal}")
        yield
