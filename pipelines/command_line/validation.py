"""Checks of option names and values, and the messages about wrong ones."""

import datetime as dt
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import pydantic

from pairweave.pipelines.command_line import beam_flags
from pairweave.pipelines.command_line.command_table import COMMANDS, options_of
from pairweave.pipelines.options.base import InputOptions, Options
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import GIVES_PAIRS, mark_of
from pairweave.transforms.option_places import is_list_of_blocks
from pairweave.transforms.option_values import describe_form

Model = TypeVar("Model", bound=Options)

_MAX_NUMBER = (1 << 63) - 1
"""The largest whole number in the JSON files of a run."""

_STRUCTURES = {
    "tuple_type": "input should be a list",
    "dict_type": "input should be a map",
    "model_type": "input should be a map of options",
}
"""Messages about types that Pydantic names by its own words, in the words of YAML."""


def check_keys(keys: Iterable[object], names: Sequence[str]) -> None:
    """Check that every key is a known name.

    Raises:
        ConfigError: A key is unknown; the message names the jobs that have it, or the nearest name.
    """
    for key in keys:
        if key not in names:
            hint = jobs_with(str(key))
            if not hint and f"--{key}" in beam_flags.in_source():
                hint = f": it is an option of Beam, which the command line takes as --{key}"
            raise ConfigError(f"unknown key {key}{hint or nearest(str(key), names, names)}")


def check_kind(document: Mapping[str, Any], path: str, names: Iterable[str]) -> None:
    """Check that a YAML file is not a recipe, or the file of a refresh, unless that is expected.

    Args:
        document: The map in the file.
        path: The file.
        names: Keys that are expected.

    Raises:
        ConfigError: It is a file of another command, which the message names.
    """
    if "steps" in document and "steps" not in names:
        raise ConfigError(
            f"has steps, so it is a recipe; run it with: pairweave run --config {path} --output DIR"
        )
    if "job" in document and "job" not in names:
        raise ConfigError(
            "has the key job, so it is the file of a nightly refresh; bring its table up to date "
            f"with: pairweave refresh --config {path} --output DIR"
        )


def nearest(name: str, first: Sequence[str], known: Sequence[str], least: float = 0.6) -> str:
    """Return a clause that asks whether another name was meant; empty if none is similar enough.

    Args:
        name: The unknown name.
        first: The names that are preferred if one is very similar.
        known: All known names.
        least: How similar another of them must be, from 0 to 1.
    """
    near = difflib.get_close_matches(name, first, 1, 0.8) or difflib.get_close_matches(
        name, known, 1, least
    )
    return f", did you mean {near[0]}?" if near else ""


def jobs_with(name: str) -> str:
    """Return a clause that names the jobs with an option, for messages; empty if no job has it."""
    models = {job: model for job in COMMANDS if (model := options_of(job)) is not None}
    # The command `try` has the options of a job, and is not named in addition to it.
    jobs = [
        job
        for job, model in models.items()
        if name in model.model_fields and model.__base__ not in models.values()
    ]
    if not jobs:
        return ""
    *others, last = jobs
    return f", an option of {', '.join(others)} and {last}" if others else f", an option of {last}"


def validate(
    model: type[Model], values: dict[str, Any], prog: str, files: Mapping[str, str] | None = None
) -> Model:
    """Make options from their values.

    Args:
        model: The options.
        values: Their values, by name.
        prog: The command as typed, for messages.
        files: The file that sets each value, for messages; values of flags have none.

    Raises:
        ConfigError: A value is missing, out of range or of the wrong type.
    """
    files = files or {}
    for place, text in _texts(values):
        if "\0" in text:
            raise ConfigError(
                f"{_of_file(files, place.partition('.')[0])}{place}: has the character NUL, which "
                f"neither names nor texts may have, got {text!r}"
            )
    try:
        options = model.model_validate(values)
    except pydantic.ValidationError as error:
        problems = _no_input(model, values) + "; ".join(
            _of_file(files, problem["loc"][0] if problem["loc"] else "")
            + _described(problem, model)
            for problem in error.errors()
        )
        raise ConfigError(f"{problems}; see {prog} --help") from error
    for name in model.model_fields:
        value = getattr(options, name)
        if isinstance(value, int) and not -_MAX_NUMBER <= value <= _MAX_NUMBER:
            raise ConfigError(
                f"{_of_file(files, name)}{name}: expected at most {_MAX_NUMBER}, got {value}; "
                f"see {prog} --help"
            )
    return options


def _no_input(model: type[Options], values: Mapping[str, Any]) -> str:
    """Return the beginning of the message about missing input, or "" if the job has its input."""
    if not issubclass(model, InputOptions) or "output" in values:
        return ""
    names = [
        name
        for name, field in model.model_fields.items()
        if mark_of(field, GIVES_PAIRS) in ("files", "runs") or is_list_of_blocks(field)
    ]
    if "source_input" not in names or any(name in values for name in names):
        return ""
    flags = "--source_input and --target_input"
    return f"no input: give {flags}{', or --input' if 'input' in names else ''}; "


def _of_file(files: Mapping[str, str], name: object) -> str:
    """Return the beginning of a message about an option: the file that sets it, if any."""
    return f"{files[str(name)]}: " if str(name) in files else ""


def _texts(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts of options, each with its place as in ``corpora.0.input``."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict | list | tuple):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in entries:
            yield from _texts(inner, f"{place}.{name}" if place else str(name))


def _described(problem: Mapping[str, Any], model: type[Options]) -> str:
    """Describe a validation error of pydantic in one clause, with what to write instead."""
    kind, value = problem["type"], problem.get("input")
    place = ".".join(str(part) for part in problem["loc"])
    if kind == "missing":
        return f"--{place} is required"
    if kind == "extra_forbidden":
        # Top-level keys are checked when the file is read, so the key is inside `corpora`.
        names = list(model.corpus_kind().model_fields) if issubclass(model, InputOptions) else []
        name = str(problem["loc"][-1])
        if name in model.model_fields:
            return (
                f"{place}: {name} is an option of the whole run, not of one corpus; write it at "
                "the level of corpora, not in the list"
            )
        return f"{place}: unknown key{jobs_with(name) or nearest(name, names, names)}"
    if isinstance(value, bool) and place.endswith("_lang"):
        # YAML 1.1 reads the bare words no, off, yes and on as switches.
        example = "yes" if value else "no"
        return (
            f'{place}: read as {str(value).lower()}; put the language in quotes, as in "{example}"'
        )
    if kind == "form":
        return f"{place}: {describe_form(problem)}"
    own = problem.get("ctx", {}).get("error")  # a message of this project, not of Pydantic
    if own and not place:  # of options that do not fit together, which it names
        return str(own)
    text = str(own) if own else _STRUCTURES.get(kind, problem["msg"].lower())
    advice = ""
    if kind == "string_type" and isinstance(value, bool | int | float | dt.date):
        advice = "; put the text in quotes"
    return f"{place}: {text}, got {value!r}{advice}"
