"""Names of the tags of pairs, for representations in which names depend on the tags' order.

A tag is an integer: three times the number of its element, plus `OPEN`, `CLOSE` or `EMPTY`. The
tags of a pair are ordered as in the source, followed by those that only the target has
(`transforms.markup.tag_table.TagTable`).
"""

import numba
import numpy as np

from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.uncounted import uncounted

OPEN, CLOSE, EMPTY = range(3)
KINDS = 3

XLIFF, MASKED, HTML = range(3)
"""Naming schemes (`transforms.symbols.tag_xliff`, `transforms.symbols.tag_symbols`)."""

WHOLE_OPEN, WHOLE_CLOSE, ALONE, HALF_OPEN, HALF_CLOSE = range(5)
"""Uses of a tag: tags of a whole pair, an empty tag, and halves of a pair."""
USES = 5


@uncounted
def _rank(tags: np.ndarray, ranks: np.ndarray) -> Integer:
    """Number the elements of tags in the order of their first tags; return their number."""
    elements = np.int64(0)
    for place in range(len(tags)):
        ranks[place] = -1
        for earlier in range(place):
            if tags[earlier] // KINDS == tags[place] // KINDS:
                ranks[place] = ranks[earlier]
                break
        if ranks[place] < 0:
            ranks[place] = elements
            elements += 1
    return elements


@uncounted
def _find_halves(opens: np.ndarray, closes: np.ndarray, whole: np.ndarray) -> None:
    """Flag the elements that are pairs and cross no other.

    Args:
        opens: Place of each element's opening tag in the order of the pair, -1 for none.
        closes: Place of its closing tag.
        whole: Receives the flags.
    """
    for one in range(len(opens)):
        whole[one] = opens[one] >= 0 and closes[one] >= 0
    for one in range(len(opens)):
        for other in range(len(opens)):
            if opens[one] < 0 or closes[one] < 0 or opens[other] < 0 or closes[other] < 0:
                continue
            if opens[one] < opens[other] < closes[one] < closes[other]:
                whole[one] = False
                whole[other] = False


@numba.njit(nogil=True, cache=True)
def _nest(tags: np.ndarray, ranks: np.ndarray, whole: np.ndarray, nested: np.ndarray) -> None:
    """Flag the tags of one side whose pairs XLIFF can write as elements."""
    count = len(tags)
    partners = np.full(count, -1, np.int64)
    for place in range(count):
        nested[place] = False
        if tags[place] % KINDS != CLOSE or not whole[ranks[place]]:
            continue
        # The last opening tag of the element that is still open.
        for before in range(place - 1, -1, -1):
            same = ranks[before] == ranks[place] and tags[before] % KINDS == OPEN
            if same and partners[before] < 0:
                partners[before] = place
                break
    for start in range(count):
        end = partners[start]
        if end < 0:
            continue
        crosses = False
        for other in range(start):
            crosses |= nested[other] and start < partners[other] < end
        nested[start] = not crosses
    for start in range(count):
        if partners[start] >= 0:
            nested[partners[start]] = nested[start]


@numba.njit(nogil=True, cache=True)
def name_tags(
    offsets: np.ndarray, in_source: np.ndarray, tags: np.ndarray, way: int
) -> tuple[np.ndarray, np.ndarray]:
    """Name the tags of pairs.

    Args:
        offsets: Start of each pair's tags, int64 ``[pair + 1]``; the source's come first.
        in_source: Number of tags of the source, int64 ``[pair]``.
        tags: The tags, int64 ``[tag]``.
        way: `XLIFF`, `MASKED` or `HTML`.

    Returns:
        The use of each tag (`WHOLE_OPEN` and so on), int8 ``[tag]``; with `HTML` all opening tags
        are `WHOLE_OPEN`, all closing ones `WHOLE_CLOSE`. And its number, int64 ``[tag]``, from 0:
        `XLIFF` numbers elements, `MASKED` the tags of each use, and `HTML` the elements that begin
        with an empty tag and all others separately.
    """
    longest = 0
    for pair in range(len(in_source)):
        longest = max(longest, offsets[pair + 1] - offsets[pair])
    uses = np.empty(offsets[-1], np.int8)
    numbers = np.empty(offsets[-1], np.int64)
    ranks = np.empty(longest, np.int64)
    nested = np.empty(longest, np.bool_)
    for pair in range(len(in_source)):
        begin, end = offsets[pair], offsets[pair + 1]
        own = tags[begin:end]
        elements = _rank(own, ranks)
        places = np.full((3, elements), -1, np.int64)
        ordered = 0
        for place in range(len(own)):
            kind = own[place] % KINDS
            if places[kind, ranks[place]] < 0:
                places[kind, ranks[place]] = ordered
                ordered += 1
        whole = np.empty(elements, np.bool_)
        _find_halves(places[OPEN], places[CLOSE], whole)
        if way == XLIFF:
            middle = in_source[pair]
            _nest(own[:middle], ranks[:middle], whole, nested[:middle])
            count = len(own)
            _nest(own[middle:], ranks[middle:count], whole, nested[middle:count])
        following = np.zeros(5, np.int64)
        told = np.full((3, elements), -1, np.int64)
        for place in range(len(own)):
            kind, element = own[place] % KINDS, ranks[place]
            alike = whole[element]
            if way == XLIFF:
                alike = nested[place]
            if way == HTML:
                alike = True
            use = ALONE
            if kind != EMPTY:
                use = kind + (WHOLE_OPEN if alike else HALF_OPEN)
            uses[begin + place] = use
            if way == XLIFF:
                numbers[begin + place] = element
                continue
            row = kind
            group = use
            if way == HTML:
                row = 0
                group = ALONE if kind == EMPTY else WHOLE_OPEN
            if told[row, element] < 0:
                told[row, element] = following[group]
                following[group] += 1
            numbers[begin + place] = told[row, element]
    return uses, numbers


@numba.njit(nogil=True, cache=True)
def draw_tag_ids(
    run_seed: np.uint64, keys: np.ndarray, variants: np.ndarray, elements: int, most: int
) -> np.ndarray:
    """Draw ids for the elements of rows, from 0 to below ``most``, without repetition in a row.

    Args:
        run_seed: The run's seed.
        keys: Key of each row's pair, uint64 ``[row]``.
        variants: Number of each row within its pair, int64 ``[row]``.
        elements: Number of ids to draw for a row, at most ``most``.
        most: Number of ids.

    Returns:
        int64 ``[row, element]``.
    """
    drawn = np.empty((len(keys), elements), np.int64)
    for row in range(len(keys)):
        tries = 0
        for element in range(elements):
            again = True
            while again:
                bits = sampling.draw(
                    run_seed,
                    keys[row],
                    sampling.STEP_TAG_IDS,
                    sampling.row_counter(variants[row], 0, tries),
                )
                tries += 1
                drawn[row, element] = sampling.below(bits, np.int64(most))
                again = False
                for earlier in range(element):
                    again |= drawn[row, earlier] == drawn[row, element]
    return drawn
