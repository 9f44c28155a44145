"""PHRASES rows to TAGGED rows: indexed inline tags round phrase pairs (Ryu et al. 2022)."""

import dataclasses
import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms import codepoints, ids, schemas
from transforms.choices import require_choice
from transforms.errors import ConfigError
from transforms.flat_lists import chunk_of, fields_of, list_column
from transforms.flat_texts import text_column, texts_of
from transforms.kernels import sampling
from transforms.kernels import tags as kernel
from transforms.tokens import word_counts

TAG_PATTERN = r"</?a_[0-9]>"
"""An opening or a closing tag."""

NESTINGS = ("proper", "free")

# RE2: scripts that put no spaces between words.
_UNSPACED = r"\p{Han}|\p{Hiragana}|\p{Katakana}|\p{Thai}|\p{Lao}|\p{Khmer}|\p{Myanmar}"

# So that 0.3 of 10 words is 3, though 0.3 * 10 may come out a little above or below it.
_ROUNDING = 1e-9

_MOST_ROWS = 1 << 20
"""Rows made at a time, so that their text fits a column."""


@dataclasses.dataclass(frozen=True, slots=True)
class TagConfig:
    """How tags are injected.

    Attributes:
        max_tags: Most tags in a row, 1 to 9 (Ryu et al. 2022, section 3.4: 9).
        tag_share: A row has fewer tags than this share of its words (section 2.3: 0.3).
        nesting: ``proper``: two tags are apart on both sides, or one holds the other on both.
            ``free``: they may cross (the paper's "violating HTML syntax").
        mix: Tagged rows to one plain row; 0 for plain rows only, inf for tagged rows only.
        variants: Tagged rows made of one pair.
        whitespace_shift: Move the white space before an opening tag behind it
            (`transforms.whitespace`).
        words: What the share is of: ``words``, or ``whitespace`` for text that is already
            tokenised (`transforms.tokens.word_counts`).
        seed: The run's seed.
    """

    max_tags: int = kernel.MOST_TAGS
    tag_share: float = 0.3
    nesting: str = "proper"
    mix: float = 1.0
    variants: int = 1
    whitespace_shift: bool = False
    words: str = "words"
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.max_tags <= kernel.MOST_TAGS:
            raise ConfigError(f"max_tags must be 1 to {kernel.MOST_TAGS}, got {self.max_tags}")
        if not 0 < self.tag_share <= 1:
            raise ConfigError(f"tag_share must be over 0 and at most 1, got {self.tag_share}")
        require_choice("nesting", self.nesting, NESTINGS)
        if not self.mix >= 0:
            raise ConfigError(f"mix must be 0 or more, got {self.mix}")
        if not 1 <= self.variants <= 100:
            raise ConfigError(f"variants must be 1 to 100, got {self.variants}")
        require_choice("words", self.words, ("words", "whitespace"))
        if not 0 <= self.seed < 1 << 63:
            raise ConfigError(f"seed must be 0 to {(1 << 63) - 1}, got {self.seed}")

    @property
    def tagged_share(self) -> float:
        """Return the share of pairs that get tagged rows."""
        return min(1.0, self.mix / self.variants)

    @property
    def plain_share(self) -> float:
        """Return the share of pairs that get a plain row."""
        return 1.0 if self.mix <= self.variants else self.variants / self.mix


class TagSpan(NamedTuple):
    """A tag of one text.

    Attributes:
        number: Its number.
        start: Where it opens, in code points of the text without tags.
        end: Where it closes.
    """

    number: int
    start: int
    end: int


