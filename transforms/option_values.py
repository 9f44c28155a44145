"""Options whose values are a fixed set, or have a form."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pydantic
from pydantic_core import PydanticCustomError

from pairweave.transforms.errors import ConfigError


def dashed(names: Iterable[str]) -> str:
    """Return the names of options as typed by users, for messages.

    >>> dashed(["model", "seed"])
    '--model, --seed'
    """
    return ", ".join(f"--{name}" for name in names)


def refuse_given(options: pydantic.BaseModel, names: Iterable[str], why: str) -> None:
    """Refuse options that were given although nothing uses them.

    Args:
        options: All options.
        names: Those that nothing uses.
        why: Why nothing does and what to do, with ``{applies}``, ``{does}`` and ``{it}`` where
            these words depend on how many are given.

    Raises:
        ConfigError: Some of the names were given; names them and says why not.
    """
    given = sorted(options.model_fields_set.intersection(names))
    if given:
        several = len(given) > 1
        words = {"applies": ("applies", "apply"), "does": ("does", "do"), "it": ("it", "them")}
        for word, forms in words.items():
            why = why.replace(f"{{{word}}}", forms[several])
        raise ConfigError(f"{dashed(given)}: {why}")


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


def has_form(
    pattern: str, expected: str, meant: Callable[[str], str | None] | None = None
) -> pydantic.AfterValidator:
    """Return the annotation of an option whose values match a pattern.

    Args:
        pattern: Matches each value as a whole (RE).
        expected: What the values look like, for messages.
        meant: Returns the value that was probably meant by another one, if it is known.
    """

    def check(value: str) -> str:
        if re.fullmatch(pattern, value):
            return value
        better = meant(value) if meant is not None else None
        context = {"expected": expected, "advice": f"; write {better}" if better else ""}
        raise PydanticCustomError("form", "must be {expected}{advice}", context)

    return pydantic.AfterValidator(check)


def describe_form(problem: Mapping[str, Any]) -> str:
    """Return what is wrong with a value that has not its form, from Pydantic's error."""
    context = problem["ctx"]
    return f"must be {context['expected']}, got {problem['input']!r}{context['advice']}"
