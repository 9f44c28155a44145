"""Turn PHRASES rows into TAGGED rows: indexed inline tags around phrase pairs (Ryu et al. 2022)."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow.flat_columns import (
    chunk_of,
    fields_of,
    list_column,
    text_column,
    texts_of,
)
from pairweave.transforms.indexed_tag import (
    INDICES,
    OPENING_PATTERN,
)
from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.tags import tag_shapes, tag_text
from pairweave.transforms.kernels.tags import tags as kernel
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.kernels.tags.tag_draws import Shape
from pairweave.transforms.kernels.tags.tag_names import draw_tag_ids
from pairweave.transforms.links.confidence import weights_of
from pairweave.transforms.markup.own_markup import keep_whole, keep_wordlike
from pairweave.transforms.symbols.whitespace import shift_whitespace
from pairweave.transforms.tags.named_tags import name_rows
from pairweave.transforms.tags.sound_phrases import keep_sound
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_measures import Ruler
from pairweave.transforms.tags.tag_profile import TagProfile, shape_of
from pairweave.transforms.tags.tag_rendering import render_columns, symbols_of
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.whole_words import spaced_word_counts, word_counts

# Makes 0.3 of 10 words 3, although 0.3 * 10 may be slightly more or less in floating point.
_ROUNDING = 1e-9

_MAX_ROWS = 1 << 20
"""Number of rows to make at a time, so that their text fits in one column."""

# RE2: the tags at the start of a text, after which `transforms.symbols.whitespace` adds a space.
_FIRST_TAGS = f"^((?:{OPENING_PATTERN})+)"

_KEPT = ("id", "source_lang", "target_lang", "corpus")

# By form code; an empty pair is a pair.
_FORMS = pa.array(["pair", "self_closing", "self_closing", "open", "close", "pair", "pair"])
_AT_START = np.array([0, 1, 0, 1, 0, 1, 0], np.bool_)
_AT_END = np.array([0, 0, 1, 0, 1, 0, 1], np.bool_)


def inject_tags(table: pa.Table, config: TagConfig) -> tuple[pa.Table, np.ndarray]:
    """Turn PHRASES rows into TAGGED rows, in the same order of pairs, then by variant.

    A hash of each pair decides whether it gets tagged rows and whether it gets a plain one. With
    a mix of tagged to plain rows, a share ``min(1, mix / variants)`` of the pairs gets
    ``variants`` tagged rows each, and a share ``min(1, variants / mix)`` gets a plain row. One
    hash decides both, so a larger mix tags the same pairs and some more.

    A tagged row has 1 to K tags with equal probability, where K is the largest integer below
    ``tag_share`` times the words of its shorter side, and at most ``max_tags``; it has fewer if the
    phrase pairs do not nest. If K is 0 or there is no phrase pair, the pair has no tagged row. A
    pair without any row, possible only if the mix gives it no plain row, is to be rejected
    (`Reject.NO_PHRASE_PAIR`).

    A phrase pair is not tagged if that would split an element of the text's own HTML or XML, or,
    without ``punctuation_tags``, if it lacks a letter or digit on a side
    (`transforms.markup.own_markup`). With ``phrase_pairs`` ``sound``, it is not tagged where no
    translator would put a tag, and drawn less often where few would
    (`transforms.tags.sound_phrases`). A tag other than a whole pair takes the place of one half of
    the pair; a tag in two parts has two entries with the same number in ``tags``.

    A tag opens before the first code point of its phrase and closes after the last, so removing the
    tags restores the original text. A later variant that would repeat an earlier one is redrawn
    and, if there is no other, left out (`transforms.kernels.tags.tags.choose_tags`). All draws
    depend only on the seed, the pair and the variant. With ``take_all``, only numbers and forms are
    drawn.

    Args:
        table: Pairs with phrase pairs (`transforms.schemas.PHRASES`), whose tokens neither begin
            nor end with white space.
        config: How tags are injected.

    Returns:
        The rows (`transforms.schemas.TAGGED`), and whether each pair has none, bool ``[pair]``.
    """
    schemas.require(table, schemas.PHRASES)
    part_rows = max(1, _MAX_ROWS // (config.variants + 1))
    parts = [
        draw_tags(part, find_taggable(part, config), config)
        for part in (table[start : start + part_rows] for start in range(0, len(table), part_rows))
    ]
    if not parts:
        return schemas.TAGGED.empty_table(), np.zeros(0, np.bool_)
    tables, without = zip(*parts, strict=True)
    return pa.concat_tables(tables), np.concatenate(without)


class Taggable(NamedTuple):
    """The data that tags of pairs are drawn from; it depends on texts and links, not on a seed.

    Attributes:
        phrases: The phrase pairs that may be tagged.
        limits: The maximum number of tags of each pair, int64 ``[pair]``.
    """

    phrases: Phrases
    limits: np.ndarray

    def take(self, pairs: np.ndarray) -> "Taggable":
        """Return the data of some pairs ``[pair]``."""
        offsets, boxes, weights = self.phrases
        counts = np.diff(offsets)[pairs]
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        chosen = np.repeat(offsets[:-1][pairs] - bounds[:-1], counts) + np.arange(bounds[-1])
        weights = weights[chosen] if len(weights) else weights
        return Taggable(Phrases(bounds, boxes.take(chosen, axis=1), weights), self.limits[pairs])


def find_taggable(table: pa.Table, config: TagConfig) -> Taggable:
    """Prepare the data that tags are drawn from.

    Args:
        table: Pairs with phrase pairs (`transforms.schemas.PHRASES`).
        config: How tags are injected.
    """
    phrases = keep_whole(table, _phrases(table, config))
    if config.take_all:
        return Taggable(phrases, np.zeros(0, np.int64))
    if config.phrase_pairs == "sound":
        phrases = keep_sound(table, phrases, punctuation_tags=config.punctuation_tags)
    elif not config.punctuation_tags:
        phrases = keep_wordlike(table, phrases)
    return Taggable(phrases, _limits(table, config))


def draw_tags(
    table: pa.Table, taggable: Taggable, config: TagConfig
) -> tuple[pa.Table, np.ndarray]:
    """Draw tags like `inject_tags`, from data prepared before.

    Args:
        table: Pairs with phrase pairs; the phrase pairs themselves are not read.
        taggable: The result of `find_taggable` for them.
        config: How tags are injected; only the seed may differ from that of `find_taggable`.

    Returns:
        The same as `inject_tags`.
    """
    seed = np.uint64(config.seed)
    free = int(config.nesting == "free")
    keys = ids.pair_keys(table.column("id"))
    phrases = taggable.phrases
    draws = sampling.units(seed, keys, sampling.STEP_MIX)
    is_plain = draws < config.plain_share
    whole_pairs = config.plain_pairs_only
    if config.take_all:
        drawn_tags = kernel.take_all(seed, keys, is_plain, phrases)
    else:
        is_tagged = draws < config.tagged_share
        choices = kernel.PairChoices(keys, taggable.limits, is_plain, is_tagged)
        profile = config.profile
        shape = None if profile is None else _shape(table, phrases, config, profile)
        drawn_tags = kernel.choose_tags(seed, choices, phrases, config.variants, free, shape)
    row_pair, row_variant, row_tags, chosen, numbers, codes = drawn_tags
    boxes = phrases.boxes[:, chosen]
    again = np.zeros(len(numbers), np.uint8)
    if not whole_pairs:
        tag_rows = tag_shapes.TagRows(keys[row_pair], row_pair, row_variant, row_tags)
        split_share = config.split_share
        if config.profile is None:
            shares = (config.self_closing_share, config.damage_share, config.empty_share)
            codes = tag_shapes.draw_forms(seed, tag_rows, *map(np.float64, shares))
        else:
            split_share = config.profile.split_share
        partners = tag_shapes.find_partners(
            seed, tag_rows, chosen, codes, phrases, np.float64(split_share), free
        )
        row_tags, boxes, numbers, codes, again = tag_shapes.lay_out(
            row_tags, chosen, partners, numbers, codes, phrases.boxes
        )
    tags = _Ranges(row_pair, row_tags, boxes, numbers, codes, again)
    rows = _rows(table, config, row_variant, tags)
    if config.variants > 1 and (not whole_pairs or config.tag_numbers == "in_order"):
        rows, row_pair = _without_repetitions(rows, row_pair)
    if config.representation != "indexed":
        rows = _rendered(rows, config)
    return rows, np.bincount(row_pair, minlength=len(keys)) == 0


def _phrases(table: pa.Table, config: TagConfig) -> Phrases:
    offsets, fields = fields_of(table.column("phrases"))
    *boxes, scores = fields.values()
    weights = np.zeros(0, np.float32) if config.draw == "uniform" else weights_of(scores)
    return Phrases(offsets, np.stack(boxes), weights)


def _shape(table: pa.Table, phrases: Phrases, config: TagConfig, profile: TagProfile) -> Shape:
    ruler = Ruler.of(table.column("source"), config.words, table.column("source_lang"))
    text = np.repeat(np.arange(len(table)), np.diff(phrases.offsets))
    inside = slice(phrases.offsets[0], phrases.offsets[-1])
    start, end = _borders(table.column("source_tokens"), text, *phrases.boxes[:2, inside])
    whole = shape_of(profile, phrases, ruler, start, end)
    cells = np.zeros((tag_text.CODES, phrases.boxes.shape[1]), np.uint8)
    cells[:, inside] = whole.cells
    return whole._replace(cells=cells)


class _Ranges(NamedTuple):
    """The ranges of the rows' tags, as returned by `transforms.kernels.tags.tag_shapes.lay_out`."""

    row_pair: np.ndarray
    row_tags: np.ndarray
    boxes: np.ndarray
    numbers: np.ndarray
    codes: np.ndarray
    again: np.ndarray


