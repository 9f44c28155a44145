"""The help of one screen: an example and the options that most people need."""

import argparse
import itertools
import re
import shutil
import textwrap
from collections.abc import Sequence

from pairweave.pipelines.options.base import Options
from pairweave.pipelines.options.first_help import FirstHelp
from pairweave.transforms.option_marks import IN_SHORT, mark_of

_FLAG_WIDTH = 24


def is_asked_for(arguments: Sequence[str]) -> bool:
    """Tell whether the short help is requested, not ``--help all``."""
    for word, following in itertools.zip_longest(arguments, arguments[1:], fillvalue=""):
        if word in ("-h", "--help"):
            return following != "all"
    return False


def short_help(
    parser: argparse.ArgumentParser, about: str, model: type[Options], first: FirstHelp
) -> str:
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
