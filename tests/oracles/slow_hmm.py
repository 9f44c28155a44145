"""The word aligner's mathematics in plain Python, for comparison with its kernels."""

import itertools
import math

from pairweave.transforms.kernels.hmm.emissions import (
    LIKENESS_WEIGHT,
    MAX_LETTERS,
    MIN_LETTERS,
    UNIGRAM_WEIGHT,
)
from pairweave.transforms.kernels.hmm.hmm import BUCKETS, JUMPS, NEAR
from pairweave.transforms.kernels.hmm.sides import STEM_PRIOR


def bucket(distance):
    """Return the kind of a jump after a word: far back, each near distance, far ahead."""
    kinds = [distance < 2 - NEAR, *(distance == near for near in range(2 - NEAR, NEAR + 1))]
    return [*kinds, distance > NEAR].index(True)


def jump_weight(jumps, distance, factors=None):
    """Return the weight of a jump; the outermost weights cover all longer jumps.

    Args:
        jumps: Weight of each distance.
        distance: The distance.
        factors: Factor of each kind of jump after the word that it begins at.
    """
    weight = float(jumps[min(max(distance, -JUMPS), JUMPS) + JUMPS])
    return weight if factors is None else weight * float(factors[bucket(distance)])


def paths(emission, null, jumps, p_null, factors=None, p_last=0.0):
    """Yield each alignment of a small pair (-1 for no state), its probability and its jumps.

    ``factors`` are those of the begin of the side, then of each state. A jump is the position that
    it begins at (0: the begin), its distance, and the probability that the state was chosen by it.
    """
    words, states = len(emission), len(emission[0])
    factors = [None] * (states + 1) if factors is None else factors
    for path in itertools.product(range(-1, states), repeat=words):
        last, probability, made = -1, 1.0, []
        for word, state in enumerate(path):
            if state < 0:
                probability *= p_null * null[word]
                continue
            after = factors[last + 1]
            total = sum(jump_weight(jumps, other - last, after) for other in range(states))
            jump = jump_weight(jumps, state - last, after) / total
            both = jump
            if word == words - 1:
                jump *= 1 - p_last
                both = jump + (p_last if state == states - 1 else 0)
            probability *= (1 - p_null) * both * emission[word][state]
            made.append((last + 1, state - last, jump / both))
            last = state
        yield path, probability, made


def enumerated(emission, null, jumps, p_null, factors=None, p_last=0.0):
    """Return what the passes compute, by listing all alignments.

    Returns:
        Likelihood, posteriors, counts of jumps by distance, the best alignment, and counts of
        jumps by position and bucket.
    """
    words, states = len(emission), len(emission[0])
    total, best = 0.0, (-1.0, None)
    links = [[0.0] * states for _ in range(words)]
    counts = [0.0] * (2 * JUMPS + 1)
    after = [[0.0] * BUCKETS for _ in range(states + 1)]
    for path, probability, made in paths(emission, null, jumps, p_null, factors, p_last):
        total += probability
        if probability > best[0]:
            best = (probability, path)
        for word, state in enumerate(path):
            if state >= 0:
                links[word][state] += probability
        for position, distance, by_jump in made:
            counts[min(max(distance, -JUMPS), JUMPS) + JUMPS] += probability * by_jump
            after[position][bucket(distance)] += probability * by_jump
    return (
        math.log(total),
        [[value / total for value in row] for row in links],
        [value / total for value in counts],
        best[1],
        [[value / total for value in row] for row in after],
    )


def windowed(emission, low, null, jumps, p_null, factors=None, p_last=0.0):
    """Return likelihood and posteriors by forward and backward passes over windows.

    A position is a number from the window's first state on, or -1 for all before it. ``factors``
    are those of each position, from -1 on.
    """
    words, width = len(emission), len(emission[0])

    def moved(last, word):
        return max(last - (low[word] - low[word - 1]), -1) if word else last

    def go(last, state, word):
        after = None if factors is None else factors[last + 1]
        total = sum(jump_weight(jumps, other - last, after) for other in range(width))
        jump = jump_weight(jumps, state - last, after) / total
        if word == words - 1:
            jump = (1 - p_last) * jump + (p_last if state == width - 1 else 0)
        return (1 - p_null) * jump

    lasts = range(-1, width)
    before = [dict.fromkeys(lasts, 0.0) for _ in range(words + 1)]
    before[0][-1] = 1.0
    made = []
    for word in range(words):
        made.append(
            [
                emission[word][state]
                * sum(before[word][last] * go(last, state, word) for last in lasts)
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
            + sum(
                go(last, state, word) * emission[word][state] * behind[state]
                for state in range(width)
            )
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
