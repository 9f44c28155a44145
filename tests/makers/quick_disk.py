"""Let files be written without waiting until they are on the disk.

A small job waits a quarter of its time for that, and no test cuts the power: a process that is
killed loses nothing that it has written. Benchmarks wait, and so do commands that tests start anew.
"""

import os

_VARIABLE = "PAIRWEAVE_QUICK_DISK"


def _return_at_once(_file: object) -> None:
    """Stand for `os.fsync`."""


def install() -> None:
    """Stop waiting for the disk, in this process and in those started with `environment`."""
    os.fsync = _return_at_once


def environment() -> dict[str, str]:
    """Return variables that tell a process started by this one to do the same."""
    return {_VARIABLE: "1"} if os.fsync is _return_at_once else {}


def follow() -> None:
    """Do what the process that started this one does."""
    if _VARIABLE in os.environ:
        install()
