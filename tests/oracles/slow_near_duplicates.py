"""Near-duplicates of ``filter`` in plain Python: shingles, signatures, buckets, comparisons."""

import functools
import math
from collections import defaultdict

import regex

from tests.oracles.slow_filtering import find_marks
from tests.oracles.slow_projection import fold

VALUES = 128
LEADERS = 64
MOST = 1 << 64


def mix64(value):
    """Return 64 scrambled bits (SplitMix64)."""
    value ^= value >> 30
    value = value * 0xBF58476D1CE4E5B9 % MOST
    value ^= value >> 27
    value = value * 0x94D049BB133111EB % MOST
    return value ^ value >> 31


@functools.cache
def point(char):
    """Return a character as shingles have it: folded, or a space."""
    if not regex.match(r"[\p{L}\p{M}\p{N}\x01-\x07]", char):
        return " "
    return fold(char)


def shingles(source, target):
    """Return the shingles of a pair, each with its side."""
    pieces = set()
    for side, text in enumerate((source, target), 1):
        points = "".join(map(point, find_marks(text)[1]))
        points = regex.sub(" +", " ", points).strip(" ")
        if points:
            pieces |= {(side, points[at : at + 5]) for at in range(max(1, len(points) - 4))}
    return pieces


def jaccard(one, other):
    """Return common shingles over all."""
    return len(one & other) / len(one | other)


def signature(pieces):
    """Return the minima of a set of shingles."""
    drawn = [mix64(number + 1) for number in range(VALUES)]
    hashes = []
    for side, text in pieces:
        whole = side
        for char in text:
            whole = (whole * 0x100000001B3 + ord(char) + 1) % MOST
        hashes.append(mix64(whole) >> 32)
    return [
        min(((each >> 32 | 1) * value + (each & 0xFFFFFFFF)) % (1 << 32) for value in hashes)
        for each in drawn
    ]


def bands_of(threshold):
    """Return bands and rows."""
    for rows in range(VALUES, 0, -1):
        if 1 - (1 - threshold**rows) ** (VALUES // rows) >= 0.95:
            return VALUES // rows, rows
    return VALUES, 1


def near_copies(rows, threshold):
    """Return the better row that each near-duplicate is alike to.

    Args:
        rows: Dicts with texts, languages, score, corpus, file, line and id.
        threshold: Least Jaccard index.
    """
    order = sorted(
        range(len(rows)),
        key=lambda row: (
            -rows[row]["score"],
            *(rows[row][name] for name in ("corpus", "file", "line", "id")),
        ),
    )
    bands, size = bands_of(threshold)
    buckets, codes = defaultdict(list), {}
    for place, row in enumerate(order):
        pieces = shingles(rows[row]["source"], rows[row]["target"])
        if not pieces:
            continue
        minima = signature(pieces)
        codes[row] = [mix64(value) >> 56 for value in minima]
        languages = rows[row]["source_lang"], rows[row]["target_lang"]
        for band in range(bands):
            part = tuple(minima[band * size : (band + 1) * size])
            buckets[band, part, languages].append((place, row))
    least = math.ceil(VALUES * (threshold + (1 - threshold) / 256) - 1e-9)
    leaders = {}
    for bucket in buckets.values():
        for place, row in bucket:
            for better, leader in bucket[:LEADERS]:
                if better >= place:
                    break
                equal = sum(a == b for a, b in zip(codes[row], codes[leader], strict=True))
                if equal >= least:
                    leaders[row] = min(leaders.get(row, (better, leader)), (better, leader))
                    break
    return {row: leader for row, (_, leader) in leaders.items()}
