"""Read command-line flags and YAML files into the option models."""

import re
import sys
from collections.abc import Sequence
from typing import Any

from pairweave.pipelines.command_line import (
    beam_flags,
    mistaken_paths,
    outputs,
    parsers,
    plugin_help,
    short_help,
)
from pairweave.pipelines.command_line.command_table import COMMANDS
from pairweave.pipelines.command_line.validation import (
    Model,
    check_keys,
    check_kind,
    jobs_with,
    nearest,
    validate,
)
from pairweave.pipelines.options.base import Options
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import mark_of
from pairweave.transforms.storage import object_stores
from pairweave.transforms.storage.yaml_files import read_yaml

_NEGATIVE = re.compile(r"-\.?[0-9]")


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
    parser = parsers.parser_of(model, prog, beam=beam)
    first = model.FIRST_HELP
    if first is not None and short_help.is_asked_for(arguments):
        terminal.say(short_help.short_help(parser, about, model, first))
        sys.exit(0)
    if {"-h", "--help"} & {*arguments}:
        parser = parsers.new_parser(model, prog, beam=beam)
        parser.description = about
        plugin_help.add(parser, model)
    flag_values, rest = _flag_values(parser, model, arguments)
    _check_rest(rest, parser, prog, beam=beam)
    if rest:
        # Beam's own parser would end the process.
        beam_flags.parser_of(prog).parse_known_args(rest)
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
    return _flag_values(parsers.parser_of(model, prog, beam=True), model, arguments)


def _flag_values(
    parser: parsers.Parser, model: type[Options], arguments: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    known, rest = parser.parse_known_args(_normalized(model, arguments))
    return {name: value for name, value in vars(known).items() if value is not None}, rest


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


def _check_rest(rest: Sequence[str], parser: parsers.Parser, prog: str, *, beam: bool) -> None:
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
        in_source = flag in beam_flags.OF_JOB_SERVER or flag in beam_flags.in_source()
        is_beams = in_source and flag in beam_flags.actions()
        if is_beams and not beam:
            raise ConfigError(f"{flag}: {prog} runs no Beam pipeline, so it has no such option")
        if is_beams:
            value_may_follow = not equals and beam_flags.actions()[flag].nargs != 0
            continue
        hint = jobs_with(flag.removeprefix("--")) or nearest(flag, ours, ours, 0.8)
        if not hint:
            known = [*ours, *sorted(beam_flags.in_source())] if beam else ours
            hint = nearest(flag, ours, known)
        raise ConfigError(f"unknown option {flag}{hint}; see {prog} --help")


_FILES_ARE_OPTIONS = (
    ": files are given by options: --source_input and --target_input for a file of each side, or "
    "--input for files with both"
)


def _read_yaml(path: str, model: type[Options]) -> dict[str, Any]:
    value = read_yaml(path)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: expected a map of options, found {type(value).__name__}")
    try:
        check_kind(value, path, model.model_fields)
        check_keys(value, list(model.model_fields))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    return value
