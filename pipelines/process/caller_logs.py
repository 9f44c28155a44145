"""Leaves the set-up of `logging` to the program that calls a Python function."""

import contextlib
import logging
from collections.abc import Iterator


@contextlib.contextmanager
def not_set_up() -> Iterator[None]:
    """Keep a block from setting up `logging`, after which the calling program could not.

    If a library logs a record while there is no handler, `logging` makes one for standard error.
    Blocks in several threads may overlap, so each has a handler of its own.
    """
    root, nowhere = logging.getLogger(), logging.NullHandler()
    root.addHandler(nowhere)
    try:
        yield
    finally:
        root.removeHandler(nowhere)
