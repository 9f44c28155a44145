"""Random masks of a text: draws of their places and lengths.

A draw that would split a tag or a word is extended to its ends.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.masks.masks import (
    BROKEN,
    POSITIONS,
    CutTokens,
    TokenTags,
    close_tags,
)
from pairweave.transforms.kernels.uncounted import uncounted

ATTEMPTS = 8
"""Maximum number of draws of a span that repeats an earlier one."""


class Distributions(NamedTuple):
    """The distributions from which the masks of a text are drawn.

    Attributes:
        start_probability: Probability that a token begins a span; unused if there are
            ``positions``.
        lengths: Cumulative weights of 1, 2, … tokens, float64 ``[length]``.
        positions: Cumulative weights of `POSITIONS` places in the text, float64; or empty.
        numbers: Cumulative weights of 1, 2, … masks in a text, float64; or empty.
        variants: Maximum number of masks of a text if ``numbers`` is empty.
    """

    start_probability: float
    lengths: np.ndarray
    positions: np.ndarray
    numbers: np.ndarray
    variants: int


@uncounted
def _draw_number(cumulative: np.ndarray, limit: Integer, bits: np.uint64) -> Integer:
    """Draw a number from a distribution truncated at ``limit``.

    Args:
        cumulative: Cumulative weights of 1, 2, …, float64 ``[number]``.
        limit: Largest number.
        bits: 64 random bits.

    Returns:
        The number, from 1; 0 if all weights up to the limit are 0.
    """
    limit = min(np.int64(limit), np.int64(len(cumulative)))
    if limit < 1 or cumulative[limit - 1] <= 0:
        return 0
    wanted = sampling.unit_interval(bits) * cumulative[limit - 1]
    low: Integer = 0
    high: Integer = limit - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low + 1


@uncounted
def _extend_to_cuts(cuts: np.ndarray, start: Integer, end: Integer) -> tuple[Integer, Integer]:
    """Extend a range of tokens to borders at which a mask may begin and end."""
    while not cuts[start]:
        start -= 1
    while not cuts[end]:
        end += 1
    return start, end


@uncounted
def _extend(
    cuts: np.ndarray,
    tags: np.ndarray,
    partners: np.ndarray,
    first: Integer,
    last: Integer,
    start: Integer,
    end: Integer,
) -> tuple[Integer, Integer]:
    """Extend a range to free borders and whole tags; its end is `BROKEN` if that is impossible."""
    while True:
        wide = _extend_to_cuts(cuts, start, end)
        closed = close_tags(tags, partners, first, last, wide[0], wide[1])
        if closed[1] == BROKEN or (closed[0] == start and closed[1] == end):
            return closed
        start, end = closed


@numba.njit(nogil=True, cache=True)
def draw_masks(
    run_seed: np.uint64,
    keys: np.ndarray,
    picked: np.ndarray,
    texts: CutTokens,
    tags: TokenTags,
    distributions: Distributions,
    max_share: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw masks over spans of tokens (`transforms.suggestions.random_masks`).

    Args:
        run_seed: The run's seed.
        keys: Keys of the pairs, uint64 ``[pair]``.
        picked: Whether each pair gets masks, bool ``[pair]``.
        texts: Tokens of the texts, one text for each pair.
        tags: Tags of the texts.
        distributions: The distributions.
        max_share: Maximum share of a text's tokens in a mask; one token is always allowed.

    Returns:
        The pair of each mask int64 ``[mask]``, its number in the pair int16, its first token and
        the token after its last int64; a mask whose end is `BROKEN` contains half a tag.
    """
    token_offsets, cuts = texts.offsets, texts.cuts
    tag_offsets, tag_tokens, partners = tags
    start_probability, lengths, positions, numbers, variants = distributions
    pairs = len(keys)
    capacity = 16
    mask_pair = np.empty(capacity, np.int64)
    mask_variant = np.empty(capacity, np.int16)
    mask_start = np.empty(capacity, np.int64)
    mask_end = np.empty(capacity, np.int64)
    most = max(variants, len(numbers))
    starts = np.empty(most, np.int64)
    ends = np.empty(most, np.int64)
    ranks = np.empty(most, np.float64)
    masks = 0
    for pair in range(pairs):
        tokens = token_offsets[pair + 1] - token_offsets[pair]
        if not picked[pair] or tokens < 1:
            continue
        place = token_offsets[pair] - token_offsets[0] + pair
        free = cuts[place : place + tokens + 1]
        limit = max(np.int64(1), np.int64(np.floor(max_share * tokens + 1e-9)))
        key = keys[pair]
        count: Integer = 0
        if len(positions):
            bits = sampling.draw(run_seed, key, sampling.STEP_MASK_COUNT, np.uint64(0))
            wanted = _draw_number(numbers, len(numbers), bits)
            for number in range(wanted):
                for attempt in range(ATTEMPTS):
                    counter = np.uint64(attempt << 16 | number)
                    start, end = _draw_placed(
                        run_seed, key, counter, tokens, limit, lengths, positions
                    )
                    repeated = False
                    for earlier in range(count):
                        repeated = repeated or (starts[earlier] == start and ends[earlier] == end)
                    if not repeated:
                        break
                starts[count], ends[count] = start, end
                count += end > start and not repeated
        else:
            for token in range(tokens):
                bits = sampling.draw(run_seed, key, sampling.STEP_MASK_START, np.uint64(token))
                rank = sampling.unit_interval(bits)
                if rank >= start_probability or not free[token]:
                    continue
                slot: Integer = count
                while slot > 0 and ranks[slot - 1] > rank:
                    slot -= 1
                if slot == variants:
                    continue
                count = min(np.int64(count + 1), np.int64(variants))
                for other in range(count - 1, slot, -1):
                    ranks[other], starts[other] = ranks[other - 1], starts[other - 1]
                ranks[slot], starts[slot] = rank, token
            for mask in range(count):
                bits = sampling.draw(
                    run_seed, key, sampling.STEP_MASK_LENGTH, np.uint64(starts[mask])
                )
                longest = min(np.int64(limit), np.int64(tokens - starts[mask]))
                ends[mask] = starts[mask] + _draw_number(lengths, longest, bits)
        kept = 0
        for mask in range(count):
            if ends[mask] == starts[mask]:
                continue
            start, end = _extend(
                free,
                tag_tokens,
                partners,
                tag_offsets[pair],
                tag_offsets[pair + 1],
                starts[mask],
                ends[mask],
            )
            repeated = False
            for earlier in range(kept if end != BROKEN else 0):
                repeated = repeated or (starts[earlier] == start and ends[earlier] == end)
            if repeated:
                continue
            starts[kept], ends[kept] = start, end
            kept += 1
            if masks == len(mask_pair):
                mask_pair = _twice(mask_pair)
                mask_variant = _twice(mask_variant)
                mask_start = _twice(mask_start)
                mask_end = _twice(mask_end)
            mask_pair[masks] = pair
            mask_variant[masks] = mask
            mask_start[masks] = start
            mask_end[masks] = end
            masks += 1
    return (
        mask_pair[:masks].copy(),
        mask_variant[:masks].copy(),
        mask_start[:masks].copy(),
        mask_end[:masks].copy(),
    )


@uncounted
def _draw_placed(
    run_seed: np.uint64,
    key: np.uint64,
    counter: np.uint64,
    tokens: Integer,
    limit: Integer,
    lengths: np.ndarray,
    positions: np.ndarray,
) -> tuple[Integer, Integer]:
    """Draw a span whose length and place follow distributions; an empty one if there is none.

    The places of a bin at which the span fits are equally probable. A bin without such a place gets
    the nearest before it.
    """
    bits = sampling.draw(run_seed, key, sampling.STEP_MASK_LENGTH, counter)
    length = _draw_number(lengths, limit, bits)
    if length == 0:
        return 0, 0
    bits = sampling.draw(run_seed, key, sampling.STEP_MASK_START, counter)
    position = _draw_number(positions, POSITIONS, bits) - 1
    bits = sampling.draw(run_seed, key, sampling.STEP_MASK_PLACE, counter)
    fraction = (position + sampling.unit_interval(bits)) / POSITIONS
    start = np.int64(np.floor(fraction * (tokens - length + 1)))
    return start, start + length


@numba.njit(nogil=True, cache=True)
def _twice(values: np.ndarray) -> np.ndarray:
    larger = np.empty(2 * len(values), values.dtype)
    larger[: len(values)] = values
    return larger
