"""Find and end the descendants of this process through ``/proc``, and end as one. For Linux."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from pairweave.transforms import process_stat

PAUSE_SECONDS = 0.005

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose own parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Make the system send this process a signal when its parent ends for any reason.

    Args:
        parent: The process that forked this one. If it has ended already, the signal comes at once.
        number: The signal.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number))
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def leave_after(work: Callable[[], int]) -> NoReturn:
    """End this fork when the work is done, without its parent's cleanup code.

    Args:
        work: The work; returns the exit status.
    """
    status = 1
    try:
        status = work()
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    except BaseException:  # noqa: BLE001 - no other code prints it
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            # The reader may be gone. After an error here, the fork would run its parent's code.
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


def of(ancestor: int) -> list[int]:
    """Return the processes below another, parents before children."""
    below = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            # It may end at any time.
            with contextlib.suppress(OSError):
                pid = int(entry.name)
                below[int(process_stat.words_of(pid)[1])].append(pid)
    pids = [ancestor]
    for pid in pids:
        pids.extend(below[pid])
    return pids[1:]


def end_all(seconds: float) -> None:
    """Kill every process below this one and wait until they are gone, up to a time limit.

    This process must adopt orphans, or those whose parents die first are missed.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for _ in reap():
            pass
        left = of(os.getpid())
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE_SECONDS)


def reap() -> Iterator[tuple[int, int]]:
    """Yield number and exit status of every child process that has ended; below 0, its signal."""
    with contextlib.suppress(ChildProcessError):  # no child is left
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            yield ended[0], os.waitstatus_to_exitcode(ended[1])
