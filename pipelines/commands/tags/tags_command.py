"""The command ``tags``, with subcommands for tags outside the jobs."""

import difflib
import importlib
import sys
from collections.abc import Sequence

from pairweave.pipelines.command_line.command_table import Command
from pairweave.transforms.errors import ConfigError

SUBCOMMANDS = {
    "encode": Command("commands.tags.tags_encode", "turn real tags into symbols, with a table"),
    "decode": Command(
        "commands.tags.tags_decode", "turn symbols back into tags, and repair a model's mistakes"
    ),
    "vocabulary": Command("commands.tags.tags_vocabulary", "add symbols to subword models"),
    "profile": Command("commands.tags.tags_profile", "learn the shapes of tags from tagged text"),
    "agree": Command(
        "commands.tags.tags_agree", "keep the lines whose tags agree in several languages"
    ),
    "project": Command("commands.tags.tags_project", "put a source's tags onto its translation"),
    "fit_projection": Command(
        "commands.tags.tags_fit_projection",
        "learn from tagged translations where project should put tags",
    ),
}


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the subcommand that the first argument names."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(usage())
        return 0 if arguments else 2
    name, *rest = arguments
    if name not in SUBCOMMANDS:
        near = difflib.get_close_matches(name, SUBCOMMANDS, 1)
        hint = f", did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"unknown subcommand tags {name!r}{hint}; see pairweave tags --help")
    module = importlib.import_module(SUBCOMMANDS[name].module)
    return int(module.main(f"tags {name}", rest))


def usage() -> str:
    """Return the help text of the command."""
    width = max(map(len, SUBCOMMANDS))
    lines = [f"  {name:<{width}}  {command.about}" for name, command in SUBCOMMANDS.items()]
    more = "pairweave tags SUBCOMMAND --help lists the options of a subcommand."
    head = "usage: pairweave tags SUBCOMMAND [--option value ...]"
    return "\n".join([head, "", *lines, "", more, ""])
