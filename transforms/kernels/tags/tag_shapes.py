"""Tags other than plain pairs: self-closing, damaged, empty, or in two parts on one side."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.links.nesting import contains, nests
from pairweave.transforms.kernels.tags import tag_text
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.kernels.tags.tag_draws import insert_sorted
from pairweave.transforms.kernels.uncounted import uncounted

WHOLE, SOURCE_AGAIN, TARGET_AGAIN = range(3)
"""Whether the range before has the same source, the same target, or neither."""


class TagRows(NamedTuple):
    """Rows with tags.

    Attributes:
        keys: Key of each row's pair, uint64 ``[row]``.
        pairs: Each row's pair, int64 ``[row]``.
        variants: Each row's variant, int16 ``[row]``.
        offsets: Start of each row's tags, int64 ``[row + 1]``, from 0.
    """

    keys: np.ndarray
    pairs: np.ndarray
    variants: np.ndarray
    offsets: np.ndarray


@numba.njit(nogil=True, cache=True)
def draw_forms(
    run_seed: np.uint64,
    rows: TagRows,
    self_closing_share: np.float64,
    damage_share: np.float64,
    empty_share: np.float64,
) -> np.ndarray:
    """Draw the forms of tags (Hanneman and Dinu 2020, section 3.1; empty pairs are ours).

    The first share of the tags is self-closing; the second share of the pairs lacks one half; the
    third share of the whole pairs is empty. Both halves, and both ends of the phrase, are equally
    likely. A larger share selects a superset of a smaller one.

    Args:
        run_seed: The run's seed.
        rows: The rows.
        self_closing_share: Share of tags, 0 to 1.
        damage_share: Share of pairs.
        empty_share: Share of whole pairs.

    Returns:
        Form codes, int8 ``[tag]``.
    """
    keys, _, row_variant, row_tags = rows
    codes = np.empty(row_tags[-1], np.int8)
    units = np.empty(4, np.float64)
    for row in range(len(keys)):
        for tag in range(row_tags[row], row_tags[row + 1]):
            for part in range(4):
                number = sampling.row_counter(row_variant[row], 0, 4 * (tag - row_tags[row]) + part)
                bits = sampling.draw(run_seed, keys[row], sampling.STEP_TAG_FORMS, number)
                units[part] = sampling.unit_interval(bits)
            at_end = units[3] >= 0.5
            if units[0] < self_closing_share:
                codes[tag] = tag_text.SELF_AT_END if at_end else tag_text.SELF_AT_START
            elif units[1] < damage_share:
                codes[tag] = tag_text.CLOSE if at_end else tag_text.OPEN
            elif units[2] < empty_share:
                codes[tag] = tag_text.EMPTY_AT_END if at_end else tag_text.EMPTY_AT_START
            else:
                codes[tag] = tag_text.PAIR
    return codes


@uncounted
def _touches(boxes: np.ndarray, side: Integer, one: Integer, other: Integer) -> bool:
    """Tell whether two phrases are adjacent on one side (0 or 2) and not on the other."""
    far = 2 - side
    return (
        boxes[side + 1, one] == boxes[side, other] or boxes[side + 1, other] == boxes[side, one]
    ) and (boxes[far + 1, one] < boxes[far, other] or boxes[far + 1, other] < boxes[far, one])


@uncounted
def _both_nest(boxes: np.ndarray, one: Integer, other: Integer, tag: Integer) -> bool:
    """Tell whether a tag in two parts nests with another tag on both sides.

    The other tag contains both parts, is inside one of them, or is disjoint from both.
    """
    if not (nests(boxes, one, tag) and nests(boxes, other, tag)):
        return False
    return (
        contains(boxes, tag, one) == contains(boxes, tag, other)
        or contains(boxes, one, tag)
        or contains(boxes, other, tag)
    )


@numba.njit(nogil=True, cache=True)
def find_partners(
    run_seed: np.uint64,
    rows: TagRows,
    phrases: np.ndarray,
    codes: np.ndarray,
    phrase_pairs: Phrases,
    split_share: np.float64,
    free: int,
) -> np.ndarray:
    """Find second phrase pairs for tags that get two parts on one side.

    The two phrases are adjacent on one side, where the tag encloses both, and separate on the
    other. A share of the whole pairs is drawn; in each row, the first with a partner gets it.

    Args:
        run_seed: The run's seed.
        rows: The rows.
        phrases: The phrase pair of each tag, int64 ``[tag]``.
        codes: Its form code, int8 ``[tag]``.
        phrase_pairs: The phrase pairs of each pair.
        split_share: Share of whole pairs, 0 to 1.
        free: 1 if tags may cross.

    Returns:
        A phrase pair for each tag, -1 for none, int64 ``[tag]``.
    """
    keys, row_pair, row_variant, row_tags = rows
    phrase_offsets, boxes, _ = phrase_pairs
    partners = np.full(len(phrases), -1, np.int64)
    for row in range(len(row_pair)):
        first = phrase_offsets[row_pair[row]]
        count = phrase_offsets[row_pair[row] + 1] - first
        has_partner = False
        for tag in range(row_tags[row], row_tags[row + 1]):
            number = sampling.row_counter(row_variant[row], 0, 2 * (tag - row_tags[row]))
            bits = sampling.draw(run_seed, keys[row], sampling.STEP_TAG_SPLITS, number)
            if has_partner or codes[tag] != tag_text.PAIR:
                continue
            if not sampling.unit_interval(bits) < split_share:
                continue
            number = sampling.row_counter(row_variant[row], 0, 2 * (tag - row_tags[row]) + 1)
            bits = sampling.draw(run_seed, keys[row], sampling.STEP_TAG_SPLITS, number)
            begin = sampling.below(bits, np.int64(count))
            for step in range(count):
                other = first + (begin + step) % count
                one = phrases[tag]
                if not (_touches(boxes, 0, one, other) or _touches(boxes, 2, one, other)):
                    continue
                fits = True
                for earlier in range(row_tags[row], row_tags[row + 1]):
                    if not free and earlier != tag:
                        fits = fits and _both_nest(boxes, one, other, phrases[earlier])
                if fits:
                    partners[tag] = other
                    has_partner = True
                    break
    return partners


@numba.njit(nogil=True, cache=True)
def lay_out(
    row_tags: np.ndarray,
    phrases: np.ndarray,
    partners: np.ndarray,
    numbers: np.ndarray,
    codes: np.ndarray,
    boxes: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Turn tags into ranges of tokens; a tag in two parts has two, one after the other.

    Args:
        row_tags: Start of each row's tags, int64 ``[row + 1]``, from 0.
        phrases: The phrase pair of each tag, int64 ``[tag]``, in the order of tags.
        partners: Its second phrase pair, -1 for none, int64 ``[tag]``; at most one in a row.
        numbers: Its number, int16 ``[tag]``.
        codes: Its form code, int8 ``[tag]``.
        boxes: The phrase pairs (`transforms.kernels.links.nesting`).

    Returns:
        Start of each row's ranges, int64 ``[row + 1]``; their boxes, as ``boxes``
        ``[4, range]``; their tags' numbers and codes ``[range]``; and whether a range has the
        source or target of the range before (`SOURCE_AGAIN`, `TARGET_AGAIN`), uint8 ``[range]``.
    """
    ranges = len(phrases) + (partners >= 0).sum()
    row_ranges = np.zeros(len(row_tags), np.int64)
    out = np.empty((4, ranges), boxes.dtype)
    out_numbers = np.empty(ranges, numbers.dtype)
    out_codes = np.empty(ranges, codes.dtype)
    again = np.zeros(ranges, np.uint8)
    hulls = np.empty((4, tag_text.MOST), boxes.dtype)
    order = np.empty(tag_text.MOST, np.int64)
    to = 0
    for row in range(len(row_tags) - 1):
        start = row_tags[row]
        count = row_tags[row + 1] - start
        placed = 0
        # Ties go to the other tag: it contains both parts.
        for turn in range(2):
            for tag in range(count):
                other = partners[start + tag]
                if (other >= 0) != (turn == 1):
                    continue
                one = phrases[start + tag]
                for edge in range(4):
                    hulls[edge, tag] = boxes[edge, one]
                    if other >= 0 and (boxes[edge, other] < boxes[edge, one]) == (edge % 2 == 0):
                        hulls[edge, tag] = boxes[edge, other]
                insert_sorted(hulls, np.int64(tag), order, placed)
                placed += 1
        for place in range(count):
            tag = start + order[place]
            one = phrases[tag]
            other = partners[tag]
            out_numbers[to] = numbers[tag]
            out_codes[to] = codes[tag]
            out[:, to] = boxes[:, one]
            if other >= 0:
                side = 0 if _touches(boxes, 0, one, other) else 2
                far = 2 - side
                swapped = boxes[far, other] < boxes[far, one]
                for part in range(2):
                    phrase = other if (part == 1) != swapped else one
                    out[side : side + 2, to + part] = hulls[side : side + 2, order[place]]
                    out[far : far + 2, to + part] = boxes[far : far + 2, phrase]
                out_numbers[to + 1] = numbers[tag]
                out_codes[to + 1] = codes[tag]
                again[to + 1] = SOURCE_AGAIN if side == 0 else TARGET_AGAIN
                to += 1
            to += 1
        row_ranges[row + 1] = to
    return row_ranges, out, out_numbers, out_codes, again
