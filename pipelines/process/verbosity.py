"""How much a command prints, and in which form: options that every command has."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, cast

from pairweave.transforms.errors import ConfigError

_VARIABLE = "PAIRWEAVE_VERBOSITY"
"""Holds the verbosity in the environment, which worker processes inherit."""

FORMATS = ("text", "json")

HELP = (
    ("--quiet", "say nothing but warnings and errors"),
    ("--debug", "show the traceback of an error"),
    ("--log_format json", "standard error as JSON, one object on a line"),
)


class Verbosity(NamedTuple):
    """How much is printed.

    Attributes:
        quiet: Only warnings and errors.
        debug: Errors with their tracebacks.
        log_format: ``text``, or ``json``, one object on a line of standard error.
    """

    quiet: bool = False
    debug: bool = False
    log_format: Literal["text", "json"] = "text"


def take(words: Sequence[str]) -> tuple[Verbosity, list[str]]:
    """Take the options of this module out of a command line.

    >>> take(["fit", "--quiet", "--log-format=json", "x"])
    (Verbosity(quiet=True, debug=False, log_format='json'), ['fit', 'x'])

    Raises:
        ConfigError: The format of logs is missing or unknown.
    """
    verbosity, rest, waiting = Verbosity(), [], False
    for word in words:
        name, _, value = word.partition("=")
        name = name.replace("-", "_")
        if waiting:
            verbosity, waiting = verbosity._replace(log_format=_format(word)), False
        elif word == "--quiet":
            verbosity = verbosity._replace(quiet=True)
        elif word == "--debug":
            verbosity = verbosity._replace(debug=True)
        elif name == "__log_format":
            waiting = "=" not in word
            verbosity = verbosity if waiting else verbosity._replace(log_format=_format(value))
        else:
            rest.append(word)
    if waiting:
        raise ConfigError(f"--log_format: give one of {', '.join(FORMATS)}")
    return verbosity, rest


def _format(value: str) -> Literal["text", "json"]:
    if value not in FORMATS:
        raise ConfigError(f"--log_format must be {' or '.join(FORMATS)}, got {value!r}")
    return cast("Literal['text', 'json']", value)


@contextlib.contextmanager
def speaking(chosen: Verbosity) -> Iterator[None]:
    """Apply a verbosity to this process and to those that it starts."""
    before = os.environ.get(_VARIABLE)
    if chosen != Verbosity():
        os.environ[_VARIABLE] = f"{chosen.quiet:d}{chosen.debug:d}{chosen.log_format}"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_VARIABLE, None)
        else:
            os.environ[_VARIABLE] = before


def current() -> Verbosity:
    """Return the verbosity of this process."""
    value = os.environ.get(_VARIABLE, "")
    if value[2:] not in FORMATS:
        return Verbosity()
    return Verbosity(value[0] == "1", value[1] == "1", _format(value[2:]))
