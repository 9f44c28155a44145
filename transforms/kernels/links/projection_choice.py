"""The choice of one candidate for each element, so that elements nest and meet as in the source."""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.uncounted import uncounted

FREE, HOLDS, HELD, APART = 0, 1, 2, 3
"""How one element relates to another in the source: not at all (they cross, or neither is a pair),
around it, inside it, disjoint from it."""

MAX_STEPS = 100_000
"""Maximum number of steps of the search, some milliseconds; after these, it returns the best choice
so far. Twelve elements whose candidates are drawn at random need more in one case of 25."""

TOGETHER = 16_000
"""Cost of two tags that are at one place in the source, but not in the target. Of 4,000, 8,000 and
16,000, the smallest with which most tags of EUR-Lex are where translators have them."""

BROKEN = np.int64(1) << 44
"""Cost of an element that fits none of the others; `transforms.projection.tag_nesting` moves it."""


@numba.njit(nogil=True, cache=True)
def agree(relation: int, start: int, end: int, other_start: int, other_end: int) -> bool:
    """Tell whether two elements are related in the target as in the source."""
    if relation == HOLDS:
        return start <= other_start and other_end <= end
    if relation == HELD:
        return other_start <= start and end <= other_end
    if relation == APART:
        return end <= other_start or other_end <= start
    return True


@uncounted
def count_parted(
    start: int, end: int, other_start: int, other_end: int, bounds: np.ndarray, others: np.ndarray
) -> Integer:
    """Count the tags of two elements that are at one place in the source, but not in the target.

    Args:
        start: Offset of the first tag of one element in the target.
        end: Offset of its last tag.
        other_start: Offset of the first tag of the other element in the target.
        other_end: Offset of its last tag.
        bounds: Offsets of the tags of the first element in the source, int64 ``[2]``.
        others: Offsets of the tags of the other in the source, int64 ``[2]``.
    """
    return (
        np.int64(bounds[0] == others[0] and start != other_start)
        + np.int64(bounds[1] == others[1] and end != other_end)
        + np.int64(bounds[0] == others[1] and start != other_end)
        + np.int64(bounds[1] == others[0] and end != other_start)
    )


@uncounted
def _later_loss(
    depth: Integer,
    order: np.ndarray,
    chosen: np.ndarray,
    candidates: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    relations: np.ndarray,
    left: np.ndarray,
) -> Integer:
    """Keep the candidates of later elements that agree with the one chosen at a depth.

    Args:
        depth: Its place in the order.
        order: The elements in the order of the search.
        chosen: The candidate of each element so far; their number stands for none.
        candidates: ``starts``, ``ends``, ``scores`` and ``counts`` of `choose_together`.
        relations: As for `choose_together`.
        left: The candidates that are left at each depth, as bits, int64 ``[depth, place]``;
            receives those at the next.

    Returns:
        The least loss of all later elements.
    """
    starts, ends, scores, counts = candidates
    element = order[depth]
    number = chosen[element]
    loss = np.int64(0)
    for place in range(depth + 1, len(order)):
        other = order[place]
        bits = left[depth, place]
        relation = relations[element, other]
        if number < counts[element] and relation != FREE:
            for candidate in range(counts[other]):
                if bits >> candidate & 1 and not agree(
                    relation,
                    starts[element, number],
                    ends[element, number],
                    starts[other, candidate],
                    ends[other, candidate],
                ):
                    bits &= ~(np.int64(1) << candidate)
        left[depth + 1, place] = bits
        first = np.int64(0)
        while first < counts[other] and not bits >> first & 1:
            first += 1
        loss += BROKEN if first == counts[other] else scores[other, 0] - scores[other, first]
    return loss


@numba.njit(nogil=True, cache=True)
def choose_together(
    starts: np.ndarray,
    ends: np.ndarray,
    scores: np.ndarray,
    counts: np.ndarray,
    relations: np.ndarray,
    bounds: np.ndarray,
) -> tuple[np.ndarray, bool]:
    """Choose the candidates with the largest sum of scores among those that agree.

    Each pair of tags that are at one place in the source, but not in the target, costs `TOGETHER`.

    A search by branch and bound with forward checking (Haralick and Elliott 1980), exact within
    `MAX_STEPS`: elements whose best candidate leads the most come first, and a branch ends where
    the best candidates of the others that agree with all chosen so far cannot make up for what it
    lost.

    Args:
        starts: Offset of each candidate's first tag, int64 ``[element, candidate]``, best first, at
            most 62.
        ends: Offset of its last tag, int64 ``[element, candidate]``.
        scores: Its score, int64 ``[element, candidate]``.
        counts: Number of candidates of each element, int64 ``[element]``, at least one.
        relations: The relation of each element to each other one, int8 ``[element, element]``.
        bounds: Offsets of each element's first and last tag in the source, int64 ``[element, 2]``.

    Returns:
        The candidate of each element, int64 ``[element]``, and whether all agree.
    """
    elements = len(counts)
    leads = np.empty(elements, np.int64)
    for element in range(elements):
        leads[element] = BROKEN
        if counts[element] > 1:
            leads[element] = scores[element, 0] - scores[element, 1]
    order = np.argsort(-leads, kind="mergesort")
    chosen, best = np.zeros(elements, np.int64), np.zeros(elements, np.int64)
    pointer = np.zeros(elements + 1, np.int64)
    lost = np.zeros(elements + 1, np.int64)
    # By depth: the candidates of each later element that agree with all chosen before, as bits.
    left = np.zeros((elements + 1, elements), np.int64)
    for place in range(elements):
        left[0, place] = (np.int64(1) << counts[order[place]]) - 1
    best_lost = BROKEN * (elements + 1)
    depth, steps = 0, 0
    while depth >= 0:
        if depth == elements:
            if lost[depth] < best_lost:
                best_lost = lost[depth]
                best[:] = chosen
            depth -= 1
            continue
        element = order[depth]
        candidate = pointer[depth]
        steps += 1
        if candidate > counts[element] or (
            steps > MAX_STEPS and best_lost < BROKEN * (elements + 1)
        ):
            pointer[depth] = 0
            depth -= 1
            continue
        pointer[depth] += 1
        broken = candidate == counts[element]
        if not broken and not left[depth, depth] >> candidate & 1:
            continue
        cost = BROKEN if broken else scores[element, 0] - scores[element, candidate]
        if lost[depth] + cost >= best_lost:
            pointer[depth] = counts[element] + 1
            continue
        parted = np.int64(0)
        if not broken:
            for earlier in range(depth):
                other = order[earlier]
                if chosen[other] < counts[other]:
                    parted += count_parted(
                        starts[element, candidate],
                        ends[element, candidate],
                        starts[other, chosen[other]],
                        ends[other, chosen[other]],
                        bounds[element],
                        bounds[other],
                    )
        lost[depth + 1] = lost[depth] + cost + parted * TOGETHER
        chosen[element] = candidate
        if (
            _later_loss(depth, order, chosen, (starts, ends, scores, counts), relations, left)
            >= best_lost - lost[depth + 1]
        ):
            continue
        depth += 1
    whole = True
    for element in range(elements):
        if best[element] == counts[element]:
            best[element] = 0
            whole = False
    return best, whole
