"""Draws of the phrase pairs of a row: uniform, by weight, or by a profile."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.links.nesting import are_disjoint, comes_before, nests
from pairweave.transforms.kernels.tags.tag_text import FORM_CODES
from pairweave.transforms.kernels.uncounted import uncounted

# A candidate is disjoint from all chosen ones, nests with one, or is excluded.
_LEFT, _RELATED, _OUT = range(3)


class Draw(NamedTuple):
    """The parameters of the draws of a row.

    Attributes:
        seed: The run's seed, uint64.
        key: Key of the row's pair, uint64.
        variant: The row's variant, from 1.
        attempt: Number of previous draws of the row.
        most: Maximum number of tags of the row.
    """

    seed: np.uint64
    key: np.uint64
    variant: Integer
    attempt: Integer
    most: Integer


class Candidates(NamedTuple):
    """The phrase pairs that a row may tag.

    Attributes:
        first: The pair's first phrase pair.
        boxes: All phrase pairs, int16 ``[4, phrase pair]`` (`transforms.kernels.links.nesting`).
        free: 1 if tags may cross.
        weights: Weight of each phrase pair in draws, float32 ``[phrase pair]``; ``[0]`` if all
            are equal.
    """

    first: Integer
    boxes: np.ndarray
    free: int
    weights: np.ndarray


class Shape(NamedTuple):
    """A profile of tags (`transforms.tags.tag_profile`), and the cells of phrase pairs in it.

    Attributes:
        cells: Cell of each phrase pair for each form code (`transforms.kernels.tags.tag_text`),
            uint8 ``[code, phrase pair]``.
        count_shares: Share of 1, 2 … tags, float64 ``[MAX_TAGS]``.
        form_shares: Share of each form, float64 ``[form]``.
        cell_shares: Share of each cell, float64 ``[cell]``.
        nested_share: Share of tags that nest with an earlier one of their text.
    """

    cells: np.ndarray
    count_shares: np.ndarray
    form_shares: np.ndarray
    cell_shares: np.ndarray
    nested_share: np.float64


@uncounted
def draw_phrases(
    row: Draw, phrase_pairs: Candidates, order: np.ndarray, chosen: np.ndarray
) -> Integer:
    """Draw phrase pairs into ``chosen``, in the order of their tags; return their number.

    Args:
        row: The row.
        phrase_pairs: The phrase pairs to draw from.
        order: Scratch, int64 ``[candidate]``.
        chosen: Receives the phrase pairs, int64.
    """
    run_seed, key, variant, attempt, most = row
    first, boxes, free, _ = phrase_pairs
    candidates = len(order)
    bits = sampling.draw(
        run_seed, key, sampling.STEP_TAG_COUNT, sampling.row_counter(variant, attempt, 0)
    )
    wanted = 1 + sampling.below(bits, np.int64(most))
    for candidate in range(candidates):
        order[candidate] = first + candidate
    count: Integer = np.int64(0)
    for step in range(candidates):
        if count == wanted:
            break
        bits = sampling.draw(
            run_seed, key, sampling.STEP_TAG_PHRASES, sampling.row_counter(variant, attempt, step)
        )
        other = step + sampling.below(bits, np.int64(candidates - step))
        phrase = order[other]
        order[other] = order[step]
        fits = True
        if not free:
            for earlier in range(count):
                if not nests(boxes, phrase, chosen[earlier]):
                    fits = False
                    break
        if fits:
            insert_sorted(boxes, phrase, chosen, count)
            count += 1
    return count


@uncounted
def insert_sorted(
    boxes: np.ndarray, phrase: Integer, chosen: np.ndarray, count: Integer
) -> Integer:
    """Insert a phrase pair among the chosen, in the order of their tags; return its place."""
    place = count
    while place > 0 and comes_before(boxes, phrase, chosen[place - 1]):
        chosen[place] = chosen[place - 1]
        place -= 1
    chosen[place] = phrase
    return place


@uncounted
def _weight_of(weights: np.ndarray, phrase: Integer) -> np.float64:
    return np.float64(weights[phrase]) if len(weights) else np.float64(1)


@uncounted
def _update_states(
    boxes: np.ndarray, first: Integer, phrase: Integer, free: int, states: np.ndarray
) -> None:
    """Update the states of a pair's phrase pairs after one was chosen."""
    for candidate in range(len(states)):
        other = first + candidate
        if other == phrase:
            states[candidate] = _OUT
        elif states[candidate] != _OUT and not are_disjoint(boxes, phrase, other):
            fits = free or nests(boxes, phrase, other)
            states[candidate] = _RELATED if fits else _OUT


