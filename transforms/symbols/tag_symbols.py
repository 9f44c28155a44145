"""Write numbered tags as symbols for a translation model, and read them back.

Each representation turns the numbered tags of a text (`transforms.markup.tag_table`) into symbols,
and uses the table of the tags to find the symbols in a text again.
"""

import abc
import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import ClassVar

from pairweave.transforms.indexed_tag import WRITTEN_TAG
from pairweave.transforms.kernels.tags import tag_names
from pairweave.transforms.markup.markup import Kind, Marked, Tag, kind_of
from pairweave.transforms.markup.tag_table import Mark, TagTable, indexed_tag, mark_of, numbered_tag
from pairweave.transforms.symbols.tag_template import Template

_ALL_KINDS = (Kind.OPEN, Kind.CLOSE, Kind.EMPTY)


class Representation(abc.ABC):
    """A way of writing tags.

    Attributes:
        name: Its name in options.
        way: Naming scheme of its tags, by the order of all tags of a pair
            (`transforms.kernels.tags.tag_names`); None if tags are named by their numbers.
        parted_from: Characters that must be separated from a symbol by an underscore.
    """

    name: ClassVar[str]
    way: ClassVar[int | None] = None
    parted_from: ClassVar[str] = ""

    @abc.abstractmethod
    def symbols(self, numbers: int) -> list[str]:
        """Return the symbols of this many elements of each form, each symbol once."""

    def symbol(self, use: int, number: int) -> str:
        """Return the symbol of a use and number from `transforms.kernels.tags.tag_names.name_tags`.

        Without a `way`, ``use`` is a kind and ``number`` the tag's own.
        """
        raise NotImplementedError

    @abc.abstractmethod
    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches every symbol, and nothing else."""

    @abc.abstractmethod
    def write(self, marked: Marked, table: TagTable) -> Marked:
        """Return numbered tags as symbols: ``str`` of the result is the text with them."""

    @abc.abstractmethod
    def read(self, string: str, table: TagTable) -> Marked:
        """Return a text with numbered tags in place of its symbols.

        A symbol that is not in the table becomes a tag with an empty key.
        """

    def to_json(self) -> str | list[str]:
        """Return the argument with which `representations.find_representation` returns this."""
        return self.name


class Symbolic(Representation):
    """A representation in which each symbol identifies its tag by itself.

    The pattern has a group ``close`` that matches in closing tags, and one ``empty`` in empty ones.
    """

    @abc.abstractmethod
    def symbols_of(self, table: TagTable) -> dict[Mark, str]:
        """Return the symbols of all tags."""

    def write(self, marked: Marked, table: TagTable) -> Marked:
        """Return numbered tags as symbols."""
        symbols = self.symbols_of(table)
        return with_symbols(marked, [symbols[mark_of(tag)] for tag in marked.tags])

    def read(self, string: str, table: TagTable) -> Marked:
        """Return a text with numbered tags in place of its symbols."""
        marks = {symbol: mark for mark, symbol in self.symbols_of(table).items()}
        return read_symbols(
            string, self.pattern(), lambda match: (kind_of(match), marks.get(match[0]))
        )


class Indexed(Symbolic):
    """Tags with their numbers: ``<a_0>``, ``</a_0>``, ``<a_1/>`` (Ryu et al. 2022, section 3.4)."""

    name = "indexed"

    def symbols(self, numbers: int) -> list[str]:
        """Return ``<a_0>`` and so on, ``</a_0>`` and so on, ``<a_0/>`` and so on."""
        return [indexed_tag(kind, number) for kind in _ALL_KINDS for number in range(numbers)]

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches every symbol."""
        return WRITTEN_TAG

    def symbol(self, use: int, number: int) -> str:
        """Return the tag of a kind and a number."""
        return indexed_tag(_ALL_KINDS[use], number)

    def symbols_of(self, table: TagTable) -> dict[Mark, str]:
        """Return the symbols of all tags."""
        return {mark: indexed_tag(*mark) for mark in table.written}


