"""Sentence alignment in plain Python: beads scored one by one, paths found by memory."""

import functools
import math

NO_PATH = -1e30


def best_path(rows, columns, priors, score):
    """Return the best sum and its beads ``(sources, targets)`` among all paths.

    Args:
        rows: Source sentences.
        columns: Target sentences.
        priors: Logarithm of the probability of each kind of bead.
        score: Of a bead with both sides, given its ranges of sentences.
    """

    @functools.cache
    def best(row, column):
        if row == column == 0:
            return 0.0, ()
        found = (NO_PATH, ())
        for (sources, targets), log_prior in priors.items():
            if sources > row or targets > column:
                continue
            before, beads = best(row - sources, column - targets)
            total = before + log_prior
            if sources and targets:
                total += score(range(row - sources, row), range(column - targets, column))
            if total > found[0]:
                found = total, (*beads, (sources, targets))
        return found

    return best(rows, columns)


def path_sums(rows, columns, priors, score):
    """Return the probability of each bead ``(row, column, sources, targets)`` that ends there."""

    def all_paths(row, column):
        if row == column == 0:
            yield 0.0, ()
        for (sources, targets), log_prior in priors.items():
            if sources <= row and targets <= column:
                total = log_prior
                if sources and targets:
                    total += score(range(row - sources, row), range(column - targets, column))
                for before, beads in all_paths(row - sources, column - targets):
                    yield before + total, (*beads, (row, column, sources, targets))

    found = list(all_paths(rows, columns))
    whole = sum(math.exp(total) for total, _ in found)
    sums = {}
    for total, beads in found:
        for bead in beads:
            sums[bead] = sums.get(bead, 0.0) + math.exp(total) / whole
    return sums


def poisson_score(words, others, ratio, log_chance):
    """Return how a bead of so many words scores by its lengths."""
    mean = max(words, 1) * ratio
    return others * math.log(mean) - mean - math.lgamma(others + 1) - log_chance


def word_score(chances, frequencies, nothing):
    """Return the score of some words given the words of the other side of a bead.

    Args:
        chances: p(word | other word) ``[word][other word]``.
        frequencies: Of each word in its text.
        nothing: Probability that nothing makes a word.
    """
    total = 0.0
    for row, frequency in zip(chances, frequencies, strict=True):
        made = sum(row) / max(len(row), 1)
        total += math.log(nothing + (1 - nothing) * made / frequency)
    return total


def vector_cost(source, target, sources, targets):
    """Return what a bead costs by its vectors for each pair of its sentences.

    Args:
        source: Vectors of the bead's source sentences.
        target: Vectors of its target sentences.
        sources: Vectors of all source sentences.
        targets: Vectors of all target sentences.
    """

    def cosine(one, other):
        product = sum(a * b for a, b in zip(one, other, strict=True))
        return product / (math.hypot(*one) * math.hypot(*other))

    left, right = ([sum(column) for column in zip(*side, strict=True)] for side in (source, target))
    apart = 1 - sum(cosine(left, other) for other in targets) / len(targets)
    apart += 1 - sum(cosine(other, right) for other in sources) / len(sources)
    return 2 * (1 - cosine(left, right)) / apart
