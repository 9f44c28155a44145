"""Links between the words of exported lines, as Pharaoh text.

A run that keeps its links (`transforms.links.kept_links`) stores them as ranges of code points in
the untagged texts. Here they become numbers of words in an exported line, which includes tags.
"""

import bisect
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import pyarrow as pa

from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.kept_links import COLUMN
from pairweave.transforms.text.iso_languages import primary_tag
from pairweave.transforms.text.moses_words import MosesWords

ExportWords = Literal["whitespace", "moses"]

_WORD = re.compile(r"\S+")  # the words of Python's str.split


class Word(NamedTuple):
    """A word of an exported line.

    Attributes:
        text: Its characters.
        start: Its start in the untagged text, in code points.
        end: Its end there; a tag has no length.
        tagged: Whether it is or contains a tag.
    """

    text: str
    start: int
    end: int
    tagged: bool


Cut = Callable[[str, str], list[Word]]
"""Splits an exported text, given its language, into words."""


def find_cut(words: ExportWords, tags: re.Pattern[str], *, shifted: bool = False) -> Cut:
    """Return a function that splits exported texts into words.

    Args:
        words: ``whitespace``: split at white space, so that a tag belongs to the adjacent word.
            ``moses``: Moses words, with each tag as a word.
        tags: Pattern of tags.
        shifted: Whether white space was shifted (`transforms.symbols.whitespace`).
    """

    def cut(text: str, language: str) -> list[Word]:
        if words == "moses":
            pieces = cut_moses(text, tags, _moses(language))
        else:
            pieces = cut_whitespace(text, tags)
        if not (shifted and has_added_space(text, tags)):
            return pieces
        # The added space is before the first word, so all offsets are too large by one.
        return [word._replace(start=word.start - 1, end=word.end - 1) for word in pieces]

    return cut


def has_added_space(text: str, tags: re.Pattern[str]) -> bool:
    """Return True if the shift added a space before the first word, after tags at the start.

    >>> has_added_space("<b> The</b> witch", re.compile("</?b>"))
    True
    """
    at = len(text) - len(text.lstrip())
    run = first = tags.match(text, at)
    while run is not None:
        at = run.end()
        run = tags.match(text, at + len(text[at:]) - len(text[at:].lstrip()))
    return first is not None and text[at : at + 1] == " "


def _moses(language: str) -> MosesWords:
    return MosesWords(primary_tag(language))


def cut_whitespace(text: str, tags: re.Pattern[str]) -> list[Word]:
    """Split a text at white space.

    >>> cut_whitespace("a <b>c</b>.", re.compile("</?b>"))[1]
    Word(text='<b>c</b>.', start=2, end=4, tagged=True)
    """
    marks = [match.span() for match in tags.finditer(text)]
    starts = [start for start, _ in marks]
    whole = [0, *itertools.accumulate(end - start for start, end in marks)]

    def tag_characters(at: int) -> int:
        """Count the characters of tags before an offset in the text."""
        last = bisect.bisect_left(starts, at) - 1
        return 0 if last < 0 else whole[last] + min(marks[last][1], at) - starts[last]

    words = []
    for match in _WORD.finditer(text):
        before, behind = tag_characters(match.start()), tag_characters(match.end())
        places = match.start() - before, match.end() - behind
        words.append(Word(match[0], *places, tagged=behind > before))
    return words


def cut_moses(text: str, tags: re.Pattern[str], moses: MosesWords) -> list[Word]:
    """Split a text into Moses words and tags; a tag inside a word splits it."""
    plain = tags.sub("", text)
    offsets, taken = [], 0
    for match in tags.finditer(text):
        offsets.append((match.start() - taken, match[0]))
        taken += match.end() - match.start()
    # Moses makes a word of a text that consists of blanks only.
    tokens = moses(plain).split() if plain.strip() else []
    cuts = sorted({offset for offset, _ in offsets})
    words = [
        Word(plain[start:end], start, end, tagged=False)
        for start, end in _parted(_spans(plain, tokens), cuts)
    ]
    # Readers split lines at blanks, and so also split a tag that contains some.
    words += [
        Word(part, offset, offset, tagged=True) for offset, tag in offsets for part in tag.split()
    ]
    # Tags at the same place keep their order and precede the word that begins there.
    return sorted(words, key=lambda word: (word.start, not word.tagged))


