"""Borders of phrase pairs that links on their other side confirm.

A phrase pair is consistent with its links, but says nothing about the words next to it. If the word
before it on one side is linked to the word before it on the other, the border between them is
settled: no word could belong to the phrase pair as well as outside it. Where a word next to it has
no link, its other side may be one word too short or too long; where the words next to it are linked
to words far away, the phrase pair rests only on its own links. These are the orientations of
lexicalized reordering (Tillmann 2004; Koehn et al. 2005): monotone or swapped is settled,
discontinuous is not.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.links.links import Links


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
