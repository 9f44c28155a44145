"""Confidence in phrase pairs, from the posteriors of links.

A box of words is a phrase pair if no link leaves it (Och, Tillmann and Ney 1999). If links were
independent, the probability of this would be ``prod(1 - p)`` over all links that leave the box. Its
words should also be linked inside it, so the product is multiplied by the probability of its least
certain word. ``p`` is the mean of both directions' posteriors; a direction without the link counts
as 0.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.links.links import Links, WeightedLinks
from pairweave.transforms.kernels.uncounted import uncounted


class _Posteriors(NamedTuple):
    """The links of one pair that have a posterior in at least one direction.

    Attributes:
        rows: Source words, int64 ``[link]``.
        columns: Target words, int64 ``[link]``.
        means: Means of both directions' posteriors, float64 ``[link]``.
    """

    rows: np.ndarray
    columns: np.ndarray
    means: np.ndarray


class _WordLinks(NamedTuple):
    """The links of one pair, grouped by the words of one side.

    Attributes:
        begins: Start of each word's links in ``order``, int64 ``[word + 2]``.
        order: The links by word, int64 ``[link]``.
        others: Word on the other side of each link, int64 ``[link]``.
        means: As in `_Posteriors`.
        linked: Whether each word has a symmetrized link, bool ``[word]``.
    """

    begins: np.ndarray
    order: np.ndarray
    others: np.ndarray
    means: np.ndarray
    linked: np.ndarray


@uncounted
def _merge(
    forward: WeightedLinks, reverse: WeightedLinks, pair: Integer, merged: _Posteriors
) -> Integer:
    """Merge both directions' links of a pair, sorted by source word; return their number."""
    ahead_links = slice(forward.offsets[pair], forward.offsets[pair + 1])
    source = forward.sources[ahead_links]
    target = forward.targets[ahead_links]
    probability = forward.probabilities[ahead_links]
    back_links = slice(reverse.offsets[pair], reverse.offsets[pair + 1])
    back_source = reverse.sources[back_links]
    back_target = reverse.targets[back_links]
    back_probability = reverse.probabilities[back_links]
    rows, columns, means = merged
    count = 0
    at = 0
    back = 0
    half = np.float64(0.5)
    while at < len(source) or back < len(back_source):
        ahead = behind = False
        if back == len(back_source):
            ahead = True
        elif at == len(source):
            behind = True
        else:
            one = (np.int64(source[at]) << 16) | np.int64(target[at])
            other = (np.int64(back_source[back]) << 16) | np.int64(back_target[back])
            ahead = bool(one <= other)
            behind = bool(other <= one)
        mean = np.float64(0.0)
        if ahead:
            rows[count], columns[count] = source[at], target[at]
            mean += half * probability[at]
            at += 1
        if behind:
            rows[count], columns[count] = back_source[back], back_target[back]
            mean += half * back_probability[back]
            back += 1
        means[count] = mean
        count += 1
    return count


@uncounted
def _group(words: np.ndarray, size: Integer, begins: np.ndarray, order: np.ndarray) -> None:
    """List the links of each word.

    Args:
        words: Word of each link on one side ``[link]``.
        size: Number of words.
        begins: Receives the start of each word's links ``[word + 1]``.
        order: Receives the links by word, in their order ``[link]``.
    """
    begins[: size + 2] = 0
    for link in range(len(words)):
        begins[words[link] + 2] += 1
    for word in range(size):
        begins[word + 2] += begins[word + 1]
    for link in range(len(words)):
        place = begins[words[link] + 1]
        order[place] = link
        begins[words[link] + 1] = place + 1


@uncounted
def _weigh(
    first: Integer,
    behind: Integer,
    other_first: Integer,
    other_behind: Integer,
    words: _WordLinks,
) -> tuple[float, float]:
    """Return the probability that no link leaves a span, and that of its least certain word."""
    begins, order, others, means, linked = words
    stays = 1.0
    surest = 1.0
    for word in range(first, behind):
        best = 0.0
        for place in range(begins[word], begins[word + 1]):
            link = order[place]
            if other_first <= others[link] < other_behind:
                best = max(best, means[link])
            else:
                stays *= 1.0 - means[link]
        if linked[word]:
            surest = min(surest, best)
    return stays, surest


@numba.njit(nogil=True, cache=True)
def score_phrases(
    forward: WeightedLinks,
    reverse: WeightedLinks,
    links: Links,
    source_words: np.ndarray,
    target_words: np.ndarray,
    phrase_offsets: np.ndarray,
    boxes: np.ndarray,
) -> np.ndarray:
    """Score phrase pairs by the probability that no link leaves them.

    Args:
        forward: Links of one direction with posteriors, sorted by (source, target) within a pair.
        reverse: Links of the other direction, sorted in the same way.
        links: The links that the phrase pairs were extracted from; a word without any of them
            is not among the least certain.
        source_words: Number of source words, int64 ``[pair]``.
        target_words: Number of target words, int64 ``[pair]``.
        phrase_offsets: Start of each pair's phrase pairs, int64 ``[pair + 1]``.
        boxes: Source start, source end, target start and target end, in words, half-open
            ``[4, phrase pair]``, indexed by the offsets.

    Returns:
        Scores in [0, 1], float32 ``[phrase pair]``, from the first offset on.
    """
    pairs = len(phrase_offsets) - 1
    start = phrase_offsets[0]
    scores = np.empty(phrase_offsets[pairs] - start, np.float32)
    room = 0
    longest = 0
    for pair in range(pairs):
        believed = forward.offsets[pair + 1] - forward.offsets[pair]
        room = max(room, believed + reverse.offsets[pair + 1] - reverse.offsets[pair])
        longest = max(longest, source_words[pair], target_words[pair])
    rows = np.empty(room, np.int64)
    columns = np.empty(room, np.int64)
    means = np.empty(room, np.float64)
    row_order = np.empty(room, np.int64)
    column_order = np.empty(room, np.int64)
    row_begins = np.empty(longest + 2, np.int64)
    column_begins = np.empty(longest + 2, np.int64)
    source_linked = np.empty(longest, np.bool_)
    target_linked = np.empty(longest, np.bool_)
    merged = _Posteriors(rows, columns, means)
    source_links = _WordLinks(row_begins, row_order, columns, means, source_linked)
    target_links = _WordLinks(column_begins, column_order, rows, means, target_linked)
    for pair in range(pairs):
        count = _merge(forward, reverse, pair, merged)
        _group(rows[:count], source_words[pair], row_begins, row_order)
        _group(columns[:count], target_words[pair], column_begins, column_order)
        source_linked[:] = False
        target_linked[:] = False
        for link in range(links.offsets[pair], links.offsets[pair + 1]):
            source_linked[links.sources[link]] = True
            target_linked[links.targets[link]] = True
        for phrase in range(phrase_offsets[pair], phrase_offsets[pair + 1]):
            low, high = np.int64(boxes[0, phrase]), np.int64(boxes[1, phrase])
            left, right = np.int64(boxes[2, phrase]), np.int64(boxes[3, phrase])
            stays, surest = _weigh(low, high, left, right, source_links)
            stays_back, surest_back = _weigh(left, right, low, high, target_links)
            scores[phrase - start] = stays * stays_back * min(surest, surest_back)
    return scores
