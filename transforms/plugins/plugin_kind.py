"""Kinds of plugins, and the options that name them. No package is looked at here."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pydantic

NAME = r"[a-z][a-z0-9_]{0,39}"
"""Pattern of a plugin's name: it is part of reasons and of names of columns."""


@dataclasses.dataclass(frozen=True)
class PluginKind:
    """A kind of plugins.

    Attributes:
        group: The group of its entry points.
        noun: What one is called in messages.
        expected: What an entry point must name.
        built_in: Names that no plugin may have.
        fault: Says what is wrong with an object that an entry point names; None if nothing is.
        describe: Returns what help says of an object without faults.
    """

    group: str
    noun: str
    expected: str
    built_in: frozenset[str]
    fault: Callable[[object], str | None]
    describe: Callable[[object], str]


@dataclasses.dataclass(frozen=True)
class NamesPlugins:
    """A fact of an option, in its annotation: its value names plugins.

    Attributes:
        kind: Their kind.
        names: Returns the names in a value of the option.
    """

    kind: PluginKind
    names: Callable[[object], Iterable[str]]


class Named(NamedTuple):
    """A plugin that an option names."""

    option: str
    kind: PluginKind
    name: str


def plugins_named(options: pydantic.BaseModel) -> Iterator[Named]:
    """Yield every plugin that options name, also those in blocks of options."""
    for option, field in type(options).model_fields.items():
        value = getattr(options, option)
        for one in value if isinstance(value, tuple | list) else (value,):
            if isinstance(one, pydantic.BaseModel):
                yield from plugins_named(one)
        for fact in field.metadata:
            if isinstance(fact, NamesPlugins):
                yield from (Named(option, fact.kind, name) for name in fact.names(value))
