"""Representations of tags by name, and texts turned from one into another without loss.

Text that would itself be taken for a symbol of a representation is made an empty tag first
(`shield`), which its table gives back; so what is written is read as it was, whatever the text.
"""

import dataclasses
import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup import XML, Form, Kind, Marked, Syntax, Tag, parse_markup
from pairweave.transforms.tag_symbols import (
    Html,
    Indexed,
    Masked,
    Representation,
    Templated,
    with_symbols,
)
from pairweave.transforms.tag_table import (
    LITERAL,
    Entry,
    Mark,
    TagTable,
    indexed_tag,
    mark_of,
    match_tags,
    numbered_tag,
)
from pairweave.transforms.tag_template import Template
from pairweave.transforms.tag_xliff import Xliff

NAMES = ("indexed", "xliff", "masked", "html", "raw")
"""The representations that have a name; a template of the user's is another."""

SELF_TRANSLATED = 20
"""Numbers whose symbols are translated by themselves (Hanneman and Dinu 2020, section 6.3)."""

_NEVER = re.compile(r"(?!)")

# Marked so, a pair is never written as <g> ... </g>, which cannot cross.
_CROSSING = "bx"


@dataclasses.dataclass(frozen=True)
class Raw(Representation):
    """Tags as they stood; those that look alike are told apart by their order alone.

    Attributes:
        syntax: What is a tag.
    """

    syntax: Syntax = XML
    name = "raw"

    def symbols(self, numbers: int) -> list[str]:
        """Raise: any tag may stand in a text."""
        del numbers
        raise ConfigError("raw tags have no list of symbols; choose another representation")

    def pattern(self) -> re.Pattern[str]:
        """Return what finds nothing: text is no tag of the syntax."""
        return _NEVER

    def write(self, marked: Marked, table: TagTable) -> Marked:
        """Return numbered tags as they stood."""
        symbols = []
        for tag in marked.tags:
            kind, number = mark_of(tag)
            raw = table.entries[number].raw(kind) if number in table.entries else None
            if raw is None:
                raise ConfigError(f"the table does not say what {indexed_tag(kind, number)} was")
            symbols.append(raw)
        return with_symbols(marked, symbols)

    def read(self, string: str, table: TagTable) -> Marked:
        """Return a text with numbered tags of those in it; literals of the table stay text."""
        return match_tags(parse_markup(string, self.syntax), table)


def find_representation(name: str | Sequence[str], syntax: Syntax = XML) -> Representation:
    """Return a representation.

    Args:
        name: One of `NAMES`, or the three forms of a template: of opening, closing and empty tags.
        syntax: What is a raw tag.

    Raises:
        ConfigError: There is none, or the template cannot be read back.
    """
    if not isinstance(name, str):
        return _templated(tuple(name))
    if name == "raw":
        return Raw(syntax)
    if name not in _BY_NAME:
        raise ConfigError(f"no representation is called {name!r}; there are {', '.join(NAMES)}")
    return _BY_NAME[name]


_BY_NAME: dict[str, Representation] = {
    one.name: one for one in (Indexed(), Xliff(), Masked(), Html())
}


@functools.cache
def _templated(forms: tuple[str, ...]) -> Templated:
    return Templated(Template.of(forms))


def symbols(representation: Representation | str, numbers: int) -> list[str]:
    """Return the symbols of this many tags: what a subword model must not split.

    >>> symbols("masked", 2)[:3]
    ['XLF_OPENG,1', 'XLF_OPENG,2', 'XLF_CLOSEG,1']

    Raises:
        ConfigError: The representation has no list of symbols, or ``numbers`` is not positive.
    """
    if numbers < 1:
        raise ConfigError(f"symbols of at least 1 tag are listed, got {numbers}")
    return _found(representation).symbols(numbers)


def self_translations(
    representation: Representation | str, numbers: int = SELF_TRANSLATED
) -> list[tuple[str, str]]:
    """Return pairs of sides that hold one symbol each, the same, for training data.

    From these rows a model learns to copy tags that stand nowhere else in its training data
    (Hanneman and Dinu 2020, section 4.2).
    """
    return [(symbol, symbol) for symbol in symbols(representation, numbers)]


def holds_symbol(text: str, representation: Representation | str) -> bool:
    """Tell whether a text without tags holds what would be taken for a symbol."""
    return _found(representation).pattern().search(text) is not None


def render(
    text: str,
    tags: Sequence[Mapping[str, Any]],
    side: str,
    representation: Representation | str,
) -> str:
    """Write the tags of a TAGGED row into one of its sides.

    Where tags meet, those that close come first, inner ones before outer ones, then those round
    nothing, then those that open; tags round one range nest in their given order. A tag may have
    several entries if a side has it more than once; equal entries of a side count once. Sequences
    count left to right in the source.

    Args:
        text: The side without tags; it must hold no symbol (`holds_symbol`).
        tags: Items of the column ``tags`` (`transforms.schemas.TAG`).
        side: ``source`` or ``target``.
        representation: What tags look like; not ``raw``.

    >>> tag = {"index": 7, "form": "pair", "source_start": 0, "source_end": 1}
    >>> render("a b", [tag], "source", "xliff")
    '<g id="1">a</g> b'
    """
    placed = _place(tags, side)
    first = placed if side == "source" else _place(tags, "source")
    crossing = _crossing(first) | (_crossing(placed) if side != "source" else set())
    entries = {
        tag["index"]: Entry(
            Form(tag["form"]), _CROSSING if tag["index"] in crossing else "a", None, None
        )
        for tag in tags
    }
    table = TagTable(entries, tuple(dict.fromkeys(map(mark_of, first))))
    return str(_found(representation).write(Marked(text, tuple(placed)), table))


