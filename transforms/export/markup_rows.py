"""Convert rows of a finished run to pairs with inline markup, ready for an XML format."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.parsers import expat

import pyarrow as pa

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.unshifted_rows import unshifted
from pairweave.transforms.markup.markup import (
    INDEXED,
    NATIVE_CODES,
    Form,
    Tag,
    is_nested,
    parse_markup,
)
from pairweave.transforms.markup.pair_markup import PairMarkup, SideTag, pair_markup
from pairweave.transforms.markup.segments import escape_text

SIDES = ("source", "target")

# Characters that XML 1.0 cannot represent, not even as references.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NATIVE = re.compile(r"</?([A-Za-z][\w.\-]*)[\s/>]")


@dataclasses.dataclass(frozen=True, slots=True)
class MarkupRow:
    """A pair to write.

    Attributes:
        id: The pair's id.
        variant: Number of the row within its pair.
        langs: Source and target language.
        corpus: The corpus.
        texts: Source and target without tags.
        markup: Their tags; none for a plain pair.
    """

    id: str
    variant: int
    langs: tuple[str, str]
    corpus: str
    texts: tuple[str, str]
    markup: PairMarkup

    @property
    def name(self) -> str:
        """Return the unique name of the row."""
        return f"{self.id}-{self.variant}"

    def side_tags(self, side: str) -> Sequence[SideTag]:
        """Return the tags of ``source`` or ``target``."""
        return self.markup.source if side == "source" else self.markup.target

    def nests(self) -> bool:
        """Return True if on both sides any two pairs of tags are nested or disjoint."""
        return all(
            is_nested(
                [
                    Tag(tag.kind, "", str(tag.element), "", tag.offset)
                    for tag in self.side_tags(side)
                    if self.markup.elements[tag.element].form is Form.PAIR
                ]
            )
            for side in SIDES
        )

    def is_native(
        self, names: frozenset[str], needed: str, is_own: Callable[[str], bool] | None = None
    ) -> bool:
        """Return True if all tags are already inline elements of a format.

        Args:
            names: Names of the format's inline elements.
            needed: Regular expression that the first tag of each element must match.
            is_own: Tells whether a tag with one of these names is one of the format, and not one of
                another format with the same names; None if there is no such other format.
        """
        for side in SIDES:
            seen = set()
            for tag in self.side_tags(side):
                match = _NATIVE.match(tag.raw)
                if match is None or match[1] not in names:
                    return False
                if is_own is not None and not is_own(tag.raw):
                    return False
                whole = tag.raw.endswith(("/>", f"</{match[1]}>")) and tag.raw[1] != "/"
                if (match[1] in NATIVE_CODES) != whole:
                    return False
                if tag.element not in seen and not re.search(needed, tag.raw):
                    return False
                seen.add(tag.element)
        # Tags that were characters in a text may be malformed XML or badly nested, and the prefixes
        # of tags may be declared at the root of the document that was read.
        return all(_is_content(self.xml(side, lambda tag: tag.raw)) for side in SIDES)

    def xml(self, side: str, written: Callable[[SideTag], str]) -> str:
        """Return a side as XML content.

        Raises:
            ConfigError: It contains a character that XML cannot represent.
        """
        text = self.texts[SIDES.index(side)]
        if reason := not_xml(side, text):
            raise ConfigError(f"pair {self.id}: {reason}; export the run in another format")
        parts, done = [], 0
        for tag in self.side_tags(side):
            parts += [escape_text(text[done : tag.offset]), written(tag)]
            done = tag.offset
        return "".join([*parts, escape_text(text[done:])])


def not_xml(side: str, text: str) -> str | None:
    """Return why XML cannot represent a text of a side, or None."""
    character = _NOT_XML.search(text)
    return character and f"the {side} contains U+{ord(character[0]):04X}, which XML does not allow"


def _is_content(content: str) -> bool:
    """Return True if a string is well-formed XML content without undefined entities or prefixes."""
    parser = expat.ParserCreate("utf-8", " ")
    try:
        parser.Parse(f"<x>{content}</x>".encode(), True)  # noqa: FBT003 - takes no keyword
    except expat.ExpatError:
        return False
    return True


def native_code(tag: SideTag) -> str:
    """Return the original text of a tag, escaped as XML content; "" for an indexed tag."""
    return "" if parse_markup(tag.raw, INDEXED).tags else escape_text(tag.raw)


def markup_rows(
    batches: Iterable[pa.RecordBatch], rows: str = "tagged", *, shifted: bool = False
) -> Iterator[MarkupRow]:
    """Yield rows of `transforms.schemas.TAGGED`, `TAGGED_MARKUP` or `ALIGNED` to write.

    Args:
        batches: The rows, with indexed tags.
        rows: ``tagged``: rows with tags; ``plain``: rows without; ``all``. All rows of ALIGNED
            are plain.
        shifted: Whether the run shifted white space (`transforms.symbols.whitespace`).
    """
    for batch in batches:
        for row in batch.to_pylist():
            kind = row.get("kind", "plain")
            if rows in ("all", kind):
                yield _row(row, shifted=shifted)


def _row(row: Mapping[str, Any], *, shifted: bool) -> MarkupRow:
    texts = [row[side] for side in SIDES]
    if row.get("kind") == "tagged":
        marked = [
            unshifted(row, side) if shifted else parse_markup(row[side], INDEXED) for side in SIDES
        ]
        texts = [side.text for side in marked]
        line = row.get("markup")
        markup = PairMarkup.from_json(line) if line is not None else pair_markup(*marked)
    else:
        markup = PairMarkup((), (), ())
    return MarkupRow(
        row["id"],
        row.get("variant", 0),
        (row["source_lang"], row["target_lang"]),
        row["corpus"],
        (texts[0], texts[1]),
        markup,
    )
