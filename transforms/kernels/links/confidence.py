"""How sure an aligner is that a phrase pair is one, from what it believes of each link.

A box of words is a phrase pair if no link leaves it (Och, Tillmann and Ney 1999). Were links
independent, that would have the probability ``prod(1 - p)`` over all links that leave; what a box
holds should be linked as well, so the product is scaled down by the least sure of its words. ``p``
is the mean of both directions' posteriors.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer


@numba.njit(nogil=True, cache=True)
def _merge(
    source: np.ndarray,
    target: np.ndarray,
    probability: np.ndarray,
    back_source: np.ndarray,
    back_target: np.ndarray,
    back_probability: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    means: np.ndarray,
) -> Integer:
    """Put both directions of one pair together, sorted by source word; return their number."""
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


@numba.njit(nogil=True, cache=True)
def _group(words: np.ndarray, size: Integer, begins: np.ndarray, order: np.ndarray) -> None:
    """List the links of each word.

    Args:
        words: Word of each link on one side ``[link]``.
        size: Number of words.
        begins: Receives where each word's links begin ``[word + 1]``.
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


@numba.njit(nogil=True, cache=True)
def _weigh(
    first: Integer,
    behind: Integer,
    other_first: Integer,
    other_behind: Integer,
    begins: np.ndarray,
    order: np.ndarray,
    others: np.ndarray,
    means: np.ndarray,
    linked: np.ndarray,
) -> tuple[float, float]:
    """Return the chance that no link of a span's words leaves, and the least sure word's belief."""
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
    forward_offsets: np.ndarray,
    forward_source: np.ndarray,
    forward_target: np.ndarray,
    forward_probability: np.ndarray,
    reverse_offsets: np.ndarray,
    reverse_source: np.ndarray,
    reverse_target: np.ndarray,
    reverse_probability: np.ndarray,
    link_offsets: np.ndarray,
    link_source: np.ndarray,
    link_target: np.ndarray,
    source_words: np.ndarray,
    target_words: np.ndarray,
    phrase_offsets: np.ndarray,
    boxes: np.ndarray,
) -> np.ndarray:
    """Score phrase pairs by how likely it is that no link leaves them.

    Args:
        forward_offsets: Where each pair's believed links begin in one direction ``[pair + 1]``;
            they ascend by (source, target) within a pair.
        forward_source: Their source words ``[link]``.
        forward_target: Their target words.
        forward_probability: Their posteriors, float32.
        reverse_offsets: The same of the other direction.
        reverse_source: Likewise.
        reverse_target: Likewise.
        reverse_probability: Likewise.
        link_offsets: Where the links begin that the phrase pairs were read off ``[pair + 1]``.
        link_source: Their source words; a word without any need not be sure of a partner.
        link_target: Their target words.
        source_words: Source words of each pair, int64 ``[pair]``.
        target_words: Target words of each pair, int64 ``[pair]``.
        phrase_offsets: Where each pair's phrase pairs begin, int64 ``[pair + 1]``.
        boxes: Source start, source end, target start and target end, in words, half-open
            ``[4, phrase pair]``, numbered as the offsets count.

    Returns:
        In [0, 1], float32 ``[phrase pair]``, counted from the first offset.
    """
    pairs = len(phrase_offsets) - 1
    start = phrase_offsets[0]
    scores = np.empty(phrase_offsets[pairs] - start, np.float32)
    room = 0
    longest = 0
    for pair in range(pairs):
        links = forward_offsets[pair + 1] - forward_offsets[pair]
        room = max(room, links + reverse_offsets[pair + 1] - reverse_offsets[pair])
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
    for pair in range(pairs):
        ahead = slice(forward_offsets[pair], forward_offsets[pair + 1])
        back = slice(reverse_offsets[pair], reverse_offsets[pair + 1])
        count = _merge(
            forward_source[ahead],
            forward_target[ahead],
            forward_probability[ahead],
            reverse_source[back],
            reverse_target[back],
            reverse_probability[back],
            rows,
            columns,
            means,
        )
        _group(rows[:count], source_words[pair], row_begins, row_order)
        _group(columns[:count], target_words[pair], column_begins, column_order)
        source_linked[:] = False
        target_linked[:] = False
        for link in range(link_offsets[pair], link_offsets[pair + 1]):
            source_linked[link_source[link]] = True
            target_linked[link_target[link]] = True
        for phrase in range(phrase_offsets[pair], phrase_offsets[pair + 1]):
            low, high = np.int64(boxes[0, phrase]), np.int64(boxes[1, phrase])
            left, right = np.int64(boxes[2, phrase]), np.int64(boxes[3, phrase])
            stays, surest = _weigh(
                low, high, left, right, row_begins, row_order, columns, means, source_linked
            )
            stays_back, surest_back = _weigh(
                left, right, low, high, column_begins, column_order, rows, means, target_linked
            )
            scores[phrase - start] = stays * stays_back * min(surest, surest_back)
    return scores