def inject_tags(table: pa.Table, config: TagConfig) -> tuple[pa.Table, np.ndarray]:
    """Turn PHRASES rows into TAGGED rows, in the same order of pairs, then by variant.

    Of every pair, a hash decides whether it gets tagged rows and whether it gets a plain one. With
    a mix of tagged to plain rows, a share ``min(1, mix / variants)`` of the pairs gets
    ``variants`` tagged rows each, and a share ``min(1, variants / mix)`` gets a plain row. One
    hash decides both, so the pairs that a mix tags are among those that a larger mix tags.

    A tagged row has 1 to K tags, each number as likely, where K is the largest integer below
    ``tag_share`` times the words of its shorter side, and at most ``max_tags``; fewer where the
    phrase pairs do not nest. If K is 0 or there is no phrase pair, the pair has no tagged row. A
    pair left without any row, which can only be one whose plain row the mix did not want, is to be
    rejected (`Reject.NO_PHRASE_PAIR`).

    A tag opens before the first code point of its phrase and closes after the last, so the text
    without its tags is the original. A later variant that would repeat an earlier one is drawn anew
    and, if there is no other, left out (`transforms.kernels.tags.choose_tags`). All draws depend on
    the seed, the pair and the variant alone.

    Args:
        table: Pairs with phrase pairs (`transforms.schemas.PHRASES`), whose tokens neither begin
            nor end with white space.
        config: How tags are injected.

    Returns:
        The rows (`transforms.schemas.TAGGED`), and which pairs have none, bool ``[pair]``.
    """
    schemas.require(table, schemas.PHRASES)
    made = max(1, _MOST_ROWS // (config.variants + 1))
    parts = [_inject(table[start : start + made], config) for start in range(0, len(table), made)]
    if not parts:
        return schemas.TAGGED.empty_table(), np.zeros(0, np.bool_)
    tables, without = zip(*parts, strict=True)
    return pa.concat_tables(tables), np.concatenate(without)


def _inject(table: pa.Table, config: TagConfig) -> tuple[pa.Table, np.ndarray]:
    seed = np.uint64(config.seed)
    keys = ids.pair_keys(table.column("id"))
    phrase_offsets, phrase_fields = fields_of(table.column("phrases"))
    boxes = np.stack(
        [
            phrase_fields[f"{side}_{end}"]
            for side in ("source", "target")
            for end in ("start", "end")
        ]
    )
    row_pair, row_variant, row_tags, phrases, numbers = kernel.choose_tags(
        seed,
        keys,
        _limits(table, config),
        sampling.picked(seed, keys, sampling.STEP_MIX, np.float64(config.plain_share)),
        sampling.picked(seed, keys, sampling.STEP_MIX, np.float64(config.tagged_share)),
        phrase_offsets,
        boxes,
        config.variants,
        int(config.nesting == "free"),
    )
    tag_pair = np.repeat(row_pair, np.diff(row_tags))
    fields = {"index": numbers, "form": pa.repeat("pair", len(numbers))}
    texts = {}
    for place, side in ((0, "source"), (2, "target")):
        opens, closes = _borders(
            table.column(f"{side}_tokens"),
            tag_pair,
            boxes[place, phrases],
            boxes[place + 1, phrases],
        )
        fields |= {f"{side}_start": opens, f"{side}_end": closes}
        texts[side] = text_column(
            *kernel.insert_tags(
                *texts_of(table.column(side)),
                row_pair,
                row_tags,
                opens,
                closes,
                numbers,
                int(config.whitespace_shift),
                codepoints.properties(),
            )
        )
    pairs = pa.array(row_pair)
    columns = {
        **{name: chunk_of(table.column(name)).take(pairs) for name in _KEPT},
        **texts,
        "variant": pa.array(row_variant),
        "kind": pa.array(["plain", "tagged"]).take(pa.array((row_variant > 0).astype(np.int8))),
        "tags": list_column(row_tags, fields, schemas.list_of(schemas.TAG)),
    }
    rows = pa.table([columns[name] for name in schemas.TAGGED.names], schema=schemas.TAGGED)
    return rows, np.bincount(row_pair, minlength=len(keys)) == 0


_KEPT = ("id", "source_lang", "target_lang", "corpus")


def _limits(table: pa.Table, config: TagConfig) -> np.ndarray:
    """Return the most tags that each pair may have, int64 ``[pair]``."""
    words = np.minimum(*(_words(table, side, config) for side in ("source", "target")))
    below = np.ceil(words * config.tag_share - _ROUNDING).astype(np.int64) - 1
    return np.clip(below, 0, config.max_tags)


def _words(table: pa.Table, side: str, config: TagConfig) -> np.ndarray:
    """Count the words of a side, int64 ``[pair]``.

    A compound with hyphens or an elided article counts as one word with what it is written
    together with, so that the share holds by any reader's count; scripts that are written without
    spaces count the words inside.
    """
    texts = table.column(side)
    words = word_counts(texts, config.words, table.column(f"{side}_lang"))
    if config.words == "whitespace":
        return words
    unspaced = pc.match_substring_regex(texts, _UNSPACED).to_numpy()
    between_spaces = word_counts(texts, "whitespace")
    return np.where(unspaced, words, np.minimum(words, between_spaces))


def _borders(
    tokens: pa.ChunkedArray, tag_pair: np.ndarray, first: np.ndarray, behind: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return where phrases of tokens begin and end, in code points, int32 ``[tag]`` each."""
    offsets, fields = fields_of(tokens)
    start = offsets[tag_pair]
    return fields["start"][start + first], fields["end"][start + behind - 1]


def symbols(config: TagConfig) -> list[str]:
    """Return all tags that a run may write: what a subword model must not split.

    >>> symbols(TagConfig())[::10]
    ['<a_0>', '</a_0>']
    """
    del config  # every number may be drawn, however few tags a row has
    return [f"<{slash}a_{index}>" for slash in ("", "/") for index in range(kernel.INDICES)]


def strip_tags(text: str) -> str:
    """Return a text without its tags.

    >>> strip_tags("the <a_3>green witch</a_3> .")
    'the green witch .'
    """
    return re.sub(TAG_PATTERN, "", text)


def parse_tags(text: str) -> tuple[str, list[TagSpan]]:
    """Return a text without its tags, and the tags by where they open, outer ones first.

    Tags may cross. White space that was shifted must be put back before
    (`transforms.whitespace.unshift_whitespace`).

    Raises:
        ValueError: A tag is opened twice, closed without being open, or never closed.

    >>> parse_tags("<a_4>a <a_0>b</a_0></a_4>")
    ('a b', [TagSpan(number=4, start=0, end=3), TagSpan(number=0, start=2, end=3)])
    """
    parts: list[str] = []
    length = 0
    done = 0
    opened: dict[int, tuple[int, int]] = {}
    spans: list[tuple[int, int, int, TagSpan]] = []
    for order, match in enumerate(re.finditer(TAG_PATTERN, text)):
        parts.append(text[done : match.start()])
        length += match.start() - done
        done = match.end()
        tag = match.group()
        number = int(tag[-2])
        if tag[1] != "/":
            if number in opened or any(span.number == number for *_, span in spans):
                raise ValueError(f"{tag} stands twice in {text!r}")
            opened[number] = order, length
            continue
        if number not in opened:
            raise ValueError(f"{tag} closes what is not open in {text!r}")
        opening, start = opened.pop(number)
        spans.append((start, -length, opening, TagSpan(number, start, length)))
    if opened:
        raise ValueError(f"<a_{next(iter(opened))}> is never closed in {text!r}")
    parts.append(text[done:])
    return "".join(parts), [span for *_, span in sorted(spans)]
