"""The list of installed plugins in ``--help all``; no other command line searches for them."""

import argparse
from collections.abc import Iterator

import pydantic
from pydantic.fields import FieldInfo

from pairweave.transforms.option_places import block_of
from pairweave.transforms.plugins.entry_points import descriptions
from pairweave.transforms.plugins.plugin_kind import NamesPlugins, PluginKind


def add(parser: argparse.ArgumentParser, model: type[pydantic.BaseModel]) -> None:
    """List the installed plugins after the help text of each option that can name one."""
    for action in parser._actions:
        field = model.model_fields.get(action.dest)
        for option, kind in _kinds(action.dest, field) if field is not None else ():
            installed = "; ".join(descriptions(kind)).replace("%", "%%")
            action.help = f"{action.help}. Plugins for {option}: {installed or 'none'}"


def _kinds(name: str, field: FieldInfo) -> Iterator[tuple[str, PluginKind]]:
    """Yield the kinds of plugins that an option names, itself or inside a block, with the key."""
    yield from ((name, fact.kind) for fact in field.metadata if isinstance(fact, NamesPlugins))
    block = block_of(field)
    for key, inner in block.model_fields.items() if block is not None else ():
        yield from _kinds(key, inner)
