"""The word aligner's mathematics in plain Python, for comparison with its kernels."""

import itertools
import math

from pairweave.transforms.kernels.hmm.emissions import (
    LIKENESS_WEIGHT,
    MAX_LETTERS,
    MIN_LETTERS,
    UNIGRAM_WEIGHT,
)
from pairweave.transforms.kernels.hmm.hmm import JUMPS
from pairweave.transforms.kernels.hmm.sides import STEM_PRIOR


def jump_weight(jumps, distance):
    return float(jumps[min(max(distance, -JUMPS), JUMPS) + JUMPS])


def paths(emission, null, jumps, p_null):
    """Yield each alignment of a small pair (-1 for no state), its probability and its jumps."""
    words, states = len(emission), len(emission[0])
    for path in itertools.product(range(-1, states), repeat=words):
        last, probability, distances = -1, 1.0, []
        for word, state in enumerate(path):
            if state < 0:
                probability *= p_null * null[word]
                continue
            total = sum(jump_weight(jumps, other - last) for other in range(states))
            probability *= (1 - p_null) * jump_weight(jumps, state - last) / total
            probability *= emission[word][state]
            distances.append(state - last)
            last = state
        yield path, probability, distances


def enumerated(emission, null, jumps, p_null):
    """Return likelihood, posteriors, jump counts and the best alignment, by listing all."""
    words, states = len(emission), len(emission[0])
    total, best = 0.0, (-1.0, None)
    links = [[0.0] * states for _ in range(words)]
    counts = [0.0] * (2 * JUMPS + 1)
    for path, probability, distances in paths(emission, null, jumps, p_null):
        total += probability
        if probability > best[0]:
            best = (probability, path)
        for word, state in enumerate(path):
            if state >= 0:
                links[word][state] += probability
        for distance in distances:
            counts[min(max(distance, -JUMPS), JUMPS) + JUMPS] += probability
    return (
        math.log(total),
        [[value / total for value in row] for row in links],
        [value / total for value in counts],
        best[1],
    )


def windowed(emission, low, null, jumps, p_null):
    """Return likelihood and posteriors by forward and backward passes over windows.

    A position is a number from the window's first state on, or -1 for all before it.
    """
    words, width = len(emission), len(emission[0])

    def moved(last, word):
        return max(last - (low[word] - low[word - 1]), -1) if word else last

    def go(last, state):
        total = sum(jump_weight(jumps, other - last) for other in range(width))
        return (1 - p_null) * jump_weight(jumps, state - last) / total

    lasts = range(-1, width)
    before = [dict.fromkeys(lasts, 0.0) for _ in range(words + 1)]
    before[0][-1] = 1.0
    made = []
    for word in range(words):
        made.append(
            [
                emission[word][state] * sum(before[word][last] * go(last, state) for last in lasts)
                for state in range(width)
            ]
        )
        after = {last: p_null * null[word] * before[word][last] for last in lasts}
        for state in range(width):
            after[state] += made[word][state]
        for last in lasts:
            before[word + 1][moved(last, word + 1) if word + 1 < words else last] += after[last]
    likelihood = sum(before[words].values())
    behind = dict.fromkeys(lasts, 1.0)
    links = [[0.0] * width for _ in range(words)]
    for word in reversed(range(words)):
        if word + 1 < words:
            behind = {last: behind[moved(last, word + 1)] for last in lasts}
        links[word] = [made[word][state] * behind[state] / likelihood for state in range(width)]
        behind = {
            last: p_null * null[word] * behind[last]
            + sum(go(last, state) * emission[word][state] * behind[state] for state in range(width))
            for last in lasts
        }
    return math.log(likelihood), links


def common_subsequence(one, other):
    """Return the length of a longest common subsequence."""
    line = [0] * (len(other) + 1)
    for letter in one:
        above = line[:]
        for at, by in enumerate(other):
            line[at + 1] = above[at] + 1 if letter == by else max(above[at + 1], line[at])
    return line[-1]


def likeness(one, other):
    """Return how alike two folded words are."""
    if one == other:
        return 1.0 if one else 0.0
    shorter, longer = sorted((len(one), len(other)))
    if shorter < MIN_LETTERS or longer > MAX_LETTERS or 2 * shorter <= longer:
        return 0.0
    if one[0] in "0123456789" or other[0] in "0123456789":
        return 0.0
    ratio = common_subsequence(one, other) / longer
    return max(0.0, 2 * ratio - 1) ** 2


def translation_probability(count, mass, prior, stem_count, stem_mass, share, alike, unigram):
    """Return p(other | word): counts, smoothed by stems, letters and frequency."""
    base = stem_count * share
    base += float(STEM_PRIOR) * (float(LIKENESS_WEIGHT) * alike + float(UNIGRAM_WEIGHT) * unigram)
    base /= stem_mass + float(STEM_PRIOR)
    return (count + prior * base) / (mass + prior)
