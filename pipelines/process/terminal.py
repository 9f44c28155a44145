"""Output for people to read, without control sequences for a terminal."""

import codecs
import contextlib
import contextvars
import io
import json
import logging
import select
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

import orjson

from pairweave.pipelines.process import interrupt, verbosity
from pairweave.pipelines.process.log import utc
from pairweave.transforms.text.control_characters import for_terminal

Take = Callable[[str], object]

_say: contextvars.ContextVar[Take | None] = contextvars.ContextVar("_say", default=None)
"""Receives results instead of standard output while a function of the Python API runs."""

_warn: contextvars.ContextVar[Take | None] = contextvars.ContextVar("_warn", default=None)
"""Receives warnings instead of standard error while a function of the Python API runs."""


def saying_to(take: Take) -> contextlib.AbstractContextManager[None]:
    """Give the results of a block to a function instead of writing them to standard output.

    Other threads still write to standard output; `contextlib.redirect_stdout` would redirect all of
    them.
    """
    return _given_to(_say, take)


def warning_by(take: Take) -> contextlib.AbstractContextManager[None]:
    """Give the warnings of a block to a function instead of writing them to standard error."""
    return _given_to(_warn, take)


@contextlib.contextmanager
def _given_to(taker: contextvars.ContextVar[Take | None], take: Take) -> Iterator[None]:
    token = taker.set(take)
    try:
        yield
    finally:
        taker.reset(token)


def say(text: str) -> None:
    """Write text and a line end to standard output."""
    if (take := _say.get()) is not None:
        take(text)
    else:
        _write(sys.stdout, text)


def say_json(value: object, *, indented: bool = False) -> None:
    """Write a value as JSON and a line end to standard output."""
    say(orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else 0).decode())


def report(text: str) -> None:
    """Write the results of a run to standard output, unless the command is quiet."""
    if not verbosity.current().quiet:
        say(text)


def warn(text: str, finding: Mapping[str, Any] | None = None) -> None:
    """Write text and a line end to standard error.

    Args:
        text: The warning.
        finding: The object of the warning, which a log in JSON has as ``finding``.
    """
    if (take := _warn.get()) is not None:
        take(text)
    else:
        _write_record("WARNING", text, {} if finding is None else {"finding": finding})


def fail(text: str) -> None:
    """Write the error that ends the command to standard error, even if the command is quiet."""
    _write_record("ERROR", text)


def note(text: str) -> None:
    """Write the end of a command's work to standard error, unless the command is quiet."""
    if not verbosity.current().quiet:
        _write_record("INFO", text)


def show_all_text() -> None:
    """Make standard output show marks that its encoding lacks by their numbers, as errors do."""
    stream = sys.stdout
    # Python sets up a stream again by its place, which one that was a file and is a pipe now lacks.
    if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
        stream.reconfigure(errors="backslashreplace")


def finish(stream: TextIO | None) -> None:
    """Write what a stream still holds, or discard it if its reader is gone or its disk is full.

    The end of the interpreter would otherwise fail with a message and a status of its own.
    """
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        interrupt.silence(stream.fileno())


def has_lost_reader(stream: TextIO | None) -> bool:
    """Tell whether a stream is a pipe or a connection whose reader has left."""
    if stream is None:
        return False
    poll = select.poll()
    try:
        poll.register(stream.fileno(), select.POLLOUT)
    except (OSError, ValueError):  # a stream of the caller, without a file
        return True
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _write_record(level: str, text: str, fields: Mapping[str, Any] | None = None) -> None:
    is_json = verbosity.current().log_format == "json"
    with contextlib.suppress(OSError):  # a log that cannot be written must not stop any work
        _write(sys.stderr, _json(time.time(), level, text, fields) if is_json else text)


def _write(stream: TextIO, text: str) -> None:
    stream.write(f"{for_terminal(text)}\n")
    stream.flush()


def _json(seconds: float, level: str, message: str, fields: Mapping[str, Any] | None = None) -> str:
    """Return a log record as a line of JSON; times are in UTC."""
    record = {"time": utc(seconds), "level": level, "message": message, **(fields or {})}
    return json.dumps(record, ensure_ascii=False)


class ShownFormatter(logging.Formatter):
    """Formats log records so that no name in them can control a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record in the form to be shown."""
        if verbosity.current().log_format == "json":
            return for_terminal(_json(record.created, record.levelname, super().format(record)))
        return for_terminal(super().format(record))
