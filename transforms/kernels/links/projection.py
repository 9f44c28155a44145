"""Projection of the tags of a source onto its translation, by soft links alone.

A span is projected onto the target segment with the largest link mass of the span minus that of
other words (a maximum-sum segment); a tag without words onto the place where the fewest links of
the surrounding words cross. Adjacent characters decide between places with equal links.

All scores are integers, so that ties are the same on every machine. The constants were tuned on
EUR-Lex, glossary and online-help text in en-de, en-fr and en-hu, in both directions.
"""

from typing import NamedTuple

import numba
import numpy as np

WHITE, WORD, OTHER = 1, 2, 3
"""Classes of characters: the low two bits of a shape; 0 is the edge of the text."""

CLASS, UPPER, STOP = 3, 4, 8
"""Mask of the class, and flags: an upper-case letter; the end of a sentence or clause."""

THOUSAND = 1_000
"""A probability of 1 in thousandths."""

INSIDE, OUTSIDE = 100, 50
"""Score of a thousandth of a link's probability, inside and outside the span: a target word that
both directions link to the span with certainty scores 200,000."""

UNLINKED = 7_000
"""Cost of each word, so that unlinked words stay outside."""

CLAIM = 110
"""Share (in per cent) by which links that only the target side claims are discounted for a single
word with a partner: rare words attract words that have no partner (Moore 2004)."""

BESIDE, SAME_MARK, EDGE, CAPITAL = 6_000, 6_000, 60_000, 8_000
"""Score of the same character class on one side, the same mark, the edge of both texts, and
capitals in both."""

FADING = np.array([100, 61, 37, 22, 14, 8, 5, 3, 2], np.int64)
"""Weight (in per cent) of words by their distance from a tag without words; 1 beyond."""

LOOSE = 25
"""Weight (in per cent) of the side of such a tag that a space or a mark separates from it."""

FAR = 20_000
"""Cost of a distance of the whole text from the proportional place, for a tag without words."""


class TokenizedText(NamedTuple):
    """One side of a pair.

    Attributes:
        starts: First code point of each token, int64 ``[token]``, ascending.
        ends: End of each token, exclusive, int64 ``[token]``.
        points: Code points of the text, uint32.
    """

    starts: np.ndarray
    ends: np.ndarray
    points: np.ndarray


class LinkMasses(NamedTuple):
    """The links of one pair, each once, with both directions' probabilities in thousandths.

    Attributes:
        sources: Source tokens, int64 ``[link]``.
        targets: Target tokens, int64 ``[link]``.
        forward: By the direction that finds source tokens for every target token, int64
            ``[link]``.
        reverse: By the direction that finds target tokens for every source token, int64
            ``[link]``.
    """

    sources: np.ndarray
    targets: np.ndarray
    forward: np.ndarray
    reverse: np.ndarray


