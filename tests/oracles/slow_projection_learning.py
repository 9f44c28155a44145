"""The slow twin of `transforms.projection.known_places.learn_weights`, in plain Python.

Evidence is a dictionary from names to values, as in `slow_projection`.
"""

import itertools
import math
from collections import Counter

from pairweave.transforms.kernels.links.projection_points import POINT_EVIDENCE
from pairweave.transforms.projection.projection_weights import SPAN_NAMES
from tests.oracles import slow_projection
from tests.oracles.slow_tags import draw

TABLE = [round(math.exp(-step / 64), 12) for step in range(20 * 64)]
CERTAIN = 1 << 40
CANDIDATES = 12


class Learner:
    """The weights of one kind of evidence."""

    def __init__(self, names):
        self.weights = dict.fromkeys(names, 0.0)
        self.squares = dict.fromkeys(names, 100.0)
        self.totals = dict.fromkeys(names, 0.0)
        self.steps = 0

    def learn(self, choices, gold):
        """Learn from the evidence of all candidates and of the right one; tell if it was best."""
        rounded = {name: math.floor(weight + 0.5) for name, weight in self.weights.items()}
        scores = [slow_projection.score(evidence, rounded) for evidence in choices]
        shares = [
            TABLE[below] if (below := (max(scores) - score) * 64 // 5_000) < len(TABLE) else 0.0
            for score in scores
        ]
        for name in self.weights:
            expected = sum(
                share * evidence.get(name, 0)
                for share, evidence in zip(shares, choices, strict=True)
            )
            gradient = gold.get(name, 0) - expected / sum(shares)
            self.squares[name] += gradient * gradient
            self.weights[name] += 20 * gradient / math.sqrt(self.squares[name])
            self.weights[name] -= 1e-6 * self.weights[name]
            self.totals[name] += self.weights[name]
        self.steps += 1
        return slow_projection.score(gold, rounded) == max(scores)

    def means(self, most):
        """Return the means of the weights after all steps of the last pass."""
        means = (math.floor(total / max(1, self.steps) + 0.5) for total in self.totals.values())
        return tuple(max(-most, min(most, mean)) for mean in means)


def examples_of(pair, elements):
    """Yield the kind of each element, the evidence of all its candidates, and of the right one.

    Args:
        pair: The pair, `slow_projection.Pair`.
        elements: (offsets of tags, setting, offsets in the translation) of each.
    """
    by_offset = {place[0]: place for place in pair.places}
    for (start, end), setting, gold in elements:
        if not by_offset.keys() >= set(gold):
            continue
        right = [by_offset[at] for at in gold]
        if start == end:
            every = {
                place: slow_projection.point_evidence(pair, start, place, keyed=setting[2])
                for place in pair.places
            }
            yield 1, list(every.values()), every[right[0]]
            continue
        first, last = pair.inside(start, end)
        if first < last and right[0][1] < right[1][1]:
            every = {
                (a, b): slow_projection.evidence_of_span(pair, start, end, setting, a, b)
                for a, b in itertools.combinations(pair.places, 2)
                if a[1] < b[1]
            }
            yield 0, list(every.values()), every[tuple(right)]


def confidence(rows):
    """Return margins and shares of (margin, whether right) of elements.

    Twelve groups, and two neighbours become one until each has a larger margin and share.
    """
    rows, groups, start = sorted(rows), [], 0
    for number in range(12):
        size = len(rows) // 12 + (number < len(rows) % 12)
        groups += [rows[start : start + size]] if size else []
        start += size

    def wrong_order(one, other):
        shares = [Counter(right for _, right in group)[True] / len(group) for group in (one, other)]
        return one[0][0] == other[0][0] or shares[1] <= shares[0]

    while True:
        at = next(
            (at for at in range(len(groups) - 1) if wrong_order(groups[at], groups[at + 1])), None
        )
        if at is None:
            break
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
    shares = tuple(1_000 * sum(right for _, right in group) // len(group) for group in groups)
    return tuple(group[0][0] for group in groups[1:]), shares or (0,)


def learn_weights(segments, passes, most):
    """Return weights of spans and of points, margins and shares, and what is told of each pass."""
    learners = Learner(SPAN_NAMES), Learner(POINT_EVIDENCE)
    examples = [
        list(examples_of(*segment)) for number, segment in enumerate(segments) if number % 5
    ]
    told = []
    for number in range(passes):
        for learner in learners:
            learner.totals, learner.steps = dict.fromkeys(learner.totals, 0.0), 0
        order = sorted(range(len(examples)), key=lambda key, seed=number: draw(seed, key, 0, 0))
        right = [
            learners[kind].learn(every, gold)
            for place in order
            for kind, every, gold in examples[place]
        ]
        told.append((number + 1, right.count(False), len(right)))
    spans, points = (learner.means(most) for learner in learners)
    named = (
        dict(zip(SPAN_NAMES, spans, strict=True)),
        dict(zip(POINT_EVIDENCE, points, strict=True)),
    )
    rows = []
    for pair, elements in segments[::5]:
        for bounds, setting, gold in elements:
            best = slow_projection.candidates(pair, *bounds, setting, *named)[:CANDIDATES]
            margin = best[0][0] - best[1][0] if len(best) > 1 else CERTAIN
            rows.append((margin, best[0][1:] == gold))
    return spans, points, *confidence(rows), told