def _spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the spans of words in a text; words may lack its blanks and control characters."""
    spans, at = [], 0
    for word in words:
        start = text.index(word[0], at)
        at = start
        for character in word:
            at = text.index(character, at) + 1
        spans.append((start, at))
    return spans


def _parted(spans: Sequence[tuple[int, int]], cuts: Sequence[int]) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] = []
    for start, end in spans:
        borders = [start, *(cut for cut in cuts if start < cut < end), end]
        parts += itertools.pairwise(borders)
    return parts


def line_links(
    source: Sequence[Word], target: Sequence[Word], links: Sequence[Mapping[str, int]]
) -> list[tuple[int, int]]:
    """Return the links of a line's words, sorted: (source word, target word).

    A word that contains both a tag and text has no links, so that a trainer that replaces linked
    words loses no tags. A tag that is a word of its own is linked to the same tag on the other
    side if it occurs once on each.

    Args:
        source: The words of the source.
        target: The words of the target.
        links: Linked ranges of the untagged texts (`transforms.schemas.WORD_LINK`).
    """
    linked = set(_tag_links(source, target))
    sides = [_by_character(words) for words in (source, target)]
    for link in links:
        one, other = (
            {
                at[place]
                for place in range(link[f"{side}_start"], link[f"{side}_end"])
                if place in at
            }
            for side, at in zip(("source", "target"), sides, strict=True)
        )
        linked.update(itertools.product(one, other))
    return sorted(linked)


def _by_character(words: Sequence[Word]) -> dict[int, int]:
    """Map each code point of an untagged word to the number of that word."""
    return {
        place: number
        for number, word in enumerate(words)
        if not word.tagged
        for place in range(word.start, word.end)
    }


def _tag_links(source: Sequence[Word], target: Sequence[Word]) -> list[tuple[int, int]]:
    sides = []
    for words in (source, target):
        tags = [
            (word.text, number)
            for number, word in enumerate(words)
            if word.tagged and word.start == word.end
        ]
        names = [name for name, _ in tags]
        sides.append({name: number for name, number in tags if names.count(name) == 1})
    return [(sides[0][name], sides[1][name]) for name in sides[0].keys() & sides[1].keys()]


def add_links(batch: pa.RecordBatch, words: ExportWords, cut: Cut) -> pa.RecordBatch:
    """Add a column ``links`` of Pharaoh text to rows; for Moses words, separate words with blanks.

    Args:
        batch: Rows of ``augment`` that keep their links.
        words: The kind of words.
        cut: Splits a text into these words.

    Raises:
        ConfigError: The run has no links.
    """
    if COLUMN not in batch.schema.names:
        raise ConfigError(
            "the run has no links: repeat it with augment --keep_links true, or export it with "
            "--alignment none"
        )
    texts: dict[str, list[str]] = {"source": [], "target": [], "links": []}
    columns = ("source", "target", "source_lang", "target_lang", COLUMN)
    for row in batch.select(columns).to_pylist():
        sides = [cut(row[side], row[f"{side}_lang"]) for side in ("source", "target")]
        pairs = line_links(sides[0], sides[1], row[COLUMN])
        texts["links"].append(" ".join(f"{i}-{j}" for i, j in pairs))
        for side, side_words in zip(("source", "target"), sides, strict=True):
            texts[side].append(" ".join(word.text for word in side_words))
    if words == "moses":
        for side in ("source", "target"):
            batch = replaced(batch, side, pa.array(texts[side]))
    return batch.append_column("links", pa.array(texts["links"], pa.string()))