@numba.njit(nogil=True, cache=True)
def find_places(starts: np.ndarray, ends: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """List the offsets of a text at which a tag is allowed: its edges and those of its tokens.

    Args:
        starts: First code point of each token, int64 ``[token]``, ascending.
        ends: End of each token, exclusive, likewise.
        length: Number of code points of the text.

    Returns:
        Ascending offsets and the number of tokens before each, int64 ``[place]``.
    """
    tokens = len(starts)
    offsets = np.empty(2 * tokens + 2, np.int64)
    before = np.empty(2 * tokens + 2, np.int64)
    places = 0
    for token in range(tokens + 1):
        left = ends[token - 1] if token else 0
        right = starts[token] if token < tokens else length
        for at in (left, right):
            if not places or offsets[places - 1] != at:
                offsets[places] = at
                before[places] = token
                places += 1
    return offsets[:places], before[:places]


@numba.njit(nogil=True, cache=True)
def surroundings(text: np.ndarray, shapes: np.ndarray, at: int) -> tuple[int, int, int, int]:
    """Describe the characters on both sides of an offset.

    Args:
        text: Code points, uint32.
        shapes: Class and flags of every code point, uint8.
        at: The offset.

    Returns:
        The classes of the characters to the left and right; then the nearest characters to the left
        and right other than white space, plus 1; 0 at the edge.
    """
    left, right = at - 1, at
    left_class = shapes[text[left]] & CLASS if left >= 0 else 0
    right_class = shapes[text[right]] & CLASS if right < len(text) else 0
    while left >= 0 and shapes[text[left]] & CLASS == WHITE:
        left -= 1
    while right < len(text) and shapes[text[right]] & CLASS == WHITE:
        right += 1
    return (
        int(left_class),
        int(right_class),
        int(text[left]) + 1 if left >= 0 else 0,
        int(text[right]) + 1 if right < len(text) else 0,
    )


@numba.njit(nogil=True, cache=True)
def likeness(
    source: tuple[int, int, int, int],
    target: tuple[int, int, int, int],
    shapes: np.ndarray,
    edge: int,
    capital: int,
) -> int:
    """Return a score for how similar the surroundings of two places are.

    Args:
        source: `surroundings` of one place.
        target: `surroundings` of the other.
        shapes: Class and flags of every code point, uint8.
        edge: Score if both are at the edge of the text, except for white space.
        capital: Score if capitals are to the right of both.
    """
    score = 0
    for side in range(2):
        if source[side] == target[side]:
            score += BESIDE
        one, other = source[side + 2], target[side + 2]
        if not one or not other:
            score += edge if one == other else 0
            continue
        shape, other_shape = shapes[one - 1], shapes[other - 1]
        if (one == other and shape & CLASS != WORD) or (shape & STOP and other_shape & STOP):
            score += SAME_MARK
        if side == 1 and shape & UPPER and other_shape & UPPER:
            score += capital
    return score


@numba.njit(nogil=True, cache=True)
def sums_before(gains: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the sum of the gains of the tokens before each place."""
    sums = np.zeros(len(gains) + 1, np.int64)
    for token in range(len(gains)):
        sums[token + 1] = sums[token] + gains[token]
    return sums[before]


@numba.njit(nogil=True, cache=True)
def span_gains(first: int, last: int, targets: int, links: LinkMasses) -> np.ndarray:
    """Return the gain of each target token in the projection of a span of source tokens.

    Args:
        first: First token of the span.
        last: End of the span, exclusive.
        targets: Number of target tokens.
        links: The links.
    """
    link_source, link_target, forward, reverse = links
    gains = np.full(targets, -UNLINKED, np.int64)
    for link in range(len(link_source)):
        mass = forward[link] + reverse[link]
        inside = first <= link_source[link] < last
        gains[link_target[link]] += mass * INSIDE if inside else -mass * OUTSIDE
    if last - first == 1 and targets:
        partner = np.argmax(gains)
        belief = 0
        for link in range(len(link_source)):
            if link_source[link] == first and link_target[link] == partner:
                belief = forward[link] + reverse[link]
        for link in range(len(link_source)):
            target = link_target[link]
            if link_source[link] == first and target != partner and forward[link] > reverse[link]:
                claim = (forward[link] - reverse[link]) * belief
                gains[target] -= claim * CLAIM // (2 * THOUSAND)
    return gains


@numba.njit(nogil=True, cache=True)
def point_gains(
    token: int,
    left_weight: int,
    right_weight: int,
    targets: int,
    links: LinkMasses,
) -> np.ndarray:
    """Return the gain of each target token at a place after it, for a tag before a source token.

    Args:
        token: The source token after the tag.
        left_weight: Weight of the tokens before the tag, in per cent.
        right_weight: Weight of those after it.
        targets: Number of target tokens.
        links: The links.
    """
    link_source, link_target, forward, reverse = links
    gains = np.zeros(targets, np.int64)
    for link in range(len(link_source)):
        distance = link_source[link] - token
        weight = -right_weight
        if distance < 0:
            distance = -1 - distance
            weight = left_weight
        fading = FADING[distance] if distance < len(FADING) else 1
        gains[link_target[link]] += (forward[link] + reverse[link]) * fading * weight // 100
    return gains


@numba.njit(nogil=True, cache=True)
def best_segment(
    sums: np.ndarray, before: np.ndarray, opening: np.ndarray, closing: np.ndarray
) -> tuple[int, int]:
    """Find two places with at least one token between them and the highest score.

    The score is the gain of the tokens between them plus the scores of the opening and the closing
    place. Among equals, the first closing place and then the last opening place wins.

    Args:
        sums: `sums_before` of the gains, int64 ``[place]``.
        before: Number of tokens before each place, int64 ``[place]``; at least one at the last.
        opening: Score of each place for the opening tag, int64.
        closing: Score of each place for the closing tag, int64.
    """
    best, found = np.int64(0), False
    from_place, to_place = 0, 0
    held, held_place, next_place = np.int64(0), -1, 0
    for place in range(len(sums)):
        while before[next_place] < before[place]:
            worth = opening[next_place] - sums[next_place]
            if held_place < 0 or worth >= held:
                held, held_place = worth, next_place
            next_place += 1
        if held_place >= 0:
            score = held + sums[place] + closing[place]
            if not found or score > best:
                best, found = score, True
                from_place, to_place = held_place, place
    return from_place, to_place


@numba.njit(nogil=True, cache=True)
def side_weights(around: tuple[int, int, int, int]) -> tuple[int, int]:
    """Return the weights of the words left and right of a tag, in per cent."""
    left, right = around[0], around[1]
    if (left >= WORD and right < WORD) or (left == WORD and right == OTHER):
        return 100, LOOSE
    if (right >= WORD and left < WORD) or (right == WORD and left == OTHER):
        return LOOSE, 100
    return 100, 100


@numba.njit(nogil=True, cache=True)
def place_elements(
    source: TokenizedText,
    target: TokenizedText,
    links: LinkMasses,
    shapes: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Place each element independently.

    Args:
        source: The source; no element starts or ends inside one of its tokens.
        target: The target.
        links: The links between their tokens.
        shapes: Class and flags of every code point, uint8.
        starts: Offset of each element's first tag, int64 ``[element]``.
        ends: Offset of each element's last tag, int64 ``[element]``.

    Returns:
        New offsets of first and last tags, int64 ``[element]`` twice; the places, int64
        ``[place]``; and for each element the gain of the target tokens before each place, int64
        ``[element, place]``, 0 for an element without words.
    """
    source_text, target_text = source.points, target.points
    targets = len(target.starts)
    places, before = find_places(target.starts, target.ends, len(target_text))
    around = [surroundings(target_text, shapes, at) for at in places]
    new_starts, new_ends = np.empty_like(starts), np.empty_like(ends)
    gains = np.zeros((len(starts), len(places)), np.int64)
    worth = np.empty((2, len(places)), np.int64)
    for element in range(len(starts)):
        bounds = (starts[element], ends[element])
        first = np.searchsorted(source.starts, bounds[0])
        last = max(first, np.searchsorted(source.ends, bounds[1], side="right"))
        holds = bounds[0] < bounds[1]
        words = holds and first < last
        begin = surroundings(source_text, shapes, bounds[0])
        end = surroundings(source_text, shapes, bounds[1])
        # A single word at the edge of the text may have further words beside it in the target.
        edge = 0 if words and last - first == 1 and (begin[2] or end[3]) else EDGE
        for place in range(len(places)):
            worth[0, place] = likeness(begin, around[place], shapes, edge, CAPITAL)
            worth[1, place] = likeness(end, around[place], shapes, edge, 0 if holds else CAPITAL)
        if words and targets:
            sums = sums_before(span_gains(first, last, targets, links), before)
            gains[element] = sums
            opening, closing = best_segment(sums, before, worth[0], worth[1])
            new_starts[element], new_ends[element] = places[opening], places[closing]
            continue
        if words:
            new_starts[element], new_ends[element] = 0, len(target_text)
            continue
        for side in range(2):
            at = bounds[side]
            weights = side_weights(end if side else begin)
            sums = sums_before(point_gains(first, *weights, targets, links), before)
            best = 0
            for place in range(len(places)):
                off = abs(places[place] * len(source_text) - at * len(target_text))
                sums[place] += worth[side, place]
                sums[place] -= FAR * off // max(1, len(source_text) * len(target_text))
                if sums[place] >= sums[best]:
                    best = place
            if side == 0:
                new_starts[element] = places[best]
            new_ends[element] = max(new_starts[element], places[best])
    return new_starts, new_ends, places, gains
