"""Phrase pairs consistent with word links (Och, Tillmann and Ney 1999), and their borders.

Two spans are consistent if no link leads from inside one to outside the other. If the target span
is the shortest that contains all links of the source span, they are consistent if and only if both
contain the same number of links, which prefix sums give in one step.

A phrase pair is consistent with its links, but says nothing about the words next to it. If the word
before it on one side is linked to the word before it on the other, the border between them is
settled: no word could belong to the phrase pair as well as outside it. Where a word next to it has
no link, its other side may be one word too short or too long; where the words next to it are linked
to words far away, the phrase pair rests only on its own links. These are the orientations of
lexicalized reordering (Tillmann 2004; Koehn et al. 2005): monotone or swapped is settled,
discontinuous is not.
"""

from typing import Literal, NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.links.links import Links
from pairweave.transforms.kernels.uncounted import uncounted

_NEVER = 1 << 40
_ONE = np.uint64(1)


class _Reach(NamedTuple):
    """The range and number of the links of each word of one pair.

    Attributes:
        first: First target word of each source word, or `_NEVER`, int64 ``[source word]``.
        last: Last target word of each source word, or -1, int64 ``[source word]``.
        source_sums: Links before each source word, and in total, int64 ``[source word + 1]``.
        target_sums: Links before each target word, and in total, int64 ``[target word + 1]``.
    """

    first: np.ndarray
    last: np.ndarray
    source_sums: np.ndarray
    target_sums: np.ndarray


@uncounted
def _count_links(
    source: np.ndarray,
    target: np.ndarray,
    source_words: int,
    target_words: int,
    unlinked_weight: int,
    reach: _Reach,
) -> None:
    """Find each source word's first and last target word, and count the links of all words.

    Args:
        source: Source words of one pair's links.
        target: Target words of the same links.
        source_words: Number of source words.
        target_words: Number of target words.
        unlinked_weight: Number of links that a target word without links counts as.
        reach: Receives the result.
    """
    first, last, source_sums, target_sums = reach
    first[:source_words] = _NEVER
    last[:source_words] = -1
    source_sums[: source_words + 1] = 0
    target_sums[: target_words + 1] = 0
    for link in range(len(source)):
        column = np.int64(target[link])
        row, behind = np.uint64(source[link]), np.uint64(column + 1)
        source_sums[row + _ONE] += 1
        target_sums[behind] += 1
        first[row] = min(first[row], column)
        last[row] = max(last[row], column)
    for word in range(source_words):
        source_sums[word + 1] += source_sums[word]
    for word in range(target_words):
        links = target_sums[word + 1]
        target_sums[word + 1] = target_sums[word] + (links if links else unlinked_weight)


@numba.njit(nogil=True, cache=True)
def _with_capacity(phrases: np.ndarray, count: np.int64, more: int) -> np.ndarray:
    if count + more <= phrases.shape[1]:
        return phrases
    larger = np.empty((4, 2 * (count + more)), np.int16)
    for border in range(4):
        for phrase in range(count):  # not slices, see `enlarged`
            larger[border, phrase] = phrases[border, phrase]
    return larger


@numba.njit(nogil=True, cache=True)
def _without_unaligned(
    phrases: np.ndarray,
    count: np.int64,
    reach: _Reach,
    source_cuts: np.ndarray,
    target_cuts: np.ndarray,
    source_words: int,
    max_words: int,
) -> tuple[np.ndarray, np.int64]:
    """Add the phrase pairs of one pair of sentences whose words all have links."""
    first, last, source_sums, target_sums = reach
    limited = len(source_cuts) > 0
    phrases = _with_capacity(phrases, count, source_words * min(source_words, max_words))
    starts, ends, target_starts, target_ends = phrases[0], phrases[1], phrases[2], phrases[3]
    # A target word without links counts as `_NEVER` links, so a span with one has that surplus.
    hopeless = _NEVER - source_sums[source_words]
    at = np.uint64(count)
    for start in range(source_words):
        if last[start] < 0 or (limited and not source_cuts[start]):
            continue
        low, high = first[start], last[start]
        before = source_sums[start]
        for end in range(start + 1, min(source_words, start + max_words) + 1):
            word = np.uint64(end - 1)
            low = min(low, first[word])
            high = max(high, last[word])
            behind = np.uint64(high + 1)
            surplus = target_sums[behind] - target_sums[np.uint64(low)]
            surplus -= source_sums[np.uint64(end)] - before
            # No link, or the target span is too wide and only gets wider.
            if (last[word] < 0) | (high - low >= max_words) | (surplus >= hopeless):
                break
            # Branchless: always written, and counted only if it is consistent.
            starts[at] = start
            ends[at] = end
            target_starts[at] = low
            target_ends[at] = behind
            good = surplus == 0
            if limited:
                good &= source_cuts[np.uint64(end)]
                good &= target_cuts[np.uint64(low)] & target_cuts[behind]
            at += np.uint64(good)
    return phrases, np.int64(at)


