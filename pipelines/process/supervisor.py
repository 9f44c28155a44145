"""Runs the command in a process that can always be stopped, and removes what it leaves behind.

Python handles a signal only between two of its own instructions, in the main thread, and so not
while a kernel compiles or a library trains a model. Besides, any code that runs at that moment can
catch the exception that the handler raises. Therefore the work is done in a separate process, and
two small processes supervise it:

- the *launcher*, which the user started and whose exit status counts. It passes on signals that ask
  for a stop. If it is killed, the overseer notices;
- the *overseer*, its child in another process group. It adopts orphans, so it finds every process
  of the run. When the work is over, or must be, it kills whatever is left and removes the run's
  private temporary directory. If it is killed, the launcher does the same;
- the *worker*, the overseer's child in the launcher's process group, where the terminal's keys and
  input reach it.

A stop first asks the worker, so that half-written files are removed and remote jobs are cancelled.
After `ASKED_SECONDS` everything is killed, or at once if a stop is requested twice.
"""

import atexit
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pairweave.pipelines.process import descendants, interrupt, scratch

ASKED_SECONDS = 1.0
"""Time limit of the worker for an orderly stop."""

AGAIN_SECONDS = 0.4
"""Time after which the worker is asked again: other code may have caught the first exception."""

TWICE_SECONDS = 0.2
"""Signals closer together count as one: `timeout`, for example, signals a program and its group."""

END_SECONDS = 5.0
"""Time to wait for killed processes; only a hung file system makes them take so long."""

POLL_SECONDS = 0.5
"""Interval of checks without a signal."""

# Signals of the real-time range are delivered after all other pending ones.
_KILL_NOW = signal.SIGRTMIN
_LAUNCHER_ENDED = signal.SIGRTMIN + 1
_STOP = signal.SIGUSR1


_is_worker = False


def run(work: Callable[[], int]) -> int:
    """Do some work in a supervised process, and return its exit status.

    This returns only in the launcher; the worker ends with the exit status that the work returned.
    A run that a signal ended has 128 plus the signal's number as its status, as in a shell.

    Raises:
        OSError: No temporary directory can be written.
    """
    # An ignored signal, as under nohup, stays ignored. A blocked signal waits to be handled.
    asking = {number for number in interrupt.ASKING if signal.getsignal(number) != signal.SIG_IGN}
    awaited = {*map(int, asking), int(signal.SIGCHLD), _KILL_NOW, _LAUNCHER_ENDED}
    # From here on the launcher below handles a stop, and removes the directory.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    scratch.sweep()
    directory = scratch.make()
    sys.stdout.flush()
    sys.stderr.flush()
    descendants.adopt_orphans()
    launcher = os.getpid()
    overseer = os.fork()
    if overseer:
        return _launch(overseer, directory, asking)
    descendants.adopt_orphans()
    descendants.die_with_parent(launcher, _LAUNCHER_ENDED)
    overseer = os.getpid()
    worker = os.fork()
    if worker:
        descendants.leave_after(lambda: _oversee(worker, directory, awaited))
    descendants.die_with_parent(overseer)
    scratch.use(directory)
    for number in asking:
        signal.signal(number, _pass_on)
    signal.signal(_STOP, _stop)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    global _is_worker
    _is_worker = True
    return _end(work())


def _end(status: int) -> int:
    """End the worker after its work: run exit functions, write its output, and leave.

    The usual end would also delete every object one by one, which takes seconds of CPU time once
    Beam is imported. No thread has work left by then.

    Returns:
        The status, but only if the output cannot be written: Python then reports that as it ends.
    """
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        leave(status)
    return status


def leave(status: int) -> None:
    """End the worker at once; in another process do nothing.

    This is for an end in the middle of the work, for example when the reader of the output is gone.
    Threads of libraries may still read then, and Arrow aborts the process (SIGABRT) if it ends in
    the usual way while its threads start. The overseer removes the files that the run leaves
    behind.
    """
    if _is_worker:
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone
            sys.stderr.flush()
        os._exit(status)


def _pass_on(number: int, _frame: object) -> None:
    """Forward a signal that reached the worker to the overseer, which handles the stop."""
    os.kill(os.getppid(), number)


def _stop(number: int, frame: object) -> None:
    interrupt.silence(2)  # failures are expected while a run is being stopped
    interrupt.stop(number, frame)


def _launch(overseer: int, directory: Path, asking: set[signal.Signals]) -> int:
    """Pass on signals that ask for a stop until the overseer has ended."""
    asked = float("inf")
    while True:
        received = signal.sigtimedwait({*asking, signal.SIGCHLD}, POLL_SECONDS)
        ended, status = os.waitpid(overseer, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            break
        now = time.monotonic()
        if received is not None and received.si_signo in asking:
            if asked == float("inf"):
                asked = now
                os.kill(overseer, received.si_signo)
            elif now - asked > TWICE_SECONDS:
                os.kill(overseer, _KILL_NOW)
        if now - asked > ASKED_SECONDS + END_SECONDS + POLL_SECONDS:
            code = -signal.SIGKILL
            break
    if code < 0:  # the overseer was killed, or is stuck
        descendants.end_all(END_SECONDS)
        scratch.remove(directory)
        code = 128 - code
    _say_how_it_ended(code)
    return code


def _oversee(worker: int, directory: Path, awaited: set[int]) -> int:
    """Wait until the worker ends, or end it; then tidy up and return the run's exit status."""
    os.setpgid(0, 0)
    asked: int | None = None
    status: int | None = None
    deadlines: list[float] = []
    while status is None:
        wait = min(deadlines[0] - time.monotonic(), POLL_SECONDS) if deadlines else POLL_SECONDS
        received = signal.sigtimedwait(awaited, max(wait, 0.0))
        number = None if received is None else received.si_signo
        status = _status_of(worker)
        if number in (_KILL_NOW, _LAUNCHER_ENDED):
            break
        if number in interrupt.ASKING and asked is None:
            asked = number
            now = time.monotonic()
            deadlines = [now, now + AGAIN_SECONDS, now + ASKED_SECONDS]
        if deadlines and time.monotonic() >= deadlines[0]:
            deadlines.pop(0)
            if not deadlines:
                break
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, _STOP)
    descendants.end_all(END_SECONDS)
    scratch.remove(directory)
    if asked is not None:
        return 128 + asked
    return 128 + signal.SIGKILL if status is None else status


def _status_of(worker: int) -> int | None:
    """Reap every process that has ended; return the worker's status if it is among them."""
    codes = dict(descendants.reap())
    if worker not in codes:
        return None
    return codes[worker] if codes[worker] >= 0 else 128 - codes[worker]


def _say_how_it_ended(code: int) -> None:
    """Report on standard error which signal ended a run, and that it can be continued."""
    if code <= 128 or code == 128 + signal.SIGPIPE:  # whoever left knows it
        return
    with contextlib.suppress(OSError, ValueError):  # the terminal is gone
        # A progress bar hides the cursor and leaves its line unfinished.
        begin = "\x1b[?25h\n" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{begin}pairweave: {interrupt.message(code - 128)}\n")
        sys.stderr.flush()
