"""Where the tags of a source belong in its translation, from soft links alone.

A span goes to the stretch of target words that holds the most of its link mass and the least of the
others' (a maximum-sum segment); a tag without words goes where the fewest links of the words round
it cross. What stands beside a tag decides between places that the links do not tell apart.

All scores are whole numbers, so that equal places are equal on every machine. The constants were
set on EUR-Lex, glossary and online-help text in en-de, en-fr and en-hu, both ways round.
"""

from typing import NamedTuple

import numba
import numpy as np

WHITE, WORD, OTHER = 1, 2, 3
"""Classes of characters, the low two bits of a shape; 0 is the edge of the text."""

CLASS, UPPER, STOP = 3, 4, 8
"""Mask of the class, and flags: an upper-case letter; what ends a sentence or a clause."""

THOUSAND = 1_000
"""A link's probability of 1."""

INSIDE, OUTSIDE = 100, 50
"""Worth of a thousandth of a link's probability, in the span and out of it: a target word that both
directions link into the span for certain is worth 200,000."""

UNLINKED = 7_000
"""What every word costs; so words that nothing links stay outside."""

CLAIM = 110
"""A span of one word that has found its partner gives this share (in per cent) of what only the
target's side claims of it back: rare words collect what finds no other word (Moore 2004)."""

BESIDE, SAME_MARK, EDGE, CAPITAL = 6_000, 6_000, 60_000, 8_000
"""Worth of a like character class on one side, the same mark, both texts' edge, both capitals."""

FADING = np.array([100, 61, 37, 22, 14, 8, 5, 3, 2], np.int64)
"""Weight (in per cent) of words by their distance from a tag without words; 1 beyond."""

LOOSE = 25
"""Weight (in per cent) of the side of such a tag from which a space or a mark parts it."""

FAR = 20_000
"""Cost of lying a whole text's length off the proportional place, for a tag without words."""


class TokenizedText(NamedTuple):
    """One side of a pair.

    Attributes:
        starts: First code point of each token, int64 ``[token]``, ascending.
        ends: Code point behind each token, int64 ``[token]``.
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
    """List the offsets of a text where a tag may stand: its edges and those of its tokens.

    Args:
        starts: Tokens, int64 ``[token]``, ascending.
        ends: Likewise.
        length: Code points of the text.

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
def look_round(text: np.ndarray, shapes: np.ndarray, at: int) -> tuple[int, int, int, int]:
    """Describe what stands beside an offset.

    Args:
        text: Code points, uint32.
        shapes: Class and flags of every code point, uint8.
        at: The offset.

    Returns:
        The classes of the characters left and right, then the next characters to the left and to
        the right that are no white space, plus 1; 0 at the edge.
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
    """Return how much two places have the same characters beside them.

    Args:
        source: `look_round` of one.
        target: `look_round` of the other.
        shapes: As there.
        edge: Worth of both lying at the edge of the text, but for white space.
        capital: Worth of capitals to the right of both.
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
def add_up(gains: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the sum of the gains of all tokens before each place."""
    sums = np.zeros(len(gains) + 1, np.int64)
    for token in range(len(gains)):
        sums[token + 1] = sums[token] + gains[token]
    return sums[before]


@numba.njit(nogil=True, cache=True)
def span_gains(first: int, last: int, targets: int, links: LinkMasses) -> np.ndarray:
    """Return what each target token adds to the projection of a span of source tokens.

    Args:
        first: First token of the span.
        last: One past its last.
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
    """Return what each target token adds to a place behind it, for a tag before a source token.

    Args:
        token: The source token behind the tag.
        left_weight: Weight of the tokens before the tag, in per cent.
        right_weight: Weight of those behind.
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

    The score is the gain of the tokens between them, and what each place is worth as an opening
    and a closing one. Of equal ones the first closing place and then the last opening one wins.

    Args:
        sums: `add_up` of the gains, int64 ``[place]``.
        before: Tokens before each place, int64 ``[place]``; the last has one at least.
        opening: Worth of each place for the opening tag, int64.
        closing: Worth for the closing tag.
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
def loose_sides(around: tuple[int, int, int, int]) -> tuple[int, int]:
    """Return the weights of what stands left and right of a tag, in per cent."""
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
    """Place each element by itself.

    Args:
        source: The source; no element starts or ends inside one of its tokens.
        target: The target.
        links: The links between their tokens.
        shapes: Class and flags of every code point, uint8.
        starts: Offset of each element's first tag, int64 ``[element]``.
        ends: Offset of its last tag.

    Returns:
        New offsets of first and last tags, int64 ``[element]`` twice; the places, int64
        ``[place]``; and for each element the gain of the target tokens before each place, int64
        ``[element, place]``, 0 for an element without words.
    """
    source_text, target_text = source.points, target.points
    targets = len(target.starts)
    places, before = find_places(target.starts, target.ends, len(target_text))
    around = [look_round(target_text, shapes, at) for at in places]
    new_starts, new_ends = np.empty_like(starts), np.empty_like(ends)
    gains = np.zeros((len(starts), len(places)), np.int64)
    worth = np.empty((2, len(places)), np.int64)
    for element in range(len(starts)):
        bounds = (starts[element], ends[element])
        first = np.searchsorted(source.starts, bounds[0])
        last = max(first, np.searchsorted(source.ends, bounds[1], side="right"))
        holds = bounds[0] < bounds[1]
        words = holds and first < last
        begin = look_round(source_text, shapes, bounds[0])
        end = look_round(source_text, shapes, bounds[1])
        # One word at one end of the text need not be all that stands there in the target.
        edge = 0 if words and last - first == 1 and (begin[2] or end[3]) else EDGE
        for place in range(len(places)):
            worth[0, place] = likeness(begin, around[place], shapes, edge, CAPITAL)
            worth[1, place] = likeness(end, around[place], shapes, edge, 0 if holds else CAPITAL)
        if words and targets:
            sums = add_up(span_gains(first, last, targets, links), before)
            gains[element] = sums
            opening, closing = best_segment(sums, before, worth[0], worth[1])
            new_starts[element], new_ends[element] = places[opening], places[closing]
            continue
        if words:
            new_starts[element], new_ends[element] = 0, len(target_text)
            continue
        for side in range(2):
            at = bounds[side]
            weights = loose_sides(end if side else begin)
            sums = add_up(point_gains(first, *weights, targets, links), before)
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
