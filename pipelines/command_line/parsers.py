"""The parsers of command lines, made from option models."""

import argparse
import functools
import types
import typing
from typing import Any, NoReturn

from pairweave.pipelines.command_line.command_table import words_after
from pairweave.pipelines.options.base import Options, PlannedOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import mark_of
from pairweave.transforms.option_places import is_list_of_blocks, metavar_of


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


@functools.cache
def parser_of(model: type[Options], prog: str, *, beam: bool) -> Parser:
    """Return the parser of a command, made once; nothing may change it."""
    return new_parser(model, prog, beam=beam)


def new_parser(model: type[Options], prog: str, *, beam: bool) -> Parser:
    """Return a new parser of a command, with the help of each option."""
    makes_run = beam or issubclass(model, PlannedOptions)
    epilog = f"{_subcommands(prog)}Any further option is passed to Apache Beam." if beam else None
    usage = None
    if makes_run:
        # A usage line with every option would fill the screen.
        words = "".join(f" {_in_usage(model, name)}" for name in _positional(model))
        options = f"[--config FILE.yaml] [--option value ...]{' [any Beam option]' * beam}"
        usage = f"{prog}{words} {options}"
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
        if name in _positional(model):
            nargs = _shape(field.annotation).get("nargs")
            if nargs is not None and not field.is_required():
                nargs = "*"
            parser.add_argument(name, metavar=name.upper(), help=text, nargs=nargs)
            continue
        shape = _shape(field.annotation)
        metavar = metavar_of(field)
        if metavar is not None:
            shape["metavar"] = metavar
        if field.is_required():
            text += " (required)"
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


def _positional(model: type[Options]) -> list[str]:
    """Return the options whose values are words of the command line without a flag."""
    return [name for name, field in model.model_fields.items() if mark_of(field, "at") is not None]


def _in_usage(model: type[Options], name: str) -> str:
    """Return such an option as a usage line shows it."""
    word = name.upper()
    several = _shape(model.model_fields[name].annotation).get("nargs") is not None
    return f"{word} [{word} ...]" if several else word


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
