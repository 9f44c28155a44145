"""Encode tags as symbols before translation, and decode them afterwards.

The model gets the text with symbols for its tags; a table records the original tags. The model's
output is decoded with each tag once, nested as in the source. Text that was not changed is restored
exactly.
"""

import dataclasses
import itertools
from collections.abc import Container, Sequence

from pairweave.transforms.markup.markup import XML, Kind, Marked, Syntax, parse_markup
from pairweave.transforms.markup.tag_table import TagTable, number_pair, number_tags
from pairweave.transforms.symbols.representations import Raw, find_representation, shield
from pairweave.transforms.symbols.tag_repair import Repairs, repair_tags
from pairweave.transforms.symbols.tag_symbols import Representation
from pairweave.transforms.symbols.whitespace import shift_between, unshift_between


@dataclasses.dataclass(frozen=True, slots=True)
class Coding:
    """Settings of encoding tags.

    Attributes:
        representation: How tags are encoded.
        syntax: Syntax of tags.
        whitespace_shift: Whether white space before tags is moved after them, and back
            (`transforms.symbols.whitespace`).
    """

    representation: Representation = dataclasses.field(
        default_factory=lambda: find_representation("indexed")
    )
    syntax: Syntax = XML
    whitespace_shift: bool = False

    def encode(self, string: str) -> tuple[str, TagTable]:
        """Return a text with symbols for its tags, and the table of its tags.

        >>> Coding().encode('see <b id="k">page 9</b>')[0]
        'see <a_0>page 9</a_0>'
        """
        return self._encode(string, *number_tags(self._parse(string)))

    def encode_pair(self, source: str, target: str) -> tuple[str, str, TagTable, TagTable]:
        """Encode both sides of a pair; matching elements get the same number.

        Returns:
            The source and the target with symbols, and a table for each.
        """
        numbered, other, table, other_table = number_pair(self._parse(source), self._parse(target))
        source_string, source_table = self._encode(source, numbered, table)
        target_string, target_table = self._encode(target, other, other_table)
        return source_string, target_string, source_table, target_table

    def decode(self, string: str, table: TagTable) -> tuple[str, Repairs]:
        """Return a text with real tags for its symbols, each tag of the table once.

        >>> coding = Coding()
        >>> _, table = coding.encode("the <b>green</b> witch<br/>")
        >>> coding.decode("la bruja <a_0>verde</a_0></a_4>", table)
        ('la bruja <b>verde</b><br/>', Repairs(dropped=1, spurious=1, moved=0, spaces=0))
        """
        if table.exact is not None and string == table.exact[0]:
            return table.exact[1], Repairs()
        numbered = self.representation.read(string, table)
        spaces = 0
        if self.whitespace_shift:
            numbered, spaces = unshift_tags(numbered, table.led)
        repaired, repairs = repair_tags(numbered, table)
        return str(Raw().write(repaired, table)), dataclasses.replace(repairs, spaces=spaces)

    def _parse(self, string: str) -> Marked:
        return shield(parse_markup(string, self.syntax), self.representation)

    def _encode(self, string: str, numbered: Marked, table: TagTable) -> tuple[str, TagTable]:
        """Write a numbered text; the table contains it if its white space cannot be restored."""
        if not self.whitespace_shift:
            return str(self.representation.write(numbered, table)), table
        shifted, led = shift_tags(numbered)
        table = dataclasses.replace(table, led=led)
        encoded = str(self.representation.write(shifted, table))
        if self.decode(encoded, table) != (string, Repairs()):
            table = dataclasses.replace(table, exact=(encoded, string))
        return encoded, table


def shift_tags(marked: Marked) -> tuple[Marked, frozenset[int]]:
    """Move white space before tags after them, for tags of any form.

    Returns:
        The text, and the numbers of its tags in `transforms.symbols.whitespace.Shifted.led`.
    """
    shifted = shift_between(_texts(marked), [tag.kind is Kind.OPEN for tag in marked.tags])
    led = frozenset(int(marked.tags[place].key) for place in shifted.led if marked.tags[place].key)
    return _with_texts(marked, shifted.texts), led


def unshift_tags(marked: Marked, led: Container[int]) -> tuple[Marked, int]:
    """Undo `shift_tags`, wherever a model followed it.

    Args:
        marked: A text with numbered tags; those without a key are unknown.
        led: The numbers that `shift_tags` returned for the source.

    Returns:
        The text, and the number of runs of tags that were not shifted
        (`transforms.symbols.whitespace.Unshifted`).
    """
    leads = [
        tag.kind is Kind.OPEN or (bool(tag.key) and int(tag.key) in led) for tag in marked.tags
    ]
    unshifted = unshift_between(_texts(marked), leads)
    return _with_texts(marked, unshifted.texts), unshifted.mended


def _texts(marked: Marked) -> list[str]:
    borders = [0, *(tag.offset for tag in marked.tags), len(marked.text)]
    return [marked.text[start:end] for start, end in itertools.pairwise(borders)]


def _with_texts(marked: Marked, texts: Sequence[str]) -> Marked:
    offsets = itertools.accumulate(map(len, texts))
    tags = tuple(
        dataclasses.replace(tag, offset=offset)
        for tag, offset in zip(marked.tags, offsets, strict=False)
    )
    return Marked("".join(texts), tags)
