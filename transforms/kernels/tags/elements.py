"""The markup of the text itself: phrases that split no element, and nested elements."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.kernels.uncounted import uncounted


class ElementTags(NamedTuple):
    """The elements of several texts.

    Attributes:
        offsets: Start of each text's elements, int64 ``[text + 1]``.
        tags: Start and end of the first and of the last tag of each element, in code points, int32
            ``[4, element]``; the same tag twice if the element has one tag.
    """

    offsets: np.ndarray
    tags: np.ndarray


@uncounted
def _splits_no_tag(start: Integer, end: Integer, tags: np.ndarray, element: Integer) -> bool:
    """Tell whether a range contains both tags of an element or neither, and splits none."""
    held = 0
    for tag in (0, 2):
        if tags[tag, element] < end and start < tags[tag + 1, element]:
            if tags[tag, element] < start or end < tags[tag + 1, element]:
                return False
            held += 1
    return held != 1


@uncounted
def require_whole(
    phrases: FlatSpans, tokens: FlatSpans, elements: ElementTags, fits: np.ndarray
) -> None:
    """Clear the flags of phrases that contain only one tag of an element, or a part of a tag.

    Args:
        phrases: The phrases of each text, in tokens.
        tokens: The tokens of each text, in code points.
        elements: The elements of each text.
        fits: Flags of the phrases, bool ``[phrase]``; changed in place.
    """
    phrase_offsets, phrase_starts, phrase_ends = phrases
    token_offsets, token_starts, token_ends = tokens
    element_offsets, element_tags = elements
    for pair in range(len(phrase_offsets) - 1):
        own = range(element_offsets[pair], element_offsets[pair + 1])
        if len(own) == 0:
            continue
        for phrase in range(phrase_offsets[pair], phrase_offsets[pair + 1]):
            start = token_starts[token_offsets[pair] + phrase_starts[phrase]]
            end = token_ends[token_offsets[pair] + phrase_ends[phrase] - 1]
            for element in own:
                if not _splits_no_tag(start, end, element_tags, element):
                    fits[phrase] = False
                    break


@uncounted
def _copy_kept(values: np.ndarray, fits: np.ndarray, kept: np.ndarray) -> None:
    """Copy the flagged values ``[phrase]`` to an array with room for just these."""
    # All are copied, because which fit cannot be predicted; the next one replaces one that does
    # not.
    used = np.uint64(0)
    for phrase in range(len(values)):
        if used < np.uint64(len(kept)):
            kept[used] = values[phrase]
        used += np.uint64(fits[phrase])


@numba.njit(nogil=True, cache=True)
def keep_phrases(
    phrase_offsets: np.ndarray, boxes: np.ndarray, weights: np.ndarray, fits: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the phrases that fit: offsets, boxes and weights, as in `Phrases`."""
    kept = np.zeros(len(phrase_offsets), np.int64)
    count = 0
    for pair in range(len(phrase_offsets) - 1):
        for phrase in range(phrase_offsets[pair], phrase_offsets[pair + 1]):
            count += fits[phrase]
        kept[pair + 1] = count
    inside = slice(phrase_offsets[0], phrase_offsets[-1])
    kept_boxes = np.empty((len(boxes), count), boxes.dtype)
    for side in range(len(boxes)):
        _copy_kept(boxes[side, inside], fits[inside], kept_boxes[side])
    kept_weights = np.empty(count if len(weights) > 0 else 0, weights.dtype)
    if len(weights) > 0:
        _copy_kept(weights[inside], fits[inside], kept_weights)
    return kept, kept_boxes, kept_weights


class Phrases(NamedTuple):
    """The phrase pairs of several pairs of texts.

    Attributes:
        offsets: Start of each pair's phrase pairs, int64 ``[pair + 1]``.
        boxes: Source start, source end, target start and target end in tokens, half-open, int16
            ``[4, phrase pair]``.
        weights: Weight of each phrase pair in draws, at least 0, float32 ``[phrase pair]``;
            ``[0]`` if all are equal.
    """

    offsets: np.ndarray
    boxes: np.ndarray
    weights: np.ndarray

    def only(self, fits: np.ndarray) -> "Phrases":
        """Return the flagged phrase pairs (``fits``: bool ``[phrase pair]``)."""
        if fits.all():
            return self
        return Phrases(*keep_phrases(*self, fits))


@numba.njit(nogil=True, cache=True)
def measure_depths(
    text_elements: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Measure the nesting depths of elements, only by their offsets.

    An element contains another if it begins no later and ends no earlier; the first of two with the
    same range contains the second. An empty element is contained where it is strictly inside.

    Args:
        text_elements: Start of each text's elements, int64 ``[text + 1]``, from 0.
        starts: Start of each element, int64 ``[element]``.
        ends: Its end, exclusive.

    Returns:
        The number of elements that contain each, int64 ``[element]``; and whether an element
        contains, or is contained in, an earlier one of its text, bool ``[element]``.
    """
    depths = np.zeros(len(starts), np.int64)
    nested = np.zeros(len(starts), np.bool_)
    for text in range(len(text_elements) - 1):
        for one in range(text_elements[text], text_elements[text + 1]):
            for other in range(text_elements[text], one):
                if _contains(starts, ends, other, one):
                    depths[one] += 1
                    nested[one] = True
                elif _contains(starts, ends, one, other):
                    depths[other] += 1
                    nested[one] = True
    return depths, nested


@uncounted
def _contains(starts: np.ndarray, ends: np.ndarray, one: Integer, other: Integer) -> bool:
    if starts[one] == ends[one]:
        return False
    if starts[other] == ends[other]:
        return starts[one] < starts[other] < ends[one]
    return starts[one] <= starts[other] and ends[other] <= ends[one]