def _rows(table: pa.Table, config: TagConfig, row_variant: np.ndarray, tags: _Ranges) -> pa.Table:
    """Return TAGGED rows with indexed tags."""
    row_pair, row_tags, boxes, numbers, codes, again = tags
    tag_pair = np.repeat(row_pair, np.diff(row_tags))
    fields = {"index": numbers, "form": _FORMS.take(pa.array(codes))}
    shift = config.whitespace_shift and config.plain_pairs_only
    texts = {}
    for place, side in ((0, "source"), (2, "target")):
        tokens = table.column(f"{side}_tokens")
        opens, closes = _borders(tokens, tag_pair, boxes[place], boxes[place + 1])
        flat = texts_of(table.column(side))
        fields[f"{side}_start"] = np.where(_AT_END[codes], closes, opens)
        fields[f"{side}_end"] = np.where(_AT_START[codes], opens, closes)
        once = again != (tag_shapes.SOURCE_AGAIN if side == "source" else tag_shapes.TARGET_AGAIN)
        borders = tag_text.TagBorders(
            np.concatenate([np.zeros(1, np.int64), np.cumsum(once)])[row_tags],
            opens[once],
            closes[once],
            numbers[once],
            codes[once],
        )
        if config.tag_numbers == "in_order":
            if side == "source":
                renumbered = tag_text.numbers_in_order(borders)
                row = np.repeat(np.arange(len(row_pair)), np.diff(row_tags))
                numbers = fields["index"] = renumbered[row, numbers]
            borders = borders._replace(numbers=numbers[once])
        texts[side] = text_column(
            *tag_text.insert_tags(flat, row_pair, borders, int(shift), codepoints.properties())
        )
        if shift:
            texts[side] = pc.replace_substring_regex(texts[side], _FIRST_TAGS, r"\1 ")
        elif config.whitespace_shift:
            texts[side] = pa.array(map(shift_whitespace, texts[side].to_pylist()), pa.string())
    pairs = pa.array(row_pair)
    columns = {
        **dict(zip(_KEPT, table.select(_KEPT).take(pairs).columns, strict=True)),
        **texts,
        "variant": pa.array(row_variant),
        "kind": pa.array(["plain", "tagged"]).take(pa.array((row_variant > 0).astype(np.int8))),
        "tags": list_column(row_tags, fields, schemas.TAG_LIST),
    }
    return pa.table([columns[name] for name in schemas.TAGGED.names], schema=schemas.TAGGED)


