"""Real tags to symbols before translation, and back after it.

The text goes to the model with symbols for its tags; a table keeps what they were. What the model
makes of it comes back with each tag once, nested as in the source. Text that no model touched comes
back to the character.
"""

import dataclasses
import itertools

from transforms.markup import XML, Kind, Marked, Syntax, parse_markup
from transforms.representations import Raw, find_representation, shield
from transforms.tag_repair import Repairs, repair_tags
from transforms.tag_symbols import Representation
from transforms.tag_table import TagTable, number_pair, number_tags
from transforms.whitespace import WHITE_SPACE


@dataclasses.dataclass(frozen=True, slots=True)
class Coding:
    """How tags are encoded.

    Attributes:
        representation: What they become.
        syntax: What is a tag.
        whitespace_shift: Move the white space before opening tags behind them
            (`transforms.whitespace`), and back.
    """

    representation: Representation = dataclasses.field(
        default_factory=lambda: find_representation("indexed")
    )
    syntax: Syntax = XML
    whitespace_shift: bool = False

    def encode(self, string: str) -> tuple[str, TagTable]:
        """Return a text with symbols for its tags, and what they were.

        >>> Coding().encode('see <b id="k">page 9</b>')[0]
        'see <a_0>page 9</a_0>'
        """
        numbered, table = number_tags(self._parse(string))
        return self._write(numbered, table), table

    def encode_pair(self, source: str, target: str) -> tuple[str, str, TagTable, TagTable]:
        """Encode both sides of a pair; what is the same element has one number.

        Returns:
            The source and the target with symbols, and a table for each.
        """
        numbered_source, numbered_target, source_table, target_table = number_pair(
            self._parse(source), self._parse(target)
        )
        return (
            self._write(numbered_source, source_table),
            self._write(numbered_target, target_table),
            source_table,
            target_table,
        )

    def decode(self, string: str, table: TagTable) -> tuple[str, Repairs]:
        """Return a text with real tags for its symbols, each tag of the table once.

        >>> coding = Coding()
        >>> _, table = coding.encode("the <b>green</b> witch<br/>")
        >>> coding.decode("la bruja <a_0>verde</a_0></a_4>", table)
        ('la bruja <b>verde</b><br/>', Repairs(dropped=1, spurious=1, moved=0))
        """
        numbered = self.representation.read(string, table)
        if self.whitespace_shift:
            numbered = shift_tags(numbered)
        repaired, repairs = repair_tags(numbered, table)
        return str(Raw().write(repaired, table)), repairs

    def _parse(self, string: str) -> Marked:
        return shield(parse_markup(string, self.syntax), self.representation)

    def _write(self, numbered: Marked, table: TagTable) -> str:
        shifted = shift_tags(numbered) if self.whitespace_shift else numbered
        return str(self.representation.write(shifted, table))


def shift_tags(marked: Marked) -> Marked:
    """Move the white space before opening tags behind them, whatever the tags look like.

    Doing it twice changes nothing (`transforms.whitespace.shift_whitespace`).
    """
    borders = [0, *(tag.offset for tag in marked.tags), len(marked.text)]
    texts = [marked.text[start:end] for start, end in itertools.pairwise(borders)]
    place = 0
    while place < len(marked.tags):
        if marked.tags[place].kind is not Kind.OPEN:
            place += 1
            continue
        end = place + 1
        while (
            end < len(marked.tags)
            and marked.tags[end].kind is Kind.OPEN
            and not texts[end].strip(WHITE_SPACE)
        ):
            end += 1
        kept = texts[place].rstrip(WHITE_SPACE)
        rest = texts[end].lstrip(WHITE_SPACE)
        before = texts[place][len(kept) :]
        behind = texts[end][: len(texts[end]) - len(rest)]
        texts[place : end + 1] = [before, *texts[place + 1 : end], behind][::-1]
        texts[place] = kept + texts[place]
        texts[end] += rest
        place = end
    tags, length = [], 0
    for tag, text in zip(marked.tags, texts, strict=False):
        length += len(text)
        tags.append(dataclasses.replace(tag, offset=length))
    return Marked("".join(texts), tuple(tags))
