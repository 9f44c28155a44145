"""Kinds of plugins, and the options that name them. Nothing here looks at installed packages."""

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
        noun: The word for such a plugin in messages.
        expected: The object that an entry point must name, in words.
        built_in: Names that no plugin may have.
        fault: Returns the fault of an object that an entry point names; None if it has none.
        describe: Returns the help text about an object without faults.
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


def line_of_text_fault(loaded: object, method: str) -> str | None:
    """Return the fault of an object that needs a line about itself and a method.

    Args:
        loaded: The object that an entry point names.
        method: The method.

    >>> line_of_text_fault(int, "read"), line_of_text_fault(1, "read")
    ('int is a class', 'about is None, not a line of text')
    """
    if isinstance(loaded, type):
        return f"{loaded.__name__} is a class"
    about = getattr(loaded, "about", None)
    if not isinstance(about, str) or not about.strip() or not about.isprintable():
        return f"about is {about!r}, not a line of text"
    if not callable(getattr(loaded, method, None)):
        return f"it has no method {method}"
    return None


def about_of(loaded: object) -> str:
    """Return the line that an object without faults says about itself, for help."""
    return str(getattr(loaded, "about", ""))


def names_one(kind: PluginKind) -> NamesPlugins:
    """Return the fact of an option whose value is a name: pairweave's own or a plugin's.

    Text after a colon in one of pairweave's own names, such as a model, is ignored.

    >>> kind = PluginKind("a.group", "thing", "", frozenset({"own"}), lambda _: None, str)
    >>> fact = names_one(kind)
    >>> [fact.names(value) for value in ("own", "own:MODEL", "other", None)]
    [(), (), ('other',), ()]
    """

    def names(value: object) -> tuple[str, ...]:
        if value is None or str(value).partition(":")[0] in kind.built_in:
            return ()
        return (str(value),)

    return NamesPlugins(kind, names)


class Named(NamedTuple):
    """A plugin that an option names."""

    option: str
    kind: PluginKind
    name: str


def plugins_named(options: pydantic.BaseModel) -> Iterator[Named]:
    """Yield every plugin that options name, including those in nested blocks."""
    for option, field in type(options).model_fields.items():
        value = getattr(options, option)
        for one in value if isinstance(value, tuple | list) else (value,):
            if isinstance(one, pydantic.BaseModel):
                yield from plugins_named(one)
        for fact in field.metadata:
            if isinstance(fact, NamesPlugins):
                yield from (Named(option, fact.kind, name) for name in fact.names(value))
