"""Where the program begins: it answers signals first, and then imports the command line.

The imports take half a second and more on a busy machine, and a signal of that time would end the
program without a word.
"""

import os
import signal

from pairweave.pipelines.process import interrupt


def main() -> int:
    """Run the command; the same as `pairweave.pipelines.cli.main`, but for the first signals."""
    answer_signals()
    from pairweave.pipelines import cli

    return cli.main()


def answer_signals() -> None:
    """Let signals that ask for a stop end this process with a message, except ignored ones.

    Nothing has begun yet, so there is nothing to tidy up. Whoever begins something sets handlers of
    its own (`interrupt.listening`, `supervisor.run`).
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
