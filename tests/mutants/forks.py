"""Runs a function in a fork of a process that has already imported the libraries."""

import importlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

_LIBRARIES = (
    *(
        "hypothesis.strategies",
        "numba",
        "orjson",
        "pandas",
        "pyarrow.parquet",
        "pydantic",
        "pytest",
    ),
    *("regex", "rich.console", "sentencepiece", "snowballstemmer", "xxhash", "yaml", "zstandard"),
    *("apache_beam", "apache_beam.testing.util", "coverage"),
)
_MAX_MEMORY = 12 << 30  # of address space: a loop that never ends may fill what there is
_MAX_WALL = 900.0  # seconds; for what waits without using the processor


def import_libraries() -> None:
    """Import what takes long, and nothing of this project."""
    for name in _LIBRARIES:
        importlib.import_module(name)


def run_in(tree: Path, log: Path, most_cpu: int, function: Callable[[], int]) -> int:
    """Run the function in a copy of the project and return its exit status.

    Args:
        tree: The copy; `pairweave` and `tests` are imported from it.
        log: Where its output goes.
        most_cpu: CPU seconds after which it is killed.
        function: What to run.
    """
    child = os.fork()
    if child == 0:
        _become(tree, log, most_cpu, function)
    ends = time.monotonic() + _MAX_WALL
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > ends:
            os.killpg(child, signal.SIGKILL)
            ends += _MAX_WALL
        time.sleep(0.02)


def _become(tree: Path, log: Path, most_cpu: int, function: Callable[[], int]) -> None:
    code = 70
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(output, number)
        resource.setrlimit(resource.RLIMIT_CPU, (most_cpu, most_cpu))
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
        os.chdir(tree)
        os.environ["PYTHONPATH"] = str(tree)
        sys.path.insert(0, str(tree))
        for name in [*sys.modules]:
            if name.partition(".")[0] == "tests":
                del sys.modules[name]
        code = function()
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
