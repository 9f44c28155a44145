"""Learning the weights of evidence from tags that people placed.

A candidate's probability is the softmax of the scores of all candidates of its element, so a weight
moves by the evidence of the place where the tag is, less the evidence expected under the current
weights. AdaGrad (Duchi et al. 2011) sets the steps. Only additions, multiplications, divisions and
square roots of 64-bit floating-point numbers are used, and a table of the exponential function, so
the result is the same on every machine.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.links import projection, projection_spans
from pairweave.transforms.kernels.links.projection_evidence import (
    PLACE_EVIDENCE,
    TOKEN_EVIDENCE,
)
from pairweave.transforms.kernels.links.projection_points import point_evidence
from pairweave.transforms.kernels.uncounted import uncounted

TEMPERATURE = 5_000
"""Difference of two scores that makes one candidate e times as probable as the other."""

STEPS_PER_E = 64
"""Entries of the table for each factor e of probability."""

RATE = 20.0
"""Rate of AdaGrad, in units of weights: with 8, more passes are needed."""

DECAY = 1e-6
"""Share by which each step shrinks every weight, so that evidence that never matters stays 0."""

TOKENS, CLOSE, SPANS = len(TOKEN_EVIDENCE), projection_spans.CLOSE_FROM, projection_spans.SPAN_FROM


class Learner(NamedTuple):
    """State of the learning of one kind of weights, float64 ``[evidence]``; changed in place.

    Attributes:
        weights: The current weights.
        squares: Sum of the squares of all gradients.
        totals: Sum of the weights after each step of the current pass.
    """

    weights: np.ndarray
    squares: np.ndarray
    totals: np.ndarray


def exponential() -> np.ndarray:
    """Return the table of the probabilities of scores below the best one, float64."""
    return np.round(np.exp(-np.arange(20 * STEPS_PER_E) / STEPS_PER_E), 12)


@uncounted
def step(learner: Learner, gradient: np.ndarray) -> None:
    """Move the weights along a gradient."""
    weights, squares, totals = learner
    for name in range(len(weights)):
        squares[name] += gradient[name] * gradient[name]
        if squares[name] > 0:
            weights[name] += RATE * gradient[name] / np.sqrt(squares[name])
        weights[name] -= DECAY * weights[name]
        totals[name] += weights[name]


@numba.njit(nogil=True, cache=True)
def rounded(weights: np.ndarray) -> np.ndarray:
    """Return weights as integers."""
    integers = np.empty(len(weights), np.int64)
    for name in range(len(weights)):
        integers[name] = np.int64(np.floor(weights[name] + 0.5))
    return integers


@numba.njit(nogil=True, cache=True)
def learn_span(
    pair: projection_spans.Pair,
    bounds: tuple[int, int],
    setting: tuple[bool, bool, bool],
    gold: tuple[int, int],
    learner: Learner,
    table: np.ndarray,
) -> bool:
    """Learn from one element with words, and tell whether its place was the best already.

    Args:
        pair: The pair.
        bounds: Offsets of the element's tags in the source.
        setting: `transforms.kernels.links.projection.setting_of` the element.
        gold: Numbers of the places of its tags in the target.
        learner: The state of learning.
        table: `exponential`.
    """
    spans = projection_spans.gather(pair, bounds, setting)
    scores = projection_spans.score_spans(pair, spans, rounded(learner.weights))
    places = len(scores)
    top = scores.max()
    opening, closing = np.zeros(places), np.zeros(places)
    gradient = np.zeros(len(learner.weights))
    row = np.zeros(projection_spans.SPAN_WEIGHTS - SPANS, np.int64)
    whole = 0.0
    for start in range(places):
        for end in range(start + 1, places):
            if pair.places.before[start] == pair.places.before[end]:
                continue
            below = (top - scores[start, end]) * STEPS_PER_E // TEMPERATURE
            if below >= len(table):
                continue
            share = table[below]
            whole += share
            opening[start] += share
            closing[end] += share
            projection_spans.span_evidence(pair, spans, start, end, row)
            for name in range(len(row)):
                gradient[SPANS + name] -= share * row[name]
    for place in range(places):
        if opening[place] == 0 and closing[place] == 0:
            continue
        for name in range(len(TOKEN_EVIDENCE)):
            share = closing[place] - opening[place]
            gradient[name] -= share * spans.tokens[place, name]
        for name in range(len(PLACE_EVIDENCE)):
            gradient[TOKENS + name] -= opening[place] * spans.opening[place, name]
            gradient[CLOSE + name] -= closing[place] * spans.closing[place, name]
    right = projection_spans.evidence_of_span(pair, spans, gold[0], gold[1])
    for name in range(len(gradient)):
        gradient[name] = gradient[name] / whole + right[name]
    step(learner, gradient)
    return scores[gold[0], gold[1]] == top


@numba.njit(nogil=True, cache=True)
def learn_point(
    pair: projection_spans.Pair,
    tag: tuple[int, bool],
    gold: int,
    learner: Learner,
    table: np.ndarray,
) -> bool:
    """Learn from one tag that no word belongs to, and tell whether its place was the best already.

    Args:
        pair: The pair.
        tag: Offset of the tag in the source, and whether it has an id.
        gold: Number of its place in the target.
        learner: The state of learning.
        table: `exponential`.
    """
    at, keyed = tag
    rows = point_evidence(
        pair.source, pair.target, pair.characters.shapes, at, keyed, pair.places, pair.table
    )
    scores = projection_spans.sum_places(rows, rounded(learner.weights))
    top = scores.max()
    gradient = np.zeros(len(learner.weights))
    whole = 0.0
    for place in range(len(rows)):
        below = (top - scores[place]) * STEPS_PER_E // TEMPERATURE
        if below >= len(table):
            continue
        whole += table[below]
        for name in range(len(gradient)):
            gradient[name] -= table[below] * rows[place, name]
    for name in range(len(gradient)):
        gradient[name] = gradient[name] / whole + rows[gold, name]
    step(learner, gradient)
    return scores[gold] == top


@numba.njit(nogil=True, cache=True)
def margin_of(
    pair: projection_spans.Pair,
    bounds: tuple[int, int],
    setting: tuple[bool, bool, bool],
    gold: tuple[int, int],
    weights: projection.Weights,
) -> tuple[int, bool]:
    """Return the margin of the best place of an element, and whether it is where people put it."""
    opening, closing, scores = projection.find_candidates(
        pair, bounds[0], bounds[1], setting, weights
    )
    margin = scores[0] - scores[1] if len(scores) > 1 else projection.CERTAIN
    return margin, opening[0] == gold[0] and closing[0] == gold[1]