def shield(marked: Marked, representation: Representation) -> Marked:
    """Make empty tags of all text that a representation would take for a symbol of its own.

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
    """Yield texts, each with what was found behind it; nothing behind the last."""
    done = 0
    for match in pattern.finditer(text):
        yield text[done : match.start()], match[0]
        done = match.end()
    yield text[done:], ""


def convert(
    string: str, table: TagTable, before: Representation, after: Representation
) -> tuple[str, TagTable]:
    """Turn a text from one representation into another.

    Converting back gives the same text and the same table, if the text was encoded in the first
    representation. The table changes only where text looks like a symbol of one of them.

    Args:
        string: The text.
        table: Its table.
        before: How its tags are represented.
        after: How they are to be.

    Raises:
        ConfigError: The text has a tag that its table does not know.
    """
    numbered = before.read(string, table)
    for tag in numbered.tags:
        if not tag.key:
            raise ConfigError(f"the table does not know {tag.raw!r} in {string[:200]!r}")
    literals = any(entry.name == LITERAL for entry in table.entries.values())
    if literals or table.literals or after.pattern().search(numbered.text):
        numbered, table = _shield_anew(numbered, table, after)
    return str(after.write(numbered, table)), table


def _shield_anew(
    numbered: Marked, table: TagTable, after: Representation
) -> tuple[Marked, TagTable]:
    """Turn literals into text and text into literals, as another representation needs it.

    The literals that a text was encoded with keep their numbers, for the way back. Those of any
    other representation get numbers behind all others.
    """
    pattern = after.pattern()
    plain = frozenset(
        number for number, raw in table.literals.items() if not pattern.fullmatch(raw)
    )
    added = {
        number
        for number, entry in table.entries.items()
        if entry.name == LITERAL and number not in table.literals
    }
    entries = {number: entry for number, entry in table.entries.items() if number not in added}
    order = [mark for mark in table.order if mark.number not in added]
    shielded = shield(_melt(numbered, table, added | plain), after)
    waiting = sorted((table.plain - plain) & entries.keys())
    first = following = max((mark.number for mark in order), default=-1) + 1
    tags = []
    for tag in shielded.tags:
        if tag.name != LITERAL:
            tags.append(tag)
            continue
        number = next((number for number in waiting if table.literals[number] == tag.raw), None)
        if number is None:
            number = following
            following += 1
            entries[number] = Entry(Form.SELF_CLOSING, LITERAL, tag.raw, None)
            order.append(Mark(Kind.EMPTY, number))
        else:
            waiting.remove(number)
        tags.append(numbered_tag(Kind.EMPTY, number, tag.offset))
    own = [mark for mark in table.own if mark.number not in added]
    if own:
        own += (mark_of(tag) for tag in tags if int(tag.key) >= first)
    made = TagTable(dict(sorted(entries.items())), tuple(order), table.literals, plain, tuple(own))
    return Marked(shielded.text, tuple(tags)), made


def _melt(numbered: Marked, table: TagTable, numbers: Collection[int]) -> Marked:
    """Turn some empty tags into text."""
    texts: list[str] = []
    tags: list[Tag] = []
    length = done = 0
    for tag in numbered.tags:
        texts.append(numbered.text[done : tag.offset])
        length += tag.offset - done
        done = tag.offset
        literal = table.entries[int(tag.key)].opening if int(tag.key) in numbers else None
        if literal is None:
            tags.append(dataclasses.replace(tag, offset=length))
        else:
            texts.append(literal)
            length += len(literal)
    texts.append(numbered.text[done:])
    return Marked("".join(texts), tuple(tags))


def _place(tags: Sequence[Mapping[str, Any]], side: str) -> list[Tag]:
    """Return the numbered tags of a side of a TAGGED row in their order."""
    spans = dict.fromkeys(
        (tag["index"], Form(tag["form"]), tag[f"{side}_start"], tag[f"{side}_end"]) for tag in tags
    )
    keyed = []
    for place, (number, form, start, end) in enumerate(spans):
        # Where tags meet: closing tags are 0, those round nothing 1, opening ones 2.
        round_nothing = start == end
        if form is Form.SELF_CLOSING:
            keyed.append(((start, 1, place, 0), Mark(Kind.EMPTY, number)))
        if form in (Form.PAIR, Form.OPEN):
            key = (start, 1, place, 0) if round_nothing else (start, 2, -end, place)
            keyed.append((key, Mark(Kind.OPEN, number)))
        if form in (Form.PAIR, Form.CLOSE):
            key = (start, 1, place, 1) if round_nothing else (end, 0, -start, -place)
            keyed.append((key, Mark(Kind.CLOSE, number)))
    return [numbered_tag(*mark, key[0]) for key, mark in sorted(keyed)]


def _crossing(tags: Sequence[Tag]) -> set[int]:
    """Return the numbers of pairs that cross another."""
    opened: dict[int, int] = {}
    spans = []
    for place, tag in enumerate(tags):
        kind, number = mark_of(tag)
        if kind is Kind.OPEN:
            opened[number] = place
        elif kind is Kind.CLOSE and number in opened:
            spans.append((opened.pop(number), place, number))
    return {
        number
        for start, end, first in spans
        for other_start, other_end, second in spans
        if start < other_start < end < other_end
        for number in (first, second)
    }


def _found(representation: Representation | str) -> Representation:
    return (
        find_representation(representation) if isinstance(representation, str) else representation
    )
