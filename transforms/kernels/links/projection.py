"""Projection of the tags of a source onto its translation, from flat arrays.

Every span of the target is a candidate for an element with words, and every place for a tag without
words. `transforms.kernels.links.projection_evidence` lists the evidence for a candidate,
`projection_spans` sums it up with learnt weights, and `projection_choice` chooses for all elements
at once. All scores are integers, so that ties are the same on every machine.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.links import projection_spans
from pairweave.transforms.kernels.links.projection_choice import choose_together
from pairweave.transforms.kernels.links.projection_evidence import (
    THOUSAND,
    Characters,
    LinkMasses,
    TokenizedText,
    find_places,
)
from pairweave.transforms.kernels.links.projection_points import point_evidence
from pairweave.transforms.kernels.uncounted import uncounted

CANDIDATES = 12
"""Candidates of each element that the choice for all of them considers. With 6, two tags in a
thousand of help pages are elsewhere; with 24, none."""

ENDS = 4
"""Candidates of each end of an element that contains no words."""

CERTAIN = 1 << 40
"""Margin of an element with a single candidate."""

INSIDE, OUTSIDE = 100, 50
"""Gain of a thousandth of a link's probability, inside and outside the span, where overlapping
elements are separated: a target word that both directions link to the span with certainty gains
200,000."""

UNLINKED = 7_000
"""Cost of each word there, so that unlinked words stay outside."""

CLAIM = 110
"""Share (in per cent) by which links that only the target side claims are discounted for a single
word with a partner: rare words attract words that have no partner (Moore 2004)."""


class Weights(NamedTuple):
    """Weights of evidence.

    Attributes:
        spans: Weights of `TOKEN_EVIDENCE`, of `PLACE_EVIDENCE` for the opening and for the closing
            tag, and of `SPAN_EVIDENCE`, int64.
        points: Weights of `projection_points.POINT_EVIDENCE`, int64.
    """

    spans: np.ndarray
    points: np.ndarray


@numba.njit(nogil=True, cache=True)
def span_gains(first: int, last: int, targets: int, links: LinkMasses) -> np.ndarray:
    """Return the gain of each target token if it is inside a span of source tokens.

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
def gains_of_elements(
    source: TokenizedText,
    target: TokenizedText,
    links: LinkMasses,
    starts: np.ndarray,
    ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return what separates overlapping elements with the least loss.

    Args:
        source: The source.
        target: The target.
        links: The links between their tokens.
        starts: Offset of each element's first tag, int64 ``[element]``.
        ends: Offset of each element's last tag, int64 ``[element]``.

    Returns:
        Offsets at which a tag is allowed, int64 ``[place]``, and for each element the gain of the
        target tokens before each, int64 ``[element, place]``; 0 for an element without words.
    """
    targets = len(target.starts)
    places, before = find_places(target.starts, target.ends, len(target.points))
    gains = np.zeros((len(starts), len(places)), np.int64)
    for element in range(len(starts)):
        first, last = projection_spans.find_tokens(source, starts[element], ends[element])
        if starts[element] == ends[element] or first == last or not targets:
            continue
        each = span_gains(first, last, targets, links)
        sums = np.zeros(targets + 1, np.int64)
        for token in range(targets):
            sums[token + 1] = sums[token] + each[token]
        gains[element] = sums[before]
    return places, gains


@numba.njit(nogil=True, cache=True)
def best_points(scores: np.ndarray, most: int) -> np.ndarray:
    """Return the best places, best first; among equals, the last wins. int64 ``[candidate]``."""
    order = np.argsort(scores, kind="mergesort")[::-1]
    return order[:most].copy()


@numba.njit(nogil=True, cache=True)
def score_points(
    pair: projection_spans.Pair,
    at: int,
    keyed: bool,  # noqa: FBT001
    weights: np.ndarray,
) -> np.ndarray:
    """Return the score of each place for a tag that no word belongs to, int64 ``[place]``."""
    rows = point_evidence(
        pair.source, pair.target, pair.characters.shapes, at, keyed, pair.places, pair.table
    )
    return projection_spans.sum_places(rows, weights)


@numba.njit(nogil=True, cache=True)
def find_candidates(
    pair: projection_spans.Pair,
    start: int,
    end: int,
    setting: tuple[bool, bool, bool],
    weights: Weights,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the best places of one element, as if it were the only one.

    Args:
        pair: The pair.
        start: Offset of the element's first tag in the source.
        end: Offset of its last.
        setting: The result of `setting_of` for the element.
        weights: The weights.

    Returns:
        Numbers of places for the first and the last tag, and scores, int64 ``[candidate]``; best
        first, at least one.
    """
    first, last = projection_spans.find_tokens(pair.source, start, end)
    if start < end and first < last:
        spans = projection_spans.gather(pair, (start, end), setting)
        candidates = projection_spans.best_spans(pair, spans, weights.spans, CANDIDATES)
        if len(candidates[0]):
            return candidates
        edges = np.zeros(1, np.int64)
        return edges, edges + len(pair.places.offsets) - 1, edges
    scores = score_points(pair, start, setting[2], weights.points)
    if start == end:
        points = best_points(scores, CANDIDATES)
        return points, points, scores[points]
    others = score_points(pair, end, setting[2], weights.points)
    kept = (
        np.zeros(CANDIDATES, np.int64),
        np.zeros(CANDIDATES, np.int64),
        np.zeros(CANDIDATES, np.int64),
    )
    count = 0
    for other in np.sort(best_points(others, ENDS)):
        for one in np.sort(best_points(scores, ENDS))[::-1]:
            if one <= other:
                sum_of_both = scores[one] + others[other]
                count = projection_spans.keep_best(one, other, sum_of_both, kept, count)
    if count:
        return kept[0][:count], kept[1][:count], kept[2][:count]
    point = best_points(scores, 1)
    return point, point, scores[point]


class Elements(NamedTuple):
    """The elements of a source.

    Attributes:
        starts: Offset of each element's first tag, int64 ``[element]``.
        ends: Offset of each element's last tag, int64 ``[element]``.
        keyed: Whether its tags have an id, bool ``[element]``.
        relations: The relation of each element to each other one
            (`transforms.kernels.links.projection_choice`), int8 ``[element, element]``.
    """

    starts: np.ndarray
    ends: np.ndarray
    keyed: np.ndarray
    relations: np.ndarray


@uncounted
def setting_of(
    starts: np.ndarray, ends: np.ndarray, keyed: np.ndarray, element: int
) -> tuple[bool, bool, bool]:
    """Return what surrounds an element in the source.

    Returns:
        Whether another element has a tag where its first tag is, and where its last tag is; and
        whether its tags have an id.
    """
    first, last = False, False
    for other in range(len(starts)):
        if other != element:
            first |= starts[element] in (starts[other], ends[other])
            last |= ends[element] in (starts[other], ends[other])
    return first, last, bool(keyed[element])


@numba.njit(nogil=True, cache=True)
def place_elements(
    source: TokenizedText,
    target: TokenizedText,
    links: LinkMasses,
    characters: Characters,
    elements: Elements,
    weights: Weights,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Place all elements of a source in its translation.

    Args:
        source: The source; no element starts or ends inside one of its tokens.
        target: The target.
        links: The links between their tokens.
        characters: Properties of code points.
        elements: The elements.
        weights: The weights.

    Returns:
        New offsets of first and last tags, int64 ``[element]`` twice; by how much the score of the
        chosen place exceeds that of the best other one, int64 ``[element]``, negative if it was
        chosen for the sake of other elements; and whether all elements relate as in the source.
    """
    pair = projection_spans.prepare(source, target, links, characters)
    starts, ends, keyed, relations = elements
    count = len(starts)
    new_starts = np.zeros((count, CANDIDATES), np.int64)
    new_ends = np.zeros((count, CANDIDATES), np.int64)
    scores = np.zeros((count, CANDIDATES), np.int64)
    counts = np.zeros(count, np.int64)
    for element in range(count):
        bounds = starts[element], ends[element]
        setting = setting_of(starts, ends, keyed, element)
        opening, closing, score = find_candidates(pair, *bounds, setting, weights)
        counts[element] = len(opening)
        for number in range(len(opening)):
            new_starts[element, number] = pair.places.offsets[opening[number]]
            new_ends[element, number] = pair.places.offsets[closing[number]]
            scores[element, number] = score[number]
    sources = np.empty((count, 2), np.int64)
    sources[:, 0], sources[:, 1] = starts, ends
    chosen, whole = choose_together(new_starts, new_ends, scores, counts, relations, sources)
    margins = np.full(count, CERTAIN, np.int64)
    placed_starts, placed_ends = np.empty(count, np.int64), np.empty(count, np.int64)
    for element in range(count):
        number = chosen[element]
        placed_starts[element] = new_starts[element, number]
        placed_ends[element] = new_ends[element, number]
        if counts[element] > 1:
            rival = 1 if number == 0 else 0
            margins[element] = scores[element, number] - scores[element, rival]
    return placed_starts, placed_ends, margins, whole
