"""Read command-line flags and YAML files into the option models."""

import argparse
import datetime as dt
import difflib
import functools
import importlib.util
import itertools
import re
import shutil
import sys
import textwrap
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import pydantic

from pairweave.pipelines.command_line import mistaken_paths, outputs, plugin_help
from pairweave.pipelines.command_line.command_table import COMMANDS, options_of, words_after
from pairweave.pipelines.options.base import (
    InputOptions,
    Options,
    PlannedOptions,
)
from pairweave.pipelines.options.first_help import FirstHelp
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import GIVES_PAIRS, IN_SHORT, mark_of
from pairweave.transforms.option_places import is_list_of_blocks, metavar_of
from pairweave.transforms.storage import object_stores
from pairweave.transforms.storage.yaml_files import read_yaml

Model = TypeVar("Model", bound=Options)

_JOB_SERVER_FLAGS = ("--flink_conf_dir",)
"""Options of Beam's job server that Beam's Python code does not declare."""

_NEGATIVE = re.compile(r"-\.?[0-9]")


class Once(argparse.Action):
    """Stores the value of a flag that may be given only once."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Store the value, or refuse the second one."""
        first = getattr(namespace, self.dest)
        if first is not None:
            raise ConfigError(
                f"{option_string} {values}: {option_string} {first} is given already; give one "
                "file, and other values as flags"
            )
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """An argument parser that raises an error instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        """Turn a usage error into a configuration error."""
        raise ConfigError(f"{message}; see {self.prog} --help")


def parse(
    model: type[Model], prog: str, about: str, arguments: Sequence[str], *, beam: bool
) -> tuple[Model, list[str]]:
    """Read a job's options from its command line and its YAML file; flags take precedence.

    Only commands that make a run take a YAML file.

    Args:
        model: The job's option model.
        prog: The command as typed, for messages.
        about: One-line description of the job, for ``--help``.
        arguments: The command line after the job's name.
        beam: Whether options of Beam may follow; they are returned as given.

    Returns:
        The options, and the arguments for Beam.

    Raises:
        ConfigError: A flag or key is unknown (the message suggests the nearest), a word belongs to
            no flag, or a value is out of range or of the wrong type.
    """
    parser = _parser(model, prog, beam=beam)
    first = model.FIRST_HELP
    if first is not None and _asks_for_help(arguments):
        terminal.say(_short_help(parser, about, model, first))
        sys.exit(0)
    if {"-h", "--help"} & {*arguments}:
        parser = _new_parser(model, prog, beam=beam)
        parser.description = about
        plugin_help.add(parser, model)
    flag_values, rest = _flag_values(parser, model, arguments)
    _check_rest(rest, parser, prog, beam=beam)
    if rest:
        _beam_parser(prog).parse_known_args(rest)  # Beam's own parser would end the process
    object_stores.use_beam_flags(rest)
    values: dict[str, Any] = {}
    # Some commands, such as run and ablate, have an option of this name: their file has more keys.
    config = None if "config" in model.model_fields else flag_values.pop("config", None)
    if config is not None:
        values = _read_yaml(config, model)
    files = dict.fromkeys(values.keys() - flag_values.keys(), config or "")
    values.update(flag_values)
    options = validate(model, values, prog, files)
    mistaken_paths.check(options)
    outputs.check(options, is_night=prog.endswith(f" {outputs.NIGHT}"))
    return options, rest


def parse_command(
    model: type[Model], name: str, arguments: Sequence[str]
) -> tuple[Model, list[str]]:
    """Read the options of a command as the table of commands describes it (`parse`)."""
    command = COMMANDS[name]
    return parse(model, f"pairweave {name}", command.about, arguments, beam=command.beam)


def given_values(
    model: type[Model], prog: str, arguments: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the values of a command line as given, and the words that may be Beam's options.

    Raises:
        ConfigError: A flag lacks its value.
    """
    return _flag_values(_parser(model, prog, beam=True), model, arguments)


