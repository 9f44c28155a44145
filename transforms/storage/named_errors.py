"""Errors of files that name the file."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Give an error of writing a file its name, which the system leaves out for a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise
