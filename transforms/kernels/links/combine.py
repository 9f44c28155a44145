"""The links of two aligners: what both have, what either has, and how far they agree."""

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def combine_links(
    offsets: np.ndarray,
    sources: np.ndarray,
    targets: np.ndarray,
    probabilities: np.ndarray,
    other_offsets: np.ndarray,
    other_sources: np.ndarray,
    other_targets: np.ndarray,
    other_probabilities: np.ndarray,
    union: bool,  # noqa: FBT001
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Merge two sets of links of the same pairs.

    A link of both has the mean of their probabilities, one of a single aligner keeps its own.

    Args:
        offsets: Where each pair's links start, int64 ``[pair + 1]``.
        sources: Source tokens of the links, each pair's sorted by (source, target), int16.
        targets: Target tokens, int16 ``[link]``.
        probabilities: float32 ``[link]``.
        other_offsets: The same of the second aligner.
        other_sources: The same of the second aligner.
        other_targets: The same of the second aligner.
        other_probabilities: The same of the second aligner.
        union: Whether a link of one alone is kept.

    Returns:
        Offsets, sources, targets and probabilities of the merged links, sorted; and how many
        links both had, int64 ``[pair]``.
    """
    pairs = len(offsets) - 1
    room = len(sources) + len(other_sources) if union else min(len(sources), len(other_sources))
    made_offsets = np.zeros(pairs + 1, dtype=np.int64)
    made_sources = np.empty(room, dtype=np.int16)
    made_targets = np.empty(room, dtype=np.int16)
    made_probabilities = np.empty(room, dtype=np.float32)
    common = np.zeros(pairs, dtype=np.int64)
    made = 0
    for pair in range(pairs):
        one, two = offsets[pair], other_offsets[pair]
        while one < offsets[pair + 1] or two < other_offsets[pair + 1]:
            # A link as one number; an end is beyond every link.
            left = right = np.int64(1) << 40
            if one < offsets[pair + 1]:
                left = (np.int64(sources[one]) << 16) | np.int64(targets[one])
            if two < other_offsets[pair + 1]:
                right = (np.int64(other_sources[two]) << 16) | np.int64(other_targets[two])
            if left == right or union:
                link = min(left, right)
                made_sources[made] = link >> 16
                made_targets[made] = link & 0xFFFF
                if left < right:
                    made_probabilities[made] = probabilities[one]
                elif right < left:
                    made_probabilities[made] = other_probabilities[two]
                else:
                    made_probabilities[made] = (probabilities[one] + other_probabilities[two]) / 2
                made += 1
            if left == right:
                common[pair] += 1
            step_one, step_two = left <= right, right <= left
            one += step_one
            two += step_two
        made_offsets[pair + 1] = made
    return (
        made_offsets,
        made_sources[:made].copy(),
        made_targets[:made].copy(),
        made_probabilities[:made].copy(),
        common,
    )