@numba.njit(nogil=True, cache=True)
def _with_unaligned(
    phrases: np.ndarray,
    count: np.int64,
    reach: _Reach,
    source_cuts: np.ndarray,
    target_cuts: np.ndarray,
    source_words: int,
    target_words: int,
    max_words: int,
) -> tuple[np.ndarray, np.int64]:
    """Add the phrase pairs of one pair of sentences that NLTK finds."""
    first, last, source_sums, target_sums = reach
    limited = len(source_cuts) > 0
    for start in range(source_words):
        if limited and not source_cuts[start]:
            continue
        low, high = _NEVER, -1
        for end in range(start + 1, min(source_words, start + max_words) + 1):
            low = min(low, int(first[end - 1]))
            high = max(high, int(last[end - 1]))
            if high < 0 or (limited and not source_cuts[end]):
                continue
            if target_sums[high + 1] - target_sums[low] != source_sums[end] - source_sums[start]:
                continue
            left = low
            while left > 0 and target_sums[left - 1] == target_sums[left]:
                left -= 1
            shortest = min(high, low + max_words - 1) + 1
            right = shortest
            while right < target_words and target_sums[right] == target_sums[right + 1]:
                right += 1
            more = (low - left + 1) * (right - shortest + 1)
            if count + more > phrases.shape[1]:
                phrases = _with_capacity(phrases, count, more)
            for target_start in range(left, low + 1):
                if limited and not target_cuts[target_start]:
                    continue
                for target_end in range(shortest, right + 1):
                    if limited and not target_cuts[target_end]:
                        continue
                    phrases[0, count] = start
                    phrases[1, count] = end
                    phrases[2, count] = target_start
                    phrases[3, count] = target_end
                    count += 1
    return phrases, count


