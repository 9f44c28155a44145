"""Adds the name of the file to errors of files."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Add a file's name to errors of writing it; the system omits the name for a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise
