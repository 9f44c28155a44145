"""Options with a fixed set of values."""

import difflib
from collections.abc import Iterable, Sequence

from pairweave.transforms.errors import ConfigError


def dashed(names: Iterable[str]) -> str:
    """Return the names of options as typed by users, for messages.

    >>> dashed(["model", "seed"])
    '--model, --seed'
    """
    return ", ".join(f"--{name}" for name in names)


def require_choice(option: str, value: str, choices: Iterable[str]) -> None:
    """Check that an option has one of its values.

    Raises:
        ConfigError: Names the nearest value and all of them.
    """
    names = list(choices)
    if value in names:
        return
    raise ConfigError(unknown_choice(option, value, names))


def unknown_choice(option: str, value: object, names: Sequence[str]) -> str:
    """Return the message for an unknown value of an option, with the nearest and all values."""
    near = difflib.get_close_matches(str(value), names, 1, 0.0)
    return (
        f"{option} {value!r} is unknown; did you mean {near[0]!r}? It is one of {', '.join(names)}"
    )
