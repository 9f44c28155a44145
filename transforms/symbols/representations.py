"""Representations of tags by name, and text that looks like their symbols.

Text that looks like a symbol of a representation is first turned into an empty tag (`shield`), from
which the table restores it; so any text is read back unchanged.
"""

import dataclasses
import functools
import re
from collections.abc import Iterator, Sequence

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import XML, Kind, Marked, Syntax, Tag, parse_markup
from pairweave.transforms.markup.tag_table import (
    LITERAL,
    TagTable,
    indexed_tag,
    mark_of,
    match_tags,
)
from pairweave.transforms.symbols.tag_symbols import (
    Html,
    Indexed,
    Masked,
    Representation,
    Templated,
    with_symbols,
)
from pairweave.transforms.symbols.tag_template import Template
from pairweave.transforms.symbols.tag_xliff import Xliff

NAMES = ("indexed", "xliff", "masked", "html", "raw")
"""The named representations; a user's template is a further one."""

SELF_TRANSLATED = 20
"""Number of symbols that get self-translations (Hanneman and Dinu 2020, section 6.3)."""

_NEVER = re.compile(r"(?!)")


@dataclasses.dataclass(frozen=True)
class Raw(Representation):
    """Tags unchanged; identical ones differ only by their order.

    Attributes:
        syntax: Syntax of tags.
    """

    syntax: Syntax = XML
    name = "raw"

    def symbols(self, numbers: int) -> list[str]:
        """Refuse: any tag may occur in a text.

        Raises:
            ConfigError: Always.
        """
        del numbers
        raise ConfigError("raw tags have no list of symbols; choose another representation")

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches nothing: text is not a tag of the syntax."""
        return _NEVER

    def write(self, marked: Marked, table: TagTable) -> Marked:
        """Return numbered tags in their original form.

        Raises:
            ConfigError: The table lacks a tag.
        """
        symbols = []
        for tag in marked.tags:
            kind, number = mark_of(tag)
            raw = table.entries[number].raw(kind) if number in table.entries else None
            if raw is None:
                raise ConfigError(f"the table does not say what {indexed_tag(kind, number)} was")
            symbols.append(raw)
        return with_symbols(marked, symbols)

    def read(self, string: str, table: TagTable) -> Marked:
        """Return a text with its tags numbered; literals of the table stay text."""
        return match_tags(parse_markup(string, self.syntax), table)


def find_representation(name: str | Sequence[str], syntax: Syntax = XML) -> Representation:
    """Return a representation.

    Args:
        name: One of `NAMES`, or the three forms of a template for opening, closing and empty tags.
        syntax: Syntax of raw tags.

    Raises:
        ConfigError: There is no such representation, or the template cannot be read back.
    """
    if not isinstance(name, str):
        return _templated(tuple(name))
    if name == "raw":
        return Raw(syntax)
    if name not in _BY_NAME:
        raise ConfigError(f"unknown representation {name!r}; choose from {', '.join(NAMES)}")
    return _BY_NAME[name]


_BY_NAME: dict[str, Representation] = {
    one.name: one for one in (Indexed(), Xliff(), Masked(), Html())
}


@functools.cache
def _templated(forms: tuple[str, ...]) -> Templated:
    return Templated(Template.of(forms))


def symbols(representation: Representation | str, numbers: int) -> list[str]:
    """Return the symbols of this many tags, which a subword model must not split.

    >>> symbols("masked", 2)[:3]
    ['XLF_OPENG,1', 'XLF_OPENG,2', 'XLF_CLOSEG,1']

    Raises:
        ConfigError: The representation has no list of symbols, or ``numbers`` is not positive.
    """
    if numbers < 1:
        raise ConfigError(f"symbols of at least 1 tag are listed, got {numbers}")
    return _resolved(representation).symbols(numbers)


def self_translations(
    representation: Representation | str, numbers: int = SELF_TRANSLATED
) -> list[tuple[str, str]]:
    """Return pairs whose two sides are the same single symbol, for training data.

    From these rows a model learns to copy tags that occur nowhere else in its training data
    (Hanneman and Dinu 2020, section 4.2).
    """
    return [(symbol, symbol) for symbol in symbols(representation, numbers)]


def shield(marked: Marked, representation: Representation) -> Marked:
    """Turn all text that a representation would read as a symbol into empty tags.

    >>> shield(Marked("of <a_1>", ()), find_representation("indexed")).tags[0].raw
    '<a_1>'
    """
    pattern = representation.pattern()
    if not pattern.search(marked.text):
        return marked
    texts: list[str] = []
    tags: list[Tag] = []
    length = done = 0
    for border, tag in [*((tag.offset, tag) for tag in marked.tags), (len(marked.text), None)]:
        for text, literal in _parts(marked.text[done:border], pattern):
            texts.append(text)
            length += len(text)
            if literal:
                tags.append(Tag(Kind.EMPTY, LITERAL, "", literal, length))
        if tag is not None:
            tags.append(dataclasses.replace(tag, offset=length))
        done = border
    return Marked("".join(texts), tuple(tags))


def _parts(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield texts, each with the match after it; nothing after the last."""
    done = 0
    for match in pattern.finditer(text):
        yield text[done : match.start()], match[0]
        done = match.end()
    yield text[done:], ""


def _resolved(representation: Representation | str) -> Representation:
    return (
        find_representation(representation) if isinstance(representation, str) else representation
    )
