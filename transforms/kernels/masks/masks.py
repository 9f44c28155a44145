"""Masks of the differences between a translation and its reference.

A mask never contains only half of a tag if the other half can be included.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.links.links import WeightedLinks
from pairweave.transforms.kernels.text.spans import same_bytes
from pairweave.transforms.kernels.uncounted import uncounted

POSITIONS = 20
"""Number of bins of equal width for the place of a mask in its sentence."""

BROKEN = -1
"""Marks the end of a span that contains half a tag whose other half cannot be included."""

JUDGED_GOOD, JUDGED_SAME, JUDGED_BAD = 0, 1, 2


class CutTokens(NamedTuple):
    """The tokens of several texts, and the borders at which a mask may begin or end.

    Attributes:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text's tokens, int64 ``[text + 1]``.
        starts: First byte of each token in ``data``, int64 ``[token]``.
        ends: End of each token in ``data``, exclusive, int64 ``[token]``.
        cuts: Whether a mask may begin or end before each token, and after the last of each text,
            bool ``[tokens + texts]``.
    """

    data: np.ndarray
    offsets: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    cuts: np.ndarray


class TokenTags(NamedTuple):
    """The tags of several texts, and the tokens that contain them.

    Attributes:
        offsets: Start of each text's tags, int64 ``[text + 1]``.
        tokens: Token of the text that contains the tag, int64 ``[tag]``.
        partners: Token that contains the other half of the tag, or -1 if there is none, int64
            ``[tag]``.
    """

    offsets: np.ndarray
    tokens: np.ndarray
    partners: np.ndarray


@uncounted
def close_tags(
    tag_token: np.ndarray,
    tag_partner: np.ndarray,
    first: Integer,
    last: Integer,
    start: Integer,
    end: Integer,
) -> tuple[Integer, Integer]:
    """Extend a range of tokens until it contains both halves of each of its tags.

    Args:
        tag_token: Token of each tag, int64 ``[tag]``.
        tag_partner: Token of its other half, int64 ``[tag]``.
        first: The first tag of the text.
        last: The tag after its last.
        start: First token.
        end: The token after the last.

    Returns:
        The range; its end is `BROKEN` if a tag in it has no other half.
    """
    grows = True
    while grows:
        grows = False
        for tag in range(first, last):
            if start <= tag_token[tag] < end:
                partner = tag_partner[tag]
                if partner < 0:
                    return start, BROKEN
                if partner < start:
                    start = partner
                    grows = True
                elif partner >= end:
                    end = partner + 1
                    grows = True
    return start, end


@numba.njit(nogil=True, cache=True)
def _find_units(
    links: Integer,
    source: np.ndarray,
    target: np.ndarray,
    probability: np.ndarray,
    cuts: np.ndarray,
    target_cuts: np.ndarray,
    units: np.ndarray,
    confidence: np.ndarray,
) -> Integer:
    """Divide a pair into the smallest ranges of tokens on both sides that no link leaves.

    Args:
        links: Number of links.
        source: Their translation tokens, int16 ``[link]``, ascending.
        target: Their reference tokens, int16 ``[link]``.
        probability: float32 ``[link]``.
        cuts: Whether a mask may begin or end before each translation token, bool ``[token + 1]``.
        target_cuts: The same for reference tokens.
        units: Receives start and end in the translation, start and end in the reference, int64
            ``[4, unit]``; the ranges of each side are contiguous.
        confidence: Receives the minimum probability of a unit's links, inf without any, ``[unit]``.

    Returns:
        The number of units.
    """
    sources = len(cuts) - 1
    targets = len(target_cuts) - 1
    least = np.full(sources + 1, targets, np.int64)
    most = np.full(sources + 1, -1, np.int64)
    for link in range(links):
        token = source[link]
        least[token] = min(least[token], np.int64(target[link]))
        most[token + 1] = max(most[token + 1], np.int64(target[link]))
    for token in range(sources - 1, -1, -1):
        least[token] = min(least[token], least[token + 1])
    count = 0
    begin: Integer = 0
    at: Integer = 0
    reach = np.int64(-1)
    link = 0
    for cut in range(sources + 1):
        reach = max(reach, np.int64(most[cut]))
        low: Integer = max(reach + 1, np.int64(at))
        high: Integer = np.int64(least[cut])
        if low > high or not cuts[cut]:
            continue
        while low <= high and not target_cuts[low]:
            low += 1
        while high >= low and not target_cuts[high]:
            high -= 1
        if low > high:
            continue
        if cut > begin or low > at:
            units[0, count], units[1, count] = begin, cut
            units[2, count], units[3, count] = at, low
            confidence[count] = np.inf
            while link < links and source[link] < cut:
                confidence[count] = min(confidence[count], probability[link])
                link += 1
            count += 1
        if high > low:
            units[0, count], units[1, count] = cut, cut
            units[2, count], units[3, count] = low, high
            confidence[count] = np.inf
            count += 1
        begin = cut
        at = high
    return count


@uncounted
def _is_kept(
    units: np.ndarray,
    unit: Integer,
    translation: CutTokens,
    first: Integer,
    reference: CutTokens,
    target_first: Integer,
) -> bool:
    """Tell whether both sides of a unit have the same tokens.

    Args:
        units: From `_find_units`.
        unit: The unit.
        translation: Tokens of the translations.
        first: First token of this translation.
        reference: Tokens of the references.
        target_first: First token of this reference.
    """
    length = units[1, unit] - units[0, unit]
    if length == 0 or length != units[3, unit] - units[2, unit]:
        return False
    for token in range(length):
        here = first + units[0, unit] + token
        there = target_first + units[2, unit] + token
        if not same_bytes(
            translation.data,
            translation.starts[here],
            translation.ends[here],
            reference.data,
            reference.starts[there],
            reference.ends[there],
        ):
            return False
    return True


@uncounted
def _extend_for_tags(
    units: np.ndarray,
    count: Integer,
    kept: np.ndarray,
    broken: np.ndarray,
    pair: Integer,
    tags: TokenTags,
    target_tags: TokenTags,
    deletions: int,
) -> None:
    """Mask kept units as well where a mask would otherwise contain only half a tag.

    Args:
        units: From `_find_units`.
        count: Number of units.
        kept: Whether each unit is kept, bool ``[unit]``; changed in place.
        broken: Receives whether each mask still contains only half a tag, bool ``[unit]``.
        pair: The pair.
        tags: Tags of the translations.
        target_tags: Tags of the references.
        deletions: As in `find_regions`.
    """
    low_tag, high_tag = tags.offsets[pair], tags.offsets[pair + 1]
    low_target_tag, high_target_tag = target_tags.offsets[pair], target_tags.offsets[pair + 1]
    grows = True
    while grows:
        grows = False
        unit = 0
        while unit < count:
            if kept[unit]:
                unit += 1
                continue
            stop = unit
            while stop < count and not kept[stop]:
                stop += 1
            start, end = units[0, unit], units[1, stop - 1]
            target_start, target_end = units[2, unit], units[3, stop - 1]
            if not deletions and target_start == target_end:
                unit = stop
                continue
            low, high = close_tags(tags.tokens, tags.partners, low_tag, high_tag, start, end)
            target_low, target_high = close_tags(
                target_tags.tokens,
                target_tags.partners,
                low_target_tag,
                high_target_tag,
                target_start,
                target_end,
            )
            broken[unit] = high == BROKEN or target_high == BROKEN
            if not broken[unit]:
                for other in range(count):
                    if kept[other] and (
                        (units[0, other] < high and low < units[1, other])
                        or (units[2, other] < target_high and target_low < units[3, other])
                    ):
                        for between in range(min(other, unit), max(other + 1, stop)):
                            grows = grows or kept[between]
                            kept[between] = False
            unit = stop


@numba.njit(nogil=True, cache=True)
def find_regions(
    links: WeightedLinks,
    translation: CutTokens,
    reference: CutTokens,
    tags: TokenTags,
    target_tags: TokenTags,
    max_placeholders: Integer,
    max_share: float,
    deletions: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find the placeholders of translations by their references (`aligned_masks`).

    Args:
        links: Links from translation tokens to reference tokens, ascending within a pair.
        translation: Tokens of the translations.
        reference: Tokens of their references.
        tags: Tags of the translations.
        target_tags: Tags of the references.
        max_placeholders: Maximum number of placeholders before concatenation.
        max_share: Maximum share of placeholders in a masked translation.
        deletions: 1 if a region without a counterpart is a placeholder.

    Returns:
        The pair of each region int64 ``[region]``; start and end in tokens of the translation and
        of the reference int64 ``[4, region]``; its confidence float32 ``[region]``, inf without a
        link; whether each region contains only half a tag, bool ``[region]``; the verdict on each
        pair int8 ``[pair]``, and its placeholders before concatenation int64 ``[pair]``.
    """
    token_offsets, target_token_offsets = translation.offsets, reference.offsets
    pairs = len(links.offsets) - 1
    longest = 0
    for pair in range(pairs):
        tokens = int(token_offsets[pair + 1] - token_offsets[pair])
        longest = max(longest, tokens)
    most = token_offsets[pairs] - token_offsets[0] + pairs
    region_pair = np.empty(most, np.int64)
    regions = np.empty((4, most), np.int64)
    region_confidence = np.empty(most, np.float32)
    region_broken = np.empty(most, np.bool_)
    judged = np.zeros(pairs, np.int8)
    placeholders = np.zeros(pairs, np.int64)
    units = np.empty((4, 2 * longest + 2), np.int64)
    confidence = np.empty(2 * longest + 2, np.float64)
    kept = np.empty(2 * longest + 2, np.bool_)
    broken = np.empty(2 * longest + 2, np.bool_)
    written = 0
    for pair in range(pairs):
        first = token_offsets[pair]
        target_first = target_token_offsets[pair]
        place = first - token_offsets[0] + pair
        target_place = target_first - target_token_offsets[0] + pair
        tokens = token_offsets[pair + 1] - first
        targets = target_token_offsets[pair + 1] - target_first
        low, high = links.offsets[pair], links.offsets[pair + 1]
        count = _find_units(
            high - low,
            links.sources[low:high],
            links.targets[low:high],
            links.probabilities[low:high],
            translation.cuts[place : place + tokens + 1],
            reference.cuts[target_place : target_place + targets + 1],
            units,
            confidence,
        )
        for unit in range(count):
            broken[unit] = False
            kept[unit] = _is_kept(units, unit, translation, first, reference, target_first)
        masked = 0
        seen = 0
        unit = 0
        while unit < count:
            if kept[unit]:
                unit += 1
                continue
            stop = unit
            here = 0
            while stop < count and not kept[stop]:
                here += max(1, units[1, stop] - units[0, stop])
                stop += 1
            if deletions or units[2, unit] < units[3, stop - 1]:
                seen += here
                masked += units[1, stop - 1] - units[0, unit]
            unit = stop
        placeholders[pair] = seen
        if seen == 0:
            judged[pair] = JUDGED_SAME
            continue
        # Multiplied in this order, so that 0.5 of 10 is 5 on every machine.
        if seen > max_placeholders or seen > max_share * (seen + tokens - masked) + 1e-9:
            judged[pair] = JUDGED_BAD
            continue
        if (
            tags.offsets[pair] < tags.offsets[pair + 1]
            or target_tags.offsets[pair] < target_tags.offsets[pair + 1]
        ):
            _extend_for_tags(units, count, kept, broken, pair, tags, target_tags, deletions)
        unit = 0
        while unit < count:
            if kept[unit]:
                unit += 1
                continue
            stop = unit
            sure = confidence[unit - 1] if unit else np.inf
            parted = False
            while stop < count and not kept[stop]:
                sure = min(sure, confidence[stop])
                parted = parted or broken[stop]
                stop += 1
            if stop < count:
                sure = min(sure, confidence[stop])
            if deletions or units[2, unit] < units[3, stop - 1]:
                region_pair[written] = pair
                regions[0, written], regions[1, written] = units[0, unit], units[1, stop - 1]
                regions[2, written], regions[3, written] = units[2, unit], units[3, stop - 1]
                region_confidence[written] = sure
                region_broken[written] = parted
                written += 1
            unit = stop
    return (
        region_pair[:written].copy(),
        regions[:, :written].copy(),
        region_confidence[:written].copy(),
        region_broken[:written].copy(),
        judged,
        placeholders,
    )
