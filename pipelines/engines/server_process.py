"""Runs a server that ends with its caller: `server_process.py CALLER NOTE PROGRAM WORD ...`.

Beam stops its servers with SIGINT and, five seconds later, with SIGKILL; if Beam itself is killed,
they keep running. A shell script cannot fix that: it can catch neither SIGKILL nor a signal that
was ignored when it started, as SIGINT is under ``nohup pairweave … &`` in a script. For Linux.

The exit status of a server that ends without being asked to is written to the file NOTE, because
Beam reports only that the server no longer answers.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

WATCH_SECONDS = 1.0
"""Interval between checks that the caller still exists."""

GRACE_SECONDS = 5.0
"""Time that a server is given to end before it is killed."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_ASKED = (signal.SIGINT, signal.SIGTERM)
_AWAITED = (*_ASKED, signal.SIGCHLD)


def main(arguments: Sequence[str]) -> int:
    """Run a program until it ends, or until its caller ends or asks it to end.

    Args:
        arguments: Process id of the caller; the file that gets the exit status of a program that
            ends by itself or is killed; the program; its arguments.

    Returns:
        The program's exit status; 128 and the signal's number if a signal ended it.
    """
    caller, note, command = int(arguments[0]), arguments[1], arguments[2:]
    interruptible = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    # Blocked signals wait for `sigtimedwait`, so none is lost while the program starts.
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    for number in _AWAITED:
        signal.signal(number, signal.SIG_DFL)
    libc = ctypes.CDLL(None)
    this = os.getpid()

    def end_with_this() -> None:
        """Make the new process end with this one, however this one ends."""
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != this:
            os._exit(1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's SIGINT reaches this server, too
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)

    server = subprocess.Popen(command, preexec_fn=end_with_this)  # noqa: PLW1509 - just one thread
    while server.poll() is None and os.getppid() == caller:
        received = signal.sigtimedwait(_AWAITED, WATCH_SECONDS)
        if received is None or received.si_signo not in _ASKED:
            continue
        # If the caller ignores Ctrl-C, so does its server. Only Ctrl-C has no sending process.
        if received.si_pid or interruptible:
            break
    if server.poll() is not None:
        _leave_note(note, server.returncode)
    return _end(server)


def _leave_note(path: str, status: int) -> None:
    """Write an exit status in one step; if its directory is gone, nobody will read it."""
    try:
        with open(f"{path}.new", "w", encoding="ascii") as file:  # noqa: PTH123 - starts sooner
            file.write(str(status))
        os.replace(f"{path}.new", path)  # noqa: PTH105 - as above
    except OSError:
        pass


def _end(server: "subprocess.Popen[bytes]") -> int:
    """End a program unless it has ended, and return its exit status as a shell would."""
    server.terminate()
    try:
        status = server.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        status = server.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
