"""BLEU of lines of words (Papineni et al. 2002), one reference each, unsmoothed, in NumPy."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

ORDERS = 4


def corpus_bleu(found: Sequence[str], wanted: Sequence[str]) -> float:
    """Return BLEU in [0, 100] of lines against their references.

    Args:
        found: Lines whose words stand between white space ``[line]``.
        wanted: Their references, likewise.

    Returns:
        What sacreBLEU gives for cut words without smoothing, and ``multi-bleu.perl`` rounds: the
        geometric mean of four precisions (0 if one is) times the brevity penalty.

    >>> round(corpus_bleu(["a b c d e"], ["a b c d f"]), 2)
    66.87
    """
    ids: dict[str, int] = {}
    hits, counts = np.zeros(ORDERS, np.int64), np.zeros(ORDERS, np.int64)
    grams, lines, lengths = [], [], []
    for side in (found, wanted):
        words, sizes = _numbers(side, ids)
        grams.append(words)
        lines.append(np.repeat(np.arange(len(sizes)), sizes))
        lengths.append(int(sizes.sum()))
    last = list(grams)
    for order in range(ORDERS):
        hits[order] = _clipped(grams, lines)
        counts[order] = len(grams[0])
        if order + 1 < ORDERS:
            grams, last, lines = _longer(grams, last, lines)
    if not hits.all():
        return 0.0
    brevity = min(0.0, 1.0 - lengths[1] / lengths[0])
    return 100.0 * math.exp(brevity + float(np.log(hits / counts).mean()))


def _numbers(side: Iterable[str], ids: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each word, int64 ``[word]``, and the words of each line ``[line]``."""
    words: list[int] = []
    sizes = []
    for line in side:
        before = len(words)
        words.extend([ids.setdefault(word, len(ids)) for word in line.split()])
        sizes.append(len(words) - before)
    return np.array(words, np.int64), np.array(sizes, np.int64)


def _clipped(grams: list[np.ndarray], lines: list[np.ndarray]) -> int:
    """Return how many n-grams of the first side its line's reference has, each as often at most."""
    size = 1 + max((int(side.max()) for side in grams if len(side)), default=0)
    keys = [line * size + gram for gram, line in zip(grams, lines, strict=True)]
    (said, times), (right, most) = (np.unique(side, return_counts=True) for side in keys)
    _, at, there = np.intersect1d(said, right, assume_unique=True, return_indices=True)
    return int(np.minimum(times[at], most[there]).sum())


def _longer(
    grams: list[np.ndarray], last: list[np.ndarray], lines: list[np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Return n-grams one word longer, the last word of each, and its line.

    Args:
        grams: The number of each n-gram, on both sides.
        last: The last word of each.
        lines: The line of each.
    """
    words = 1 + max((int(side.max()) for side in last if len(side)), default=0)
    joined, ends, kept = [], [], []
    for gram, word, line in zip(grams, last, lines, strict=True):
        inside = line[1:] == line[:-1]
        joined.append((gram[:-1] * words + word[1:])[inside])
        ends.append(word[1:][inside])
        kept.append(line[1:][inside])
    # Numbered anew, so that keys stay small whatever the order.
    numbers = np.unique(np.concatenate(joined), return_inverse=True)[1].reshape(-1)
    split = np.split(numbers, [len(joined[0])])
    return split, ends, kept