@numba.njit(nogil=True, cache=True)
def extract_phrases(
    links: Links,
    source_lengths: np.ndarray,
    target_lengths: np.ndarray,
    source_cuts: np.ndarray,
    target_cuts: np.ndarray,
    max_words: int,
    allow_unaligned: Literal[1] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find every phrase pair of each pair of sentences.

    Two spans of words are a phrase pair if they contain a link, and no link leads from inside one
    to outside the other.

    Without unaligned words, every word of both spans has a link and neither span is longer than
    ``max_words``, so a source span has at most one target span.

    With unaligned words the set is that of NLTK's ``phrase_extraction`` with ``max_words`` as its
    ``max_phrase_length``: any source span, with its shortest target span and all extensions of that
    by adjacent unaligned words on the left and right. As in NLTK, the limit does not count the
    adjacent words, and a shortest target span over the limit is clipped on the right; neither
    occurs if both sentences are within the limit.

    Args:
        links: The links, in any order within a pair; their words are inside the sentences (not
            checked).
        source_lengths: Source words of each pair, int64 ``[pair]``, at most 32,767.
        target_lengths: Target words of each pair, the same.
        source_cuts: Whether a phrase may begin or end before each source word or after the last,
            bool ``[sum(source_lengths + 1)]``; empty if it is allowed everywhere.
        target_cuts: The same for target words; empty if and only if ``source_cuts`` is.
        max_words: Longest phrase, at least 1.
        allow_unaligned: 1 to allow unaligned words; None to forbid them: Numba then compiles only
            the code for this.

    Returns:
        Offsets int64 ``[pair + 1]``, and source start, source end, target start and target end,
        int16 ``[phrase]``, half-open, ascending in this order within a pair.
    """
    link_offsets = links.offsets
    pairs = len(link_offsets) - 1
    offsets = np.zeros(pairs + 1, np.int64)
    phrases = np.empty((4, 3 * (link_offsets[pairs] - link_offsets[0]) + 16), np.int16)
    count = np.int64(0)
    most_source, most_target = 0, 0
    for pair in range(pairs):
        most_source = max(most_source, int(source_lengths[pair]))
        most_target = max(most_target, int(target_lengths[pair]))
    first = np.empty(most_source, np.int64)
    last = np.empty(most_source, np.int64)
    source_sums = np.empty(most_source + 1, np.int64)
    target_sums = np.empty(most_target + 1, np.int64)
    reach = _Reach(first, last, source_sums, target_sums)
    limited = len(source_cuts) > 0
    source_base = 0
    target_base = 0
    for pair in range(pairs):
        source_words, target_words = source_lengths[pair], target_lengths[pair]
        _count_links(
            links.sources[link_offsets[pair] : link_offsets[pair + 1]],
            links.targets[link_offsets[pair] : link_offsets[pair + 1]],
            source_words,
            target_words,
            0 if allow_unaligned is not None else _NEVER,
            reach,
        )
        if limited:
            own_source_cuts = source_cuts[source_base : source_base + source_words + 1]
            own_target_cuts = target_cuts[target_base : target_base + target_words + 1]
            source_base += source_words + 1
            target_base += target_words + 1
        else:
            own_source_cuts, own_target_cuts = source_cuts, target_cuts
        if allow_unaligned is not None:
            phrases, count = _with_unaligned(
                phrases,
                count,
                reach,
                own_source_cuts,
                own_target_cuts,
                source_words,
                target_words,
                max_words,
            )
        else:
            phrases, count = _without_unaligned(
                phrases,
                count,
                reach,
                own_source_cuts,
                own_target_cuts,
                source_words,
                max_words,
            )
        offsets[pair + 1] = count
    return (
        offsets,
        phrases[0, :count],
        phrases[1, :count],
        phrases[2, :count],
        phrases[3, :count],
    )


@numba.njit(nogil=True, cache=True)
def count_settled_borders(
    links: Links,
    source_lengths: np.ndarray,
    target_lengths: np.ndarray,
    phrase_offsets: np.ndarray,
    boxes: np.ndarray,
) -> np.ndarray:
    """Count the settled borders of phrase pairs.

    The left border is settled if a link joins the source word before the phrase pair to the target
    word before it, or the source word after it to the target word before it, or if the phrase pair
    begins both texts. The same holds for the right border, with the target word after it.

    Args:
        links: The links of each pair; their words are inside the texts (not checked).
        source_lengths: Source words of each pair, int64 ``[pair]``.
        target_lengths: Target words of each pair, the same.
        phrase_offsets: Start of each pair's phrase pairs, int64 ``[pair + 1]``.
        boxes: Source start, source end, target start and target end, in words, half-open, int16
            ``[4, phrase pair]``.

    Returns:
        0, 1 or 2, uint8 ``[phrase pair]``; 0 for those that no offset covers.
    """
    settled = np.zeros(boxes.shape[1], np.uint8)
    room = np.int64(0)
    for pair in range(len(phrase_offsets) - 1):
        if phrase_offsets[pair] < phrase_offsets[pair + 1]:
            room = max(room, (source_lengths[pair] + 2) * (target_lengths[pair] + 2))
    # A link at [source + 1, target + 1]; the frame stands for what is beyond both texts.
    linked = np.zeros(room, np.bool_)
    for pair in range(len(phrase_offsets) - 1):
        if phrase_offsets[pair] == phrase_offsets[pair + 1]:
            continue
        width = np.int64(target_lengths[pair] + 2)
        last = (source_lengths[pair] + 2) * width - 1
        first_link, behind_link = links.offsets[pair], links.offsets[pair + 1]
        linked[0] = linked[last] = True
        for link in range(first_link, behind_link):
            linked[(links.sources[link] + 1) * width + links.targets[link] + 1] = True
        for phrase in range(phrase_offsets[pair], phrase_offsets[pair + 1]):
            above = np.int64(boxes[0, phrase]) * width
            below = np.int64(boxes[1, phrase] + 1) * width
            left = np.int64(boxes[2, phrase])
            right = np.int64(boxes[3, phrase] + 1)
            settled[phrase] = np.uint8(linked[above + left] or linked[below + left])
            settled[phrase] += np.uint8(linked[below + right] or linked[above + right])
        linked[0] = linked[last] = False
        for link in range(first_link, behind_link):
            linked[(links.sources[link] + 1) * width + links.targets[link] + 1] = False
    return settled
