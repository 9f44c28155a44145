"""Answers to signals that come before any work has begun, while the command line is imported."""

import os
import signal

from pairweave.pipelines.process import interrupt


def answer_signals() -> None:
    """Make signals that ask for a stop end this process with a message, unless they are ignored.

    No work has begun yet, so there is nothing to tidy up. Code that begins work sets its own
    handlers (`interrupt.listening`, `supervisor.run`).
    """
    interrupt.note_command(continues=False)
    for number in interrupt.ASKING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, _leave)


def _leave(number: int, _frame: object) -> None:
    # An exception would pass through an import, which may turn it into another one.
    try:
        os.write(2, f"pairweave: {interrupt.message(number)}\n".encode())
    finally:
        os._exit(128 + number)
