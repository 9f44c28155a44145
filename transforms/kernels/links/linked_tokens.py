"""Tokens of texts of which only the linked ones are known."""

import numba
import numpy as np

from pairweave.transforms.kernels.text.spans import FlatSpans


@numba.njit(nogil=True, cache=True)
def fill_gaps(
    linked: FlatSpans, filled: FlatSpans
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Add a token for the text before, between and after the linked tokens of each text.

    The filled text between two linked tokens consists of tokens without links. They are merged
    into one, without what surrounds them: such a token is never in a phrase, and its borders are
    borders of tokens.

    Args:
        linked: The linked tokens of each text, in code points, ascending and disjoint.
        filled: The text that the tokens cover, such as the words of each text or the text between
            runs of white space, in code points, ascending and disjoint.

    Returns:
        Token offsets int64 ``[text + 1]``, from 0; the tokens' starts and ends int32 ``[token]``;
        and the number of each linked token within its text, int64 ``[linked token]``.
    """
    linked_offsets, linked_starts, linked_ends = linked
    filled_offsets, filled_starts, filled_ends = filled
    texts = len(linked_offsets) - 1
    first = linked_offsets[0]
    known = linked_offsets[texts] - first
    most = 2 * known + texts
    offsets = np.zeros(texts + 1, np.int64)
    starts = np.empty(most, np.int32)
    ends = np.empty(most, np.int32)
    numbers = np.empty(known, np.int64)
    tokens = np.int64(0)
    for text in range(texts):
        run, stop = np.int64(filled_offsets[text]), np.int64(filled_offsets[text + 1])
        at = np.int64(0)
        for token in range(linked_offsets[text], linked_offsets[text + 1] + 1):
            ends_here = token == linked_offsets[text + 1]
            border = np.int64(1) << 40 if ends_here else np.int64(linked_starts[token])
            while run < stop and filled_ends[run] <= at:
                run += 1
            if run < stop and max(at, np.int64(filled_starts[run])) < border:
                starts[tokens] = max(at, np.int64(filled_starts[run]))
                while run + 1 < stop and filled_starts[run + 1] < border:
                    run += 1
                ends[tokens] = min(border, np.int64(filled_ends[run]))
                tokens += 1
            if not ends_here:
                numbers[token - first] = tokens - offsets[text]
                starts[tokens] = linked_starts[token]
                ends[tokens] = linked_ends[token]
                at = np.int64(linked_ends[token])
                tokens += 1
        offsets[text + 1] = tokens
    return offsets, starts[:tokens].copy(), ends[:tokens].copy(), numbers
