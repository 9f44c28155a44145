"""Let files be written without waiting until they are on the disk.

A small job waits a quarter of its time for that, and no test cuts the power: a process that is
killed loses nothing that it has written. Benchmarks wait, and so do commands that tests start anew.
"""

import os

_VARIABLE = "PAIRWEAVE_QUICK_DISK"


def _return_at_once(_file: object) -> None:
    """Stand for `os.fsync`."""


def install() -> None:
    """Wait for the disk no more, in this process and in those that `environment` is for."""
    os.fsync = _return_at_once


def environment() -> dict[str, str]:
    """Return what tells a process that is started by this one to do likewise."""
    return {_VARIABLE: "1"} if os.fsync is _return_at_once else {}


def follow() -> None:
    """Do as the process does that has started this one."""
    if _VARIABLE in os.environ:
        install()
