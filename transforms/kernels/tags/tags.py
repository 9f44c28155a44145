"""Tags around phrase pairs: their number, their phrase pairs, and their indices."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.indexed_tag import INDICES, MAX_TAGS
from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.enlarge import enlarged
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.kernels.tags.tag_draws import (
    Candidates,
    Draw,
    Shape,
    draw_phrases,
    draw_shaped,
    draw_weighted,
    insert_sorted,
)
from pairweave.transforms.kernels.tags.tag_text import PAIR
from pairweave.transforms.kernels.uncounted import uncounted

ATTEMPTS = 8
"""Maximum number of draws of a variant that repeats an earlier one."""


class PairChoices(NamedTuple):
    """Decisions on each pair before its tags are drawn.

    Attributes:
        keys: Keys of the pairs, uint64 ``[pair]``.
        limits: Maximum number of tags of each pair, at most `MAX_TAGS`, int64 ``[pair]``.
        plain: Which pairs get a row without tags, bool ``[pair]``.
        tagged: Which pairs get rows with tags if they can, bool ``[pair]``.
    """

    keys: np.ndarray
    limits: np.ndarray
    plain: np.ndarray
    tagged: np.ndarray


@uncounted
def draw_indices(
    run_seed: np.uint64, key: np.uint64, variant: Integer, count: Integer, indices: np.ndarray
) -> None:
    """Draw the numbers of a row's tags without repetition."""
    for index in range(INDICES):
        indices[index] = index
    for step in range(count):
        bits = sampling.draw(
            run_seed, key, sampling.STEP_TAG_INDICES, sampling.row_counter(variant, 0, step)
        )
        other = step + sampling.below(bits, np.int64(INDICES - step))
        indices[step], indices[other] = indices[other], indices[step]


@uncounted
def _is_repeated(
    drawn: np.ndarray, codes: np.ndarray, counts: np.ndarray, rows: Integer, row: Integer
) -> bool:
    """Tell whether a row of ``drawn`` and ``codes`` equals one of the first ``rows``."""
    count = counts[row]
    for earlier in range(rows):
        same = counts[earlier] == count
        for tag in range(count):
            if not same:
                break
            same = drawn[earlier, tag] == drawn[row, tag] and codes[earlier, tag] == codes[row, tag]
        if same:
            return True
    return False


@numba.njit(nogil=True, cache=True)
def choose_tags(
    run_seed: np.uint64,
    choices: PairChoices,
    phrase_pairs: Phrases,
    variants: int,
    free: int,
    shape: Shape | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Decide the rows of each pair, and the phrase pairs and numbers of their tags.

    The number of tags is uniform from 1 to the pair's limit. Phrase pairs are tried in random order
    and accepted if they nest with those accepted before (all, if ``free``), until there are enough
    or none is left. A variant with the phrase pairs of an earlier variant is drawn again, up to
    `ATTEMPTS` times; after that it is kept only if its indices differ.

    If phrase pairs have weights, each is drawn by weight among those that fit. With a
    ``shape``, numbers, forms and phrase pairs follow a profile (`transforms.tags.tag_profile`).

    Args:
        run_seed: The run's seed.
        choices: Decisions on each pair.
        phrase_pairs: The phrase pairs of each pair.
        variants: Rows with tags per pair.
        free: 1 if tags may cross.
        shape: The profile; without one, Numba compiles no code that draws by it.

    Returns:
        The pair of each row int64 ``[row]``, its variant (0 without tags) int16 ``[row]``, the
        start of its tags int64 ``[row + 1]``; the phrase pair of each tag int64 ``[tag]``, its
        number int16 ``[tag]`` and its form code int8 ``[tag]``, `PAIR` without a profile. Rows are
        in the order of pairs, then variants.
    """
    keys, limits, plain, tagged = choices
    phrase_offsets, boxes, weights = phrase_pairs
    pairs = len(keys)
    row_pair = np.empty(pairs * (variants + 1), np.int64)
    row_variant = np.empty(len(row_pair), np.int16)
    row_tags = np.zeros(len(row_pair) + 1, np.int64)
    phrases = np.empty(64, np.int64)
    numbers = np.empty(64, np.int16)
    forms = np.empty(64, np.int8)
    longest = 0
    for pair in range(pairs):
        longest = max(longest, phrase_offsets[pair + 1] - phrase_offsets[pair])
    order = np.empty(longest, np.int64)
    states = np.empty(longest, np.int8)
    codes = np.zeros((variants, MAX_TAGS), np.int8)
    drawn = np.empty((variants, MAX_TAGS), np.int64)
    drawn_numbers = np.empty((variants, MAX_TAGS), np.int64)
    counts = np.empty(variants, np.int64)
    indices = np.empty(INDICES, np.int16)
    rows = 0
    tags: Integer = np.int64(0)
    for pair in range(pairs):
        if plain[pair]:
            row_pair[rows] = pair
            row_variant[rows] = 0
            rows += 1
            row_tags[rows] = tags
        first = phrase_offsets[pair]
        candidates = phrase_offsets[pair + 1] - first
        if not tagged[pair] or limits[pair] < 1 or candidates < 1:
            continue
        eligible = Candidates(first, boxes, free, weights)
        kept: Integer = np.int64(0)
        for variant in range(1, variants + 1):
            for attempt in range(ATTEMPTS):
                row = Draw(run_seed, keys[pair], variant, attempt, limits[pair])
                if shape is not None:
                    counts[kept] = draw_shaped(
                        row, eligible, shape, states[:candidates], drawn[kept], codes[kept]
                    )
                elif len(weights):
                    counts[kept] = draw_weighted(row, eligible, states[:candidates], drawn[kept])
                else:
                    counts[kept] = draw_phrases(row, eligible, order[:candidates], drawn[kept])
                repeated = _is_repeated(drawn, codes, counts, kept, kept)
                if not repeated:
                    break
            count = counts[kept]
            if count == 0:
                break  # no phrase pair has a weight
            draw_indices(run_seed, keys[pair], variant, count, indices)
            for tag in range(count):
                drawn_numbers[kept, tag] = drawn[kept, tag] * INDICES + indices[tag]
            if repeated and _is_repeated(drawn_numbers, codes, counts, kept, kept):
                continue
            if tags + count > len(phrases):
                phrases = enlarged(phrases, tags, 2 * len(phrases))
                numbers = enlarged(numbers, tags, 2 * len(numbers))
                forms = enlarged(forms, tags, 2 * len(forms))
            for tag in range(count):
                phrases[tags] = drawn[kept, tag]
                forms[tags] = codes[kept, tag]
                numbers[tags] = indices[tag]
                tags += 1
            kept += 1
            row_pair[rows] = pair
            row_variant[rows] = variant
            rows += 1
            row_tags[rows] = tags
    return (
        row_pair[:rows].copy(),
        row_variant[:rows].copy(),
        row_tags[: rows + 1].copy(),
        phrases[:tags].copy(),
        numbers[:tags].copy(),
        forms[:tags].copy(),
    )


@numba.njit(nogil=True, cache=True)
def take_all(
    run_seed: np.uint64, keys: np.ndarray, plain: np.ndarray, phrase_pairs: Phrases
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tag all phrase pairs of each pair in one row, if it has any; only numbers are drawn.

    Args:
        run_seed: The run's seed.
        keys: As in `PairChoices`.
        plain: As in `PairChoices`.
        phrase_pairs: The phrase pairs of each pair, at most `MAX_TAGS`.

    Returns:
        The same as `choose_tags`.
    """
    phrase_offsets, boxes, _ = phrase_pairs
    pairs = len(keys)
    row_pair = np.empty(2 * pairs, np.int64)
    row_variant = np.empty(2 * pairs, np.int16)
    row_tags = np.zeros(2 * pairs + 1, np.int64)
    most = phrase_offsets[pairs] - phrase_offsets[0]
    phrases = np.empty(most, np.int64)
    numbers = np.empty(most, np.int16)
    indices = np.empty(INDICES, np.int16)
    rows = 0
    tags = 0
    for pair in range(pairs):
        count = phrase_offsets[pair + 1] - phrase_offsets[pair]
        for variant in range(2):
            if (variant == 0 and not plain[pair]) or (variant == 1 and count == 0):
                continue
            row_pair[rows] = pair
            row_variant[rows] = variant
            rows += 1
            if variant == 1:
                chosen = phrases[tags : tags + count]
                for phrase in range(count):
                    insert_sorted(boxes, phrase_offsets[pair] + phrase, chosen, phrase)
                draw_indices(run_seed, keys[pair], variant, count, indices)
                for tag in range(count):
                    numbers[tags + tag] = indices[tag]
                tags += count
            row_tags[rows] = tags
    return (
        row_pair[:rows].copy(),
        row_variant[:rows].copy(),
        row_tags[: rows + 1].copy(),
        phrases,
        numbers,
        np.full(tags, PAIR, np.int8),
    )
