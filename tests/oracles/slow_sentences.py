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
        best_so_far = (NO_PATH, ())
        for (sources, targets), log_prior in priors.items():
            if sources > row or targets > column:
                continue
            before, beads = best(row - sources, column - targets)
            total = before + log_prior
            if sources and targets:
                total += score(range(row - sources, row), range(column - targets, column))
            if total > best_so_far[0]:
                best_so_far = total, (*beads, (sources, targets))
        return best_so_far

    return best(rows, columns)


def best_by_paragraph(source_ends, target_ends, sizes, score, costs):
    """Return the best sum of beads of paragraphs, each scored by its best beads of sentences.

    Args:
        source_ends: Sentences up to the end of each source paragraph, the document's end last.
        target_ends: Likewise.
        sizes: The kinds of beads of sentences.
        score: Of a bead of sentences, given the sentences up to its end and its size.
        costs: Of each end of a paragraph within a bead of paragraphs, and what each sentence of a
            paragraph without a counterpart gains, except one.
    """

    @functools.cache
    def within(start, row, column):
        """Return the best beads of sentences from a corner to a position."""
        if (row, column) == start:
            return 0.0
        return max(
            (
                within(start, row - size[0], column - size[1]) + score(row, column, size)
                for size in sizes
                if row - size[0] >= start[0] and column - size[1] >= start[1]
            ),
            default=NO_PATH,
        )

    ours, theirs = ([0, *map(int, ends)] for ends in (source_ends, target_ends))

    def more(before, paragraph, at, other):
        further = max(paragraph - before - 1, 0) + max(other - at - 1, 0)
        sentences = ours[paragraph] - ours[before], theirs[other] - theirs[at]
        gained = sum(sentences) - 1 if not min(sentences) and not further else 0
        return gained * costs[1] - further * costs[0]

    @functools.cache
    def best(paragraph, other):
        if paragraph == other == 0:
            return 0.0
        here = ours[paragraph], theirs[other]
        return max(
            best(before, at)
            + within((ours[before], theirs[at]), *here)
            + more(before, paragraph, at, other)
            for before in range(paragraph + 1)
            for at in range(other + 1)
            if (before, at) != (paragraph, other)
        )

    return best(len(ours) - 1, len(theirs) - 1)


def all_beads(rows, columns, sizes):
    """Yield the beads ``(row, column, kind)`` of every path, given the sizes of all kinds."""
    if rows == columns == 0:
        yield ()
    for kind, (sources, targets) in enumerate(sizes):
        if sources <= rows and targets <= columns:
            for before in all_beads(rows - sources, columns - targets, sizes):
                yield (*before, (rows, columns, kind))


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

    paths = list(all_paths(rows, columns))
    whole = sum(math.exp(total) for total, _ in paths)
    sums = {}
    for total, beads in paths:
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
    """Return the cost of a bead by its vectors for each pair of its sentences.

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
    return 2 * (1 - cosine(left, right)) / max(apart, 1e-3)
