"""A lock on a directory, which ends with the process that holds it, however that ends."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pairweave.transforms.errors import ConfigError


@contextlib.contextmanager
def alone_in(directory: Path, refusal: str) -> Iterator[None]:
    """Hold the lock of a directory, which needs no lock file.

    Args:
        directory: The directory, which exists.
        refusal: The message if another process holds it.

    Raises:
        ConfigError: Another process holds it, or the file system has no locks.
    """
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError(f"{directory}: {refusal}") from error
        except OSError as error:
            raise ConfigError(
                f"{directory}: cannot be locked: {error.strerror}; give a directory on a local disk"
            ) from error
        yield
    finally:
        os.close(place)
