"""Translation edit rate with shifts in plain Python, for comparison with its kernel.

Snover et al. (2006), with the limits of sacreBLEU 2: every candidate's whole matrix is computed.
"""

import math

MAX_SHIFTED, FARTHEST, BEAM, MAX_CANDIDATES = 10, 50, 25, 1000


def align(source, target):
    """Return edits with shifts, shifts, and links: (source word, other word) kept or replaced.

    The words of the source are moved as (word, place) pairs, so that links name their old places.
    """
    words = [(word, place) for place, word in enumerate(source)]
    target = list(target)
    if not words or not target:
        return len(words) + len(target), 0, []
    shifts = tried = 0
    while True:
        saved, shifted, tried = best_shift(words, target, tried)
        if tried >= MAX_CANDIDATES or saved <= 0:
            break
        words = shifted
        shifts += 1
    cost, steps = edit_distance(words, target)
    links = sorted((words[row][1], column) for row, column in steps if None not in (row, column))
    return cost + shifts, shifts, links


def edit_distance(words, target):
    """Return the cost and the steps: (word, other word), where None stands for nothing."""
    slope = len(target) / len(words)
    width = math.ceil(slope / 2 + BEAM) if slope / 2 > BEAM else BEAM
    above = list(range(len(target) + 1))
    ways = [["insert"] * len(above)]
    for row, (word, _) in enumerate(words, 1):
        diagonal = math.floor(row * slope)
        last = len(target) if row == len(words) else min(len(target), diagonal + width - 1)
        costs, taken = [math.inf] * len(above), [""] * len(above)
        for column in range(max(0, diagonal - width), last + 1):
            # Of ways that cost the same, the first is taken.
            cost, way = math.inf, ""
            if column:
                cost, way = above[column - 1] + (word != target[column - 1]), "both"
            if above[column] + 1 < cost:
                cost, way = above[column] + 1, "delete"
            if column and costs[column - 1] + 1 < cost:
                cost, way = costs[column - 1] + 1, "insert"
            costs[column], taken[column] = cost, way
        above = costs
        ways.append(taken)
    row, column = len(words), len(target)
    steps = []
    while row or column:
        way = ways[row][column]
        row -= way != "insert"
        column -= way != "delete"
        steps.append((None if way == "insert" else row, None if way == "delete" else column))
    return above[-1], steps[::-1]


def best_shift(words, target, tried):
    """Return what the best shift saves, the words after it, and the shifts tried so far."""
    cost, steps = edit_distance(words, target)
    behind = {}  # the last word up to each target word
    right_words, right_others = set(), set()
    last = -1
    for row, column in steps:
        last = last if row is None else row
        if column is not None:
            behind[column] = last
        if None not in (row, column) and words[row][0] == target[column]:
            right_words.add(row)
            right_others.add(column)
    best = None
    for start, goal, length in matches(words, target):
        moved = range(start, start + length)
        if right_words.issuperset(moved) or right_others.issuperset(range(goal, goal + length)):
            continue
        if behind[goal] in moved:
            continue
        places = [0 if goal == 0 else behind[goal - 1] + 1]
        places += [behind[goal + offset] + 1 for offset in range(length)]
        for number, place in enumerate(places):
            if number and place == places[number - 1]:
                continue
            shifted = shift(words, start, length, place)
            saved = cost - edit_distance(shifted, target)[0]
            tried += 1
            if best is None or (saved, length, -start, -place) > best[0]:
                best = (saved, length, -start, -place), shifted
        if tried >= MAX_CANDIDATES:
            break
    return (0, words, tried) if best is None else (best[0][0], best[1], tried)


def matches(words, target):
    """Yield (word, other word, length) of all equal sequences within the limits."""
    for start in range(len(words)):
        for goal in range(len(target)):
            if abs(start - goal) > FARTHEST:
                continue
            for length in range(1, MAX_SHIFTED + 1):
                ends = start + length, goal + length
                if ends[0] > len(words) or ends[1] > len(target):
                    break
                if words[ends[0] - 1][0] != target[ends[1] - 1]:
                    break
                yield start, goal, length


def shift(words, start, length, place):
    """Put a sequence before a place; one inside the sequence is counted from its end."""
    moved, rest = words[start : start + length], words[:start] + words[start + length :]
    if place > start + length:
        place -= length
    return rest[:place] + moved + rest[place:]
