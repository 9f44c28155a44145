"""Intersection and union of the links of two aligners, and their agreement."""

import numba
import numpy as np

from pairweave.transforms.kernels.links.links import WeightedLinks


@numba.njit(nogil=True, cache=True)
def combine_links(
    first: WeightedLinks,
    second: WeightedLinks,
    union: bool,  # noqa: FBT001
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Merge two sets of links of the same pairs.

    A link that both aligners found gets the mean of its two probabilities; a link that only one
    of them found keeps its own.

    Args:
        first: The first aligner's links, each pair's sorted by (source, target).
        second: The second aligner's links of the same pairs, sorted in the same way.
        union: Whether to keep links that only one aligner found.

    Returns:
        Offsets, sources, targets and probabilities of the merged links, sorted; and how many
        links both aligners found, int64 ``[pair]``.
    """
    offsets, sources, targets, probabilities = first
    other_offsets, other_sources, other_targets, other_probabilities = second
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
            # A link as one number; the end of a list is greater than every link.
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