def _without_repetitions(rows: pa.Table, row_pair: np.ndarray) -> tuple[pa.Table, np.ndarray]:
    """Drop tagged rows equal to an earlier variant: two phrase pairs can give the same text."""
    seen: set[tuple[int, str, str]] = set()
    kept = np.ones(len(row_pair), np.bool_)
    columns = (rows.column(name).to_pylist() for name in ("source", "target", "variant"))
    for row, (source, target, variant) in enumerate(zip(*columns, strict=True)):
        reading = int(row_pair[row]), source, target
        kept[row] = not variant or reading not in seen
        seen.add(reading)
    return rows.filter(pa.array(kept)), row_pair[kept]


def _rendered(rows: pa.Table, config: TagConfig) -> pa.Table:
    if config.representation == "raw":
        assert config.profile is not None
        keys = ids.pair_keys(rows.column("id"))
        rendered = tuple(name_rows(config.seed, keys, rows, config.profile.names).values())
    else:
        source, target = (chunk_of(rows.column(side)) for side in ("source", "target"))
        rendered = render_columns(source, target, config.representation, draw_ids(rows, config))
    for side, texts in zip(("source", "target"), rendered, strict=True):
        rows = rows.set_column(rows.schema.get_field_index(side), schemas.TAGGED.field(side), texts)
    return rows


