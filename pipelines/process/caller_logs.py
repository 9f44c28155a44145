"""Leaves the set-up of `logging` to the program that calls a Python function."""

import contextlib
import logging
from collections.abc import Iterator


@contextlib.contextmanager
def not_set_up() -> Iterator[None]:
    """Keep a block from setting up `logging`, after which the calling program could not.

    A record that a library logs while no handler is set up would do so, and go to standard error.
    Blocks in several threads may overlap, so each has a handler of its own.
    """
    root, nowhere = logging.getLogger(), logging.NullHandler()
    root.addHandler(nowhere)
    try:
        yield
    finally:
        root.removeHandler(nowhere)