def _flag_values(
    parser: Parser, model: type[Options], arguments: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    known, rest = parser.parse_known_args(_normalized(model, arguments))
    return {name: value for name, value in vars(known).items() if value is not None}, rest


def _asks_for_help(arguments: Sequence[str]) -> bool:
    """Tell whether the short help is requested, not ``--help all``."""
    for word, following in itertools.zip_longest(arguments, arguments[1:], fillvalue=""):
        if word in ("-h", "--help"):
            return following != "all"
    return False


def _short_help(parser: Parser, about: str, model: type[Options], first: FirstHelp) -> str:
    """Return a job's help of one screen: an example and the options that most people need."""
    actions = {action.dest: action for action in parser._actions}
    options = len(actions.keys() & model.model_fields.keys())
    room = max(40, shutil.get_terminal_size().columns - _FLAG_WIDTH - 4)
    rows = [
        f"  {_flag(actions[name]):<{_FLAG_WIDTH}}  "
        + textwrap.shorten(
            _in_short(model, name) or _clause(actions[name].help or ""), room, placeholder=" …"
        )
        for name in first.names
        if name in actions
    ]
    return "\n".join(
        [
            f"usage: {parser.usage or f'{parser.prog} [--option value ...]'}",
            *("", about, "", "example:"),
            *(f"  {line}" for line in first.example.splitlines()),
            *("", "options that most runs need:", *rows, ""),
            f"{parser.prog} --help all lists all {options} options"
            f"{', in groups' if parser.usage else ''}.",
        ]
    )


def _in_short(model: type[Options], name: str) -> str:
    """Return the short help's own text about an option; "" to take the first clause of the help."""
    field = model.model_fields.get(name)
    return "" if field is None else str(mark_of(field, IN_SHORT) or "")


_FLAG_WIDTH = 24


def _flag(action: argparse.Action) -> str:
    """Return a flag with its value, without alternatives."""
    value = str(action.metavar)
    if value.startswith("{"):
        value = "MAP" if ":" in value else "NAME"
    return action.option_strings[0] + ("" if value == "true|false" else f" {value}")


def _clause(text: str) -> str:
    """Return the first clause of a help text, and the default.

    >>> _clause("most tags: 3 or so; or more (default 9)")
    'most tags (default 9)'
    """
    default = re.search(r" \(default [^()]*\)$", text)
    body = re.split(r"[;:] ", text.removesuffix(default[0]) if default else text)[0]
    return (body + (default[0] if default else "")).replace("%%", "%")


def _normalized(model: type[Options], arguments: Sequence[str]) -> list[str]:
    """Replace dashes in flag names by underscores, and give a bare switch its value."""
    switches = {
        f"--{name}" for name, field in model.model_fields.items() if field.annotation is bool
    }
    takes_words = any(mark_of(field, "at") is not None for field in model.model_fields.values())
    words: list[str] = []
    for position, word in enumerate(arguments):
        if not word.startswith("--"):
            words.append(word)
            continue
        if word == "--help":
            return [word]
        name, equals, value = word.partition("=")
        name = "--" + name[2:].replace("-", "_")
        following = arguments[position + 1] if position + 1 < len(arguments) else "-"
        is_bare = takes_words or following.startswith("-")
        if name in switches and not equals and is_bare and following not in ("true", "false"):
            equals, value = "=", "true"
        words.append(name + equals + value)
    return words


@functools.cache
def _parser(model: type[Options], prog: str, *, beam: bool) -> Parser:
    """Return the parser of a command, made once; nothing may change it."""
    return _new_parser(model, prog, beam=beam)


def _new_parser(model: type[Options], prog: str, *, beam: bool) -> Parser:
    makes_run = beam or issubclass(model, PlannedOptions)
    epilog = f"{_subcommands(prog)}Any further option is passed to Apache Beam." if beam else None
    usage = None
    if makes_run:
        # A usage line with every option would fill the screen.
        usage = f"{prog} [--config FILE.yaml] [--option value ...]{' [any Beam option]' * beam}"
    parser = Parser(prog=prog, usage=usage, epilog=epilog, allow_abbrev=False)
    groups: dict[str, argparse._ArgumentGroup] = {}
    if makes_run:
        parser.add_argument(
            "--config", metavar="FILE.yaml", help="options as YAML keys", action=Once
        )
    for name, field in model.model_fields.items():
        if is_list_of_blocks(field) or (makes_run and name == "config"):
            continue
        text = (field.description or "").replace("%", "%%")
        if mark_of(field, "at") is not None:
            nargs = _shape(field.annotation).get("nargs")
            if nargs is not None and not field.is_required():
                nargs = "*"
            parser.add_argument(name, metavar=name.upper(), help=text, nargs=nargs)
            continue
        shape = _shape(field.annotation)
        metavar = metavar_of(field)
        if metavar is not None:
            shape["metavar"] = metavar
        has_default = not field.is_required() and field.default_factory is None
        if has_default and field.default not in (None, (), False, ""):
            text += f" (default {_as_typed(field.default)})"
        if not makes_run:
            parser.add_argument(f"--{name}", help=text, **shape)
            continue
        title = _title(model, name)
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        groups[title].add_argument(f"--{name}", help=text, **shape)
    return parser


def _subcommands(prog: str) -> str:
    """Return a sentence on the subcommands of a command; "" if it has none.

    >>> _subcommands("pairweave refresh")[:50]
    'Subcommands: status, history, verify, takedown, va'
    >>> _subcommands("pairweave augment")
    ''
    """
    names = words_after(prog.removeprefix("pairweave "))
    return f"Subcommands: {', '.join(names)}; see {prog} SUBCOMMAND --help. " if names else ""


def _as_typed(value: object) -> str:
    """Return a default as a user would type it.

    >>> _as_typed(("random", "alignment")), _as_typed(True), _as_typed(0.5)
    ('random alignment', 'true', '0.5')
    """
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _title(model: type[Options], name: str) -> str:
    """Return the help title of an option: the docstring summary of the smallest class with it."""
    owners = [
        kind
        for kind in reversed(model.__mro__)
        if issubclass(kind, Options) and name in kind.model_fields
    ]
    owner = min(owners, key=lambda kind: len(kind.model_fields))
    summary = (owner.__doc__ or "").partition("\n")[0].partition(":")[0]
    return summary.rstrip(".").replace("`", "")


def _shape(annotation: Any) -> dict[str, Any]:  # noqa: ANN401 - any type annotation
    """Return the argparse settings for a field's type; the model checks values."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _shape(next(part for part in arguments if part is not type(None)))
    if origin is typing.Annotated:
        return _shape(arguments[0])
    if origin is tuple:
        item = "TEXT" if arguments[0] is str else _shape(arguments[0])["metavar"]
        return {"action": "extend", "nargs": "+", "metavar": item}
    if origin is typing.Literal:
        return {"metavar": "{" + ",".join(str(choice) for choice in arguments) + "}"}
    if annotation is bool:
        return {"metavar": "true|false"}
    return {"metavar": {int: "N", float: "X"}.get(annotation, "TEXT")}


def _check_rest(rest: Sequence[str], parser: Parser, prog: str, *, beam: bool) -> None:
    """Refuse arguments that are neither a flag of Beam nor the value that may follow one."""
    ours = [option for action in parser._actions for option in action.option_strings]
    value_may_follow = False
    for word in rest:
        if value_may_follow and (not word.startswith("-") or _NEGATIVE.match(word)):
            value_may_follow = False
            continue
        if not word.startswith("-"):
            files_are_options = {"--source_input", "--input"} <= {*ours}
            advice = _FILES_ARE_OPTIONS if files_are_options else ""
            raise ConfigError(f"unexpected argument {word!r}{advice}; see {prog} --help")
        flag, equals, _ = word.partition("=")
        # Importing Beam takes seconds. A flag that is not in its source is not one of its options.
        in_source = flag in _JOB_SERVER_FLAGS or flag in _flags_in_beam()
        is_beams = in_source and flag in beam_flags()
        if is_beams and not beam:
            raise ConfigError(f"{flag}: {prog} runs no Beam pipeline, so it has no such option")
        if is_beams:
            value_may_follow = not equals and beam_flags()[flag].nargs != 0
            continue
        hint = _jobs_with(flag.removeprefix("--")) or _nearest(flag, ours, ours, 0.8)
        if not hint:
            hint = _nearest(flag, ours, [*ours, *sorted(_flags_in_beam())] if beam else ours)
        raise ConfigError(f"unknown option {flag}{hint}; see {prog} --help")


_FILES_ARE_OPTIONS = (
    ": files are given by options: --source_input and --target_input for a file of each side, or "
    "--input for files with both"
)


def _nearest(name: str, first: Sequence[str], known: Sequence[str], least: float = 0.6) -> str:
    near = difflib.get_close_matches(name, first, 1, 0.8) or difflib.get_close_matches(
        name, known, 1, least
    )
    return f", did you mean {near[0]}?" if near else ""


def _jobs_with(name: str) -> str:
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


@functools.cache
def _flags_in_beam() -> frozenset[str]:
    """Return the flags in the source of those modules of Beam that declare options."""
    beam = importlib.util.find_spec("apache_beam")
    folders = [] if beam is None else beam.submodule_search_locations or []
    paths = (Path(folder, name) for folder in folders for name in _BEAM_OPTION_FILES)
    texts = (path.read_text(encoding="utf-8") for path in paths if path.exists())
    return frozenset(flag for text in texts for flag in re.findall(r"""["'](--[\w-]+)["']""", text))


_BEAM_OPTION_FILES = (
    "options/pipeline_options.py",
    "runners/dask/dask_runner.py",
    "runners/render.py",
    "yaml/options.py",
)
"""Where Beam declares pipeline options; a test compares them with the options of its parser."""


def beam_flags() -> dict[str, argparse.Action]:
    """Return the flags of Beam's pipeline options, each with what its parser does."""
    return _beam_parser("pairweave")._option_string_actions


@functools.cache
def _beam_parser(prog: str) -> Parser:
    """Return a parser for the flags of Beam's pipeline options."""
    from apache_beam.options.pipeline_options import PipelineOptions

    parser: Any = Parser(prog=prog, add_help=False, allow_abbrev=False, conflict_handler="resolve")
    for group in PipelineOptions.__subclasses__():
        if group.__module__.startswith("apache_beam."):
            group._add_argparse_args(parser)
    for flag in _JOB_SERVER_FLAGS:
        parser.add_argument(flag)
    return cast("Parser", parser)


def _read_yaml(path: str, model: type[Options]) -> dict[str, Any]:
    value = read_yaml(path)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: expected a map of options, found {type(value).__name__}")
    if "steps" in value and "steps" not in model.model_fields:
        raise ConfigError(
            f"{path}: has steps, so it is a recipe; run it with: pairweave run --config {path} "
            "--output DIR"
        )
    try:
        check_keys(value, list(model.model_fields))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    return value


def check_keys(keys: Iterable[object], names: Sequence[str]) -> None:
    """Check that every key is a known name.

    Raises:
        ConfigError: A key is unknown; the message names the jobs that have it, or the nearest name.
    """
    for key in keys:
        if key not in names:
            hint = _jobs_with(str(key))
            if not hint and f"--{key}" in _flags_in_beam():
                hint = f": it is an option of Beam, which the command line takes as --{key}"
            raise ConfigError(f"unknown key {key}{hint or _nearest(str(key), names, names)}")


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
        if isinstance(value, int) and not -_MOST <= value <= _MOST:
            raise ConfigError(
                f"{_of_file(files, name)}{name}: expected at most {_MOST}, got {value}; see {prog} "
                "--help"
            )
    return options


_MOST = (1 << 63) - 1
"""The largest whole number in the JSON files of a run."""


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
        return f"{place}: unknown key{_jobs_with(name) or _nearest(name, names, names)}"
    if isinstance(value, bool) and place.endswith("_lang"):
        # YAML 1.1 reads the bare words no, off, yes and on as switches.
        example = "yes" if value else "no"
        return (
            f'{place}: read as {str(value).lower()}; put the language in quotes, as in "{example}"'
        )
    context = problem.get("ctx", {})
    if kind == "form":
        return f"{place}: must be {context['expected']}, got {value!r}{context['advice']}"
    own = context.get("error")  # a message of this project, not of Pydantic
    if own and not place:  # of options that do not fit together, which it names
        return str(own)
    text = str(own) if own else _STRUCTURES.get(kind, problem["msg"].lower())
    advice = ""
    if kind == "string_type" and isinstance(value, bool | int | float | dt.date):
        advice = "; put the text in quotes"
    return f"{place}: {text}, got {value!r}{advice}"


_STRUCTURES = {
    "tuple_type": "input should be a list",
    "dict_type": "input should be a map",
    "model_type": "input should be a map of options",
}
"""Messages about types that Pydantic names by its own words, in the words of YAML."""
