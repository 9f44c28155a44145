"""Command-line flags and YAML files, read into the option models."""

import argparse
import difflib
import types
import typing
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeVar

import pydantic
import yaml

from pipelines.options import Options
from transforms import files
from transforms.errors import ConfigError

Model = TypeVar("Model", bound=Options)


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of leaving the process."""

    def error(self, message: str) -> NoReturn:
        """Turn a usage error into a configuration error."""
        raise ConfigError(f"{message}; see {self.prog} --help")


def parse(
    model: type[Model], prog: str, about: str, arguments: Sequence[str], *, beam: bool
) -> tuple[Model, list[str]]:
    """Read a job's options from its command line and its YAML file; a flag beats the file.

    Args:
        model: The job's option model.
        prog: The command as typed, for messages.
        about: One line on the job, for ``--help``.
        arguments: The command line after the job's name.
        beam: Whether options of Beam may follow; they are returned as given.

    Returns:
        The options, and the arguments meant for Beam.

    Raises:
        ConfigError: An unknown flag or key (names the nearest), or a value out of range.
    """
    parser = _parser(model, prog, about, beam=beam)
    known, rest = parser.parse_known_args(_normalized(model, arguments))
    given = {name: value for name, value in vars(known).items() if value is not None}
    _check_rest(rest, parser, prog, beam=beam)
    values: dict[str, Any] = {}
    config = given.pop("config", None)
    if config is not None:
        values = _read_yaml(config, model)
    values.update(given)
    return _validate(model, values, prog), rest


def _normalized(model: type[Options], arguments: Sequence[str]) -> list[str]:
    """Turn dashes in flag names to underscores, and give a bare switch its value."""
    switches = {
        f"--{name}" for name, field in model.model_fields.items() if field.annotation is bool
    }
    words: list[str] = []
    for position, word in enumerate(arguments):
        if not word.startswith("--"):
            words.append(word)
            continue
        name, equals, value = word.partition("=")
        name = "--" + name[2:].replace("-", "_")
        following = arguments[position + 1] if position + 1 < len(arguments) else ""
        if name in switches and not equals and following not in ("true", "false"):
            equals, value = "=", "true"
        words.append(name + equals + value)
    return words


def _parser(model: type[Options], prog: str, about: str, *, beam: bool) -> Parser:
    epilog = "Any further option is passed to Apache Beam." if beam else None
    parser = Parser(prog=prog, description=about, epilog=epilog, allow_abbrev=False)
    if beam:
        parser.add_argument("--config", metavar="FILE.yaml", help="options as YAML keys")
    for name, field in model.model_fields.items():
        if field.exclude or name == "corpora":
            continue
        text = (field.description or "").replace("%", "%%")
        extra = field.json_schema_extra
        if isinstance(extra, dict) and "at" in extra:
            parser.add_argument(name, metavar=name.upper(), help=text)
            continue
        shape = _shape(field.annotation)
        if (
            not field.is_required()
            and field.default_factory is None
            and field.default
            not in (
                None,
                (),
                False,
            )
        ):
            text += f" (default {field.default})"
        parser.add_argument(f"--{name}", help=text, **shape)
    return parser


def _shape(annotation: Any) -> dict[str, Any]:  # noqa: ANN401 - any type annotation
    """Return what argparse needs for a field's type; checks are left to the model."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _shape(next(part for part in arguments if part is not type(None)))
    if origin is typing.Annotated:
        return _shape(arguments[0])
    if origin is tuple:
        choices = typing.get_args(arguments[0])
        metavar = ",".join(choices) if typing.get_origin(arguments[0]) is typing.Literal else "GLOB"
        return {"nargs": "+", "action": "extend", "metavar": metavar}
    if origin is typing.Literal:
        return {"metavar": "{" + ",".join(str(choice) for choice in arguments) + "}"}
    if annotation is bool:
        return {"metavar": "true|false"}
    return {"metavar": {int: "N", float: "X"}.get(annotation, "TEXT")}


def _check_rest(rest: Iterable[str], parser: Parser, prog: str, *, beam: bool) -> None:
    ours = [option for action in parser._actions for option in action.option_strings]
    takes_value = False
    for word in rest:
        if not word.startswith("-"):
            if not takes_value:
                raise ConfigError(f"unexpected argument {word!r}; see {prog} --help")
            takes_value = False
            continue
        flag, equals, _ = word.partition("=")
        if beam and flag in beam_flags():
            takes_value = not equals
            continue
        known = [*ours, *beam_flags()] if beam else ours
        raise ConfigError(f"unknown option {flag}{_nearest(flag, ours, known)}; see {prog} --help")


def _nearest(name: str, first: Sequence[str], known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, first, 1, 0.8) or difflib.get_close_matches(
        name, known, 1, 0.6
    )
    return f", did you mean {near[0]}?" if near else ""


def beam_flags() -> frozenset[str]:
    """Return every flag that Beam's pipeline options define."""
    from apache_beam.options.pipeline_options import PipelineOptions

    parser: Any = argparse.ArgumentParser(add_help=False, conflict_handler="resolve")
    for group in PipelineOptions.__subclasses__():
        if group.__module__.startswith("apache_beam."):
            group._add_argparse_args(parser)
    return frozenset(option for action in parser._actions for option in action.option_strings)


def _read_yaml(path: str, model: type[Options]) -> dict[str, Any]:
    try:
        value = yaml.safe_load(files.read_bytes(path))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: expected a map of options, found {type(value).__name__}")
    names = [name for name, field in model.model_fields.items() if not field.exclude]
    for key in value:
        if key not in names:
            raise ConfigError(f"{path}: unknown key {key}{_nearest(str(key), names, names)}")
    return value


def _validate(model: type[Model], values: dict[str, Any], prog: str) -> Model:
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        problems = []
        for problem in error.errors():
            place = ".".join(str(part) for part in problem["loc"])
            if problem["type"] == "missing":
                problems.append(f"--{place} is needed")
                continue
            given = problem.get("input")
            problems.append(f"{place}: {problem['msg'].lower()}, got {given!r}")
        raise ConfigError(f"{'; '.join(problems)}; see {prog} --help") from error
