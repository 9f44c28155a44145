"""Sentence alignment by length in characters, as Gale and Church (1993) describe it.

A baseline: their kinds of beads and priors, one character for one and a variance of 6.8 a
character.
"""

import math

PRIORS = {(1, 1): 0.89, (1, 0): 0.00495, (0, 1): 0.00495, (2, 1): 0.0445, (1, 2): 0.0445}
PRIORS |= {(2, 2): 0.011}
VARIANCE = 6.8


def _cost(source, target, prior):
    if source == target == 0:
        return -math.log(prior)
    delta = (target - source) / math.sqrt(VARIANCE * (source + target) / 2)
    chance = math.erfc(abs(delta) / math.sqrt(2))
    return -math.log(max(chance, 1e-300)) - math.log(prior)


def align(source, target, half=250):
    """Return the beads ``(source numbers, target numbers)`` of two lists of sentences.

    Args:
        source: The sentences.
        target: Likewise.
        half: How far from the diagonal a path may lead, in target sentences.
    """
    rows, columns = len(source), len(target)
    ends = [[0], [0]]
    for side, texts in zip(ends, (source, target), strict=True):
        for text in texts:
            side.append(side[-1] + len(text.replace(" ", "")))
    best = {(0, 0): (0.0, None)}
    for row in range(rows + 1):
        middle = row * columns // max(rows, 1)
        for column in range(max(middle - half, 0), min(middle + half, columns) + 1):
            for (sources, targets), prior in PRIORS.items():
                before = best.get((row - sources, column - targets))
                if before is None:
                    continue
                lengths = (
                    ends[0][row] - ends[0][row - sources],
                    (ends[1][column] - ends[1][column - targets]),
                )
                cost = before[0] + _cost(*lengths, prior)
                if (row, column) not in best or cost < best[row, column][0]:
                    best[row, column] = cost, (sources, targets)
    beads = []
    row, column = rows, columns
    while row or column:
        sources, targets = best[row, column][1]
        beads.append((tuple(range(row - sources, row)), tuple(range(column - targets, column))))
        row, column = row - sources, column - targets
    return beads[::-1]
