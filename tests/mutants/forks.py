"""Runs a function in a fork of a process that has already imported the libraries."""

import contextlib
import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
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
    *("apache_beam", "apache_beam.testing.util", "coverage", "jinja2", "rich.progress"),
    "apache_beam.runners.portability.fn_api_runner.fn_runner",
    "apache_beam.runners.portability.portable_runner",
)
_MAX_MEMORY = 12 << 30  # of address space: a loop that never ends may fill what there is
_MAX_WALL = 900.0  # seconds; for what waits without using the processor


def import_libraries() -> None:
    """Import what takes long, and nothing of this project."""
    for name in _LIBRARIES:
        importlib.import_module(name)


@dataclass(frozen=True)
class Place:
    """Where a function runs.

    Attributes:
        tree: A copy of the project; `pairweave` and `tests` are imported from it.
        scratch: A directory for temporary files, which is emptied afterwards.
        compiled: Whether kernels are compiled, or loaded compiled, rather than run as Python.
    """

    tree: Path
    scratch: Path
    compiled: bool


def run_in(place: Place, log: Path, most_cpu: int, function: Callable[[], int]) -> int:
    """Run the function in a copy of the project and return its exit status.

    Args:
        place: The copy, and how it is run.
        log: Where its output goes.
        most_cpu: CPU seconds after which it is killed.
        function: What to run.
    """
    child = os.fork()
    if child == 0:
        _become(place, log, most_cpu, function)
    ends = time.monotonic() + _MAX_WALL
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > ends:
            os.killpg(child, signal.SIGKILL)
            ends += _MAX_WALL
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what a test started and left behind
    shutil.rmtree(place.scratch, ignore_errors=True)
    return os.waitstatus_to_exitcode(status)


def _become(place: Place, log: Path, most_cpu: int, function: Callable[[], int]) -> None:
    code = 70
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(output, number)
        resource.setrlimit(resource.RLIMIT_CPU, (most_cpu, most_cpu))
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
        place.scratch.mkdir(parents=True, exist_ok=True)
        os.chdir(place.tree)
        os.environ |= {"PYTHONPATH": str(place.tree), "TMPDIR": str(place.scratch)}
        tempfile.tempdir = None  # it is read from the environment again
        _set_kernels(compiled=place.compiled)
        sys.path.insert(0, str(place.tree))
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


def _set_kernels(*, compiled: bool) -> None:
    """Let Numba compile from now on, or let a compiled function be the function itself.

    A kernel that is changed must not be found compiled, and to compile it would take too long.
    """
    from numba.core import config

    os.environ.pop("NUMBA_DISABLE_JIT", None)
    if not compiled:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    config.reload_config()