@dataclasses.dataclass(frozen=True)
class Templated(Symbolic):
    """Tags with their numbers, in a form that the user defines.

    Attributes:
        template: The forms.
    """

    template: Template
    name = "template"

    def symbols(self, numbers: int) -> list[str]:
        """Return all opening, then all closing, then all empty symbols."""
        return [
            self.template.fill(kind, number) for kind in _ALL_KINDS for number in range(numbers)
        ]

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches every symbol."""
        return self.template.pattern

    def symbol(self, use: int, number: int) -> str:
        """Return the symbol of a kind and a number."""
        return self.template.fill(_ALL_KINDS[use], number)

    def symbols_of(self, table: TagTable) -> dict[Mark, str]:
        """Return the symbols of all tags."""
        return {mark: self.template.fill(*mark) for mark in table.written}

    def to_json(self) -> str | list[str]:
        """Return the three forms."""
        return list(self.template.forms)


class Masked(Symbolic):
    """A placeholder for each kind of tag, with its own sequence (``XLF_OPENG,1``).

    Hanneman and Dinu (2020), section 4.2 and figure 2: five names, with separate ones for the
    opening and the closing tag of a pair; sequences count from 1, left to right in the source. If a
    digit or an underscore follows, an underscore separates it from the placeholder; the paper
    leaves this to its tokenizer.
    """

    name = "masked"
    way = tag_names.MASKED
    parted_from = "_0123456789"
    _NAMES: ClassVar = ("OPENG", "CLOSEG", "X", "BX", "EX")
    _PATTERN: ClassVar = re.compile(
        r"XLF_(?:OPENG|(?P<close>CLOSEG|EX)|(?P<empty>X)|BX),[1-9][0-9]*_?"
    )

    def symbols(self, numbers: int) -> list[str]:
        """Return the placeholders, name by name."""
        return [f"XLF_{name},{number + 1}" for name in self._NAMES for number in range(numbers)]

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches every placeholder, with the underscore after it."""
        return self._PATTERN

    def symbol(self, use: int, number: int) -> str:
        """Return the placeholder of a name and a sequence from 0."""
        return f"XLF_{self._NAMES[use]},{number + 1}"

    def symbols_of(self, table: TagTable) -> dict[Mark, str]:
        """Return the placeholders of all tags."""
        counts: dict[str, int] = {}
        symbols = {}
        for mark in table.written:
            name = self._name(mark, table)
            counts[name] = counts.get(name, 0) + 1
            symbols[mark] = f"XLF_{name},{counts[name]}"
        return symbols

    def write(self, marked: Marked, table: TagTable) -> Marked:
        """Return numbered tags as placeholders, separated from digits."""
        written = super().write(marked, table).tags
        symbols = []
        for place, tag in enumerate(written):
            joined = place + 1 < len(written) and written[place + 1].offset == tag.offset
            following = "" if joined else marked.text[tag.offset : tag.offset + 1]
            parted = following in {*self.parted_from}
            symbols.append(tag.raw + "_" * parted)
        return with_symbols(marked, symbols)

    def read(self, string: str, table: TagTable) -> Marked:
        """Return a text with numbered tags in place of its placeholders."""
        marks = {symbol: mark for mark, symbol in self.symbols_of(table).items()}
        return read_symbols(
            string,
            self._PATTERN,
            lambda match: (kind_of(match), marks.get(match[0].removesuffix("_"))),
        )

    def _name(self, mark: Mark, table: TagTable) -> str:
        if mark.kind is Kind.EMPTY:
            return "X"
        if mark.number in table.spans and mark.number not in table.halved:
            return "OPENG" if mark.kind is Kind.OPEN else "CLOSEG"
        return "BX" if mark.kind is Kind.OPEN else "EX"


class Html(Symbolic):
    """Elements of HTML: the first pair is ``<b>``, the first empty tag ``<br>``, and so on.

    ``<s>`` is not used: in subword models it marks the start of a sentence. After the last name, a
    pair is a custom element ``<x-20>`` and an empty tag ``<br id="4">``, numbered by the pairs or
    empty tags before it. Half a pair is one tag of a pair.
    """

    name = "html"
    way = tag_names.HTML
    _PAIRS: ClassVar = (
        *("b", "i", "a", "span", "u", "em", "strong", "code", "sub", "sup"),
        *("small", "mark", "q", "del", "cite", "abbr", "kbd", "var", "samp", "dfn"),
    )
    _EMPTY: ClassVar = ("br", "img", "wbr", "hr")
    _PATTERN: ClassVar = re.compile(
        rf"<(?:(?P<close>/)?(?:{'|'.join(_PAIRS)}|x-(?:[2-9][0-9]|[1-9][0-9]{{2,}}))"
        rf'|(?P<empty>{"|".join(_EMPTY)}|br id="(?:[4-9]|[1-9][0-9]+)"))>'
    )

    def symbols(self, numbers: int) -> list[str]:
        """Return all opening, then all closing, then all empty tags."""
        return [self._tag(kind, number) for kind in _ALL_KINDS for number in range(numbers)]

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches every tag."""
        return self._PATTERN

    def symbol(self, use: int, number: int) -> str:
        """Return the tag of a kind, by the number of such elements before it."""
        return self._tag(_ALL_KINDS[use], number)

    def symbols_of(self, table: TagTable) -> dict[Mark, str]:
        """Return the symbols of all tags."""
        counts: dict[int, int] = {}
        following = {True: 0, False: 0}
        for mark in table.written:
            if mark.number not in counts:
                empty = mark.kind is Kind.EMPTY
                counts[mark.number] = following[empty]
                following[empty] += 1
        return {mark: self._tag(mark.kind, counts[mark.number]) for mark in table.written}

    def _tag(self, kind: Kind, count: int) -> str:
        if kind is Kind.EMPTY:
            return f"<{self._EMPTY[count]}>" if count < len(self._EMPTY) else f'<br id="{count}">'
        name = self._PAIRS[count] if count < len(self._PAIRS) else f"x-{count}"
        return f"<{'/' * (kind is Kind.CLOSE)}{name}>"


def with_symbols(marked: Marked, symbols: Sequence[str]) -> Marked:
    """Return a text with its tags replaced by symbols."""
    pairs = zip(marked.tags, symbols, strict=True)
    return Marked(marked.text, tuple(dataclasses.replace(tag, raw=symbol) for tag, symbol in pairs))


def read_symbols(
    string: str,
    pattern: re.Pattern[str],
    facts: Callable[[re.Match[str]], tuple[Kind, Mark | None]],
) -> Marked:
    """Return a text with numbered tags in place of its symbols.

    Args:
        string: The text with symbols.
        pattern: Matches symbols.
        facts: Returns the kind of a symbol, and its tag if there is one; called for every symbol,
            left to right.
    """
    texts, tags, done, offset = [], [], 0, 0
    for match in pattern.finditer(string):
        before = string[done : match.start()]
        texts.append(before)
        offset += len(before)
        kind, mark = facts(match)
        tags.append(
            Tag(kind, "", "", match[0], offset) if mark is None else numbered_tag(*mark, offset)
        )
        done = match.end()
    texts.append(string[done:])
    return Marked("".join(texts), tuple(tags))