@uncounted
def draw_weighted(
    row: Draw, phrase_pairs: Candidates, states: np.ndarray, chosen: np.ndarray
) -> Integer:
    """Draw phrase pairs by weight, each from those that still fit.

    Args:
        row: The row.
        phrase_pairs: The phrase pairs to draw from.
        states: Scratch, int8 ``[candidate]``.
        chosen: Receives the phrase pairs, int64.
    """
    run_seed, key, variant, attempt, most = row
    first, boxes, free, weights = phrase_pairs
    bits = sampling.draw(
        run_seed, key, sampling.STEP_TAG_COUNT, sampling.row_counter(variant, attempt, 0)
    )
    wanted = 1 + sampling.below(bits, np.int64(most))
    states[:] = _LEFT
    for count in range(wanted):
        total = 0.0
        for candidate in range(len(states)):
            if states[candidate] != _OUT:
                total += _weight_of(weights, first + candidate)
        if not total > 0.0:
            return count
        bits = sampling.draw(
            run_seed, key, sampling.STEP_TAG_PHRASES, sampling.row_counter(variant, attempt, count)
        )
        left = sampling.unit_interval(bits) * total
        phrase: Integer = np.int64(-1)
        for candidate in range(len(states)):
            weight = _weight_of(weights, first + candidate)
            if states[candidate] == _OUT or not weight > 0.0:
                continue
            phrase = first + candidate  # the last one, in case of rounding errors
            left -= weight
            if left < 0.0:
                break
        insert_sorted(boxes, phrase, chosen, count)
        _update_states(boxes, first, phrase, free, states)
    return wanted


@uncounted
def categorical(shares: np.ndarray, unit: np.float64) -> Integer:
    """Draw an entry by its share; the shares need not sum to 1. Return -1 if all are 0."""
    left = unit * shares.sum()
    drawn = np.int64(-1)
    for entry in range(len(shares)):
        if shares[entry] > 0.0:
            drawn = np.int64(entry)
            left -= shares[entry]
            if left < 0.0:
                break
    return drawn


@numba.njit(nogil=True, cache=True)
def draw_shaped(
    row: Draw,
    phrase_pairs: Candidates,
    shape: Shape,
    states: np.ndarray,
    chosen: np.ndarray,
    codes: np.ndarray,
) -> Integer:
    """Draw phrase pairs and forms by a profile, in the order of tags; return their number.

    The number of tags is drawn first; then, for each tag, its form, whether it nests with an
    earlier one, its cell among those of the pair, and finally a phrase pair of the cell.

    Args:
        row: The row.
        phrase_pairs: The phrase pairs to draw from.
        shape: The profile.
        states: Scratch, int8 ``[candidate]``.
        chosen: Receives the phrase pairs, int64.
        codes: Receives the form codes, int8.
    """
    run_seed, key, variant, attempt, most = row
    first, boxes, free, weights = phrase_pairs
    cells, count_shares, form_shares, cell_shares, nested_share = shape
    bits = sampling.draw(
        run_seed, key, sampling.STEP_TAG_COUNT, sampling.row_counter(variant, attempt, 0)
    )
    wanted = 1 + max(0, categorical(count_shares[:most], sampling.unit_interval(bits)))
    states[:] = _LEFT
    cell_weights = np.empty(len(cell_shares), np.float64)
    for count in range(wanted):
        draws = np.empty(4, np.float64)
        for part in range(4):
            draw_counter = sampling.row_counter(variant, attempt, 4 * count + part)
            draws[part] = sampling.unit_interval(
                sampling.draw(run_seed, key, sampling.STEP_TAG_SHAPES, draw_counter)
            )
        form = categorical(form_shares, draws[0])
        relation = _RELATED if draws[1] < nested_share else _LEFT
        for attempted in range(2):
            cell_weights[:] = 0.0
            for candidate in range(len(states)):
                state = states[candidate]
                if state == _OUT or (count and not attempted and state != relation):
                    continue
                for code in FORM_CODES[form]:
                    if code >= 0:
                        weight = _weight_of(weights, first + candidate)
                        cell_weights[cells[code, first + candidate]] += weight
            if cell_weights.sum() > 0.0:
                break
        else:
            return count
        shares = np.where(cell_weights > 0.0, cell_shares, 0.0)
        # If the profile has no share for the pair's cells, only the phrase pairs' weights count.
        cell = categorical(shares if shares.sum() > 0.0 else cell_weights, draws[2])
        left = draws[3] * cell_weights[cell]
        phrase: Integer = np.int64(-1)
        chosen_code = np.int64(0)
        for candidate in range(len(states)):
            state = states[candidate]
            weight = _weight_of(weights, first + candidate)
            if state == _OUT or not weight > 0.0:
                continue
            if count and not attempted and state != relation:
                continue
            for code in FORM_CODES[form]:
                if code < 0 or cells[code, first + candidate] != cell or left < 0.0:
                    continue
                phrase = first + candidate
                chosen_code = code
                left -= weight
            if left < 0.0:
                break
        place = insert_sorted(boxes, phrase, chosen, count)
        for later in range(count, place, -1):
            codes[later] = codes[later - 1]
        codes[place] = chosen_code
        _update_states(boxes, first, phrase, free, states)
    return wanted