def draw_ids(rows: pa.Table, config: TagConfig) -> np.ndarray | None:
    """Draw the ids of rows' elements, by pair and variant.

    Returns:
        Ids from 0, distinct within a row, int64 ``[row, element]``; None if ids are not drawn.
    """
    if config.max_id is None:
        return None
    keys = ids.pair_keys(rows.column("id"))
    variants = chunk_of(rows.column("variant")).to_numpy().astype(np.int64)
    return draw_tag_ids(np.uint64(config.seed), keys, variants, INDICES, config.max_id)


def _limits(table: pa.Table, config: TagConfig) -> np.ndarray:
    """Return the maximum number of tags of each pair, int64 ``[pair]``."""
    words = []
    for side in ("source", "target"):
        texts = table.column(side)
        if config.words == "whitespace":
            words.append(spaced_word_counts(texts))
        else:
            words.append(word_counts(texts, table.column(f"{side}_lang"), config.segmenter))
    below = np.ceil(np.minimum(*words) * config.tag_share - _ROUNDING).astype(np.int64) - 1
    return np.clip(below, 0, config.max_tags)


def _borders(
    tokens: pa.ChunkedArray, tag_pair: np.ndarray, first: np.ndarray, behind: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and ends of token spans, in code points, int32 ``[tag]`` each."""
    offsets, fields = fields_of(tokens)
    start = offsets[tag_pair]
    return fields["start"][start + first], fields["end"][start + behind - 1]


def symbols(config: TagConfig) -> list[str]:
    """Return all tags that a run can write, which a subword model must not split.

    Any number can be drawn, even in a row with few tags.

    >>> symbols(TagConfig())[::10]
    ['<a_0>', '</a_0>']
    """
    if config.representation == "raw":
        assert config.profile is not None
        return config.profile.names.symbols()
    return symbols_of(config.representation, self_closing=config.self_closing, max_id=config.max_id)
