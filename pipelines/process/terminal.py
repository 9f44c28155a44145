"""Output for people to read, without control sequences for a terminal."""

import logging
import sys
from typing import TextIO

from pairweave.transforms.text.control_characters import for_terminal


def say(text: str) -> None:
    """Write text and a line end to standard output."""
    _write(sys.stdout, text)


def warn(text: str) -> None:
    """Write text and a line end to standard error."""
    _write(sys.stderr, text)


def _write(stream: TextIO, text: str) -> None:
    stream.write(f"{for_terminal(text)}\n")
    stream.flush()


class ShownFormatter(logging.Formatter):
    """Formats log records so that no name in them can control a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as it is shown."""
        return for_terminal(super().format(record))
