"""Stopping a run: an exception in the main thread, and a check for its handlers.

Runners and libraries turn an exception that is raised inside a step into one of their own, so that
a stop would look like a failed step. Code that handles failures checks here first.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask a program to stop; closing the terminal sends the last one."""

_asked: int | None = None
_continues = True


class Stopped(SystemExit):
    """The program was asked to stop; its code is what a shell shows for that signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.signal = signal.Signals(number)

    def __str__(self) -> str:
        """Describe what happened, and what to do."""
        return message(self.signal)


def note_command(*, continues: bool) -> None:
    """Record whether the same command, given again, continues the work of this process."""
    global _continues
    _continues = continues


def message(number: int) -> str:
    """Return a message with the signal that ended a command, and whether it can be continued.

    >>> message(signal.SIGTERM)
    'ended by SIGTERM; run the same command again to continue'
    """
    words = f"ended by {signal.Signals(number).name}"
    if number == signal.SIGINT:
        words = "interrupted"
    if number == signal.SIGKILL:
        words = "killed (signal 9): the machine may have run out of memory"
    return f"{words}; run the same command again to continue" if _continues else words


def answer_signals() -> None:
    """Make signals that ask for a stop end this process with a message, unless they are ignored.

    This is for the time before any work, while the command line is imported: there is nothing to
    tidy up. Code that begins work sets its own handlers (`listening`, `supervisor.run`).
    """
    note_command(continues=False)
    for number in ASKING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, _leave)


def _leave(number: int, _frame: object) -> None:
    # An exception would pass through an import, which may turn it into another one.
    try:
        os.write(2, f"pairweave: {message(number)}\n".encode())
    finally:
        os._exit(128 + number)


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Make signals that ask for a stop raise `Stopped` in this block, unless they are ignored.

    Only the main thread can receive signals; in another thread this does nothing.
    """
    global _asked
    _asked = None
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in ASKING:
            if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        _asked = None
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def heard_in_python() -> Iterator[None]:
    """Let Ctrl-C end a block by `KeyboardInterrupt`, as it ends other Python code.

    Beam treats an exception in a step as a failure, after which the run would go on. A program that
    handles the signal in its own way keeps it.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    global _asked
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _asked = None
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    except (Stopped, Exception) as error:
        if is_stopping():
            raise KeyboardInterrupt from error
        raise
    finally:
        _asked = None
        signal.signal(signal.SIGINT, signal.default_int_handler)


def stop(number: int, _frame: object = None) -> None:
    """Note that a signal has asked for a stop, and raise it; a signal handler.

    Raises:
        Stopped: Always.
    """
    global _asked
    _asked = number
    raise Stopped(number)


def is_stopping() -> bool:
    """Tell whether a signal has asked for a stop, even if other code turned it into an error."""
    return _asked is not None


def raise_again() -> None:
    """Raise a stop that was requested but that other code has treated as an error or dropped.

    Raises:
        Stopped: A stop was requested.
    """
    if _asked is not None:
        raise Stopped(_asked)


def silence(stream: int) -> None:
    """Discard from now on what is written to an open file or stream, given by its number."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream)
    os.close(nowhere)
