"""Locks on files and directories, which end with the process that holds them, however it ends."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pairweave.transforms.errors import ConfigError


def take(place: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file or directory, until it is closed here and in all forks of this process.

    Args:
        place: Its descriptor.
        shared: Whether other processes may hold it too, if they share it.
        wait: Whether to wait for the others.

    Returns:
        Whether this process holds the lock; False if another process holds it and excludes this
        one.

    Raises:
        OSError: The file system has no locks.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(place, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
            is_ours = take(place, wait=wait)
        except OSError as error:
            raise ConfigError(
                f"{directory}: cannot be locked: {error.strerror}; {remedy}"
            ) from error
        if not is_ours:
            yield False
            return
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
