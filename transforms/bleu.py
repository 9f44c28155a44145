"""BLEU of lines of words (Papineni et al. 2002), one reference each, unsmoothed, in NumPy."""

from collections.abc import Iterable, Sequence

import numpy as np

ORDERS = 4
COUNTS = 2 * ORDERS + 2
"""Numbers that a line adds to BLEU: hits and n-grams by order, words found, words wanted."""


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
    return float(bleu_of(count_ngrams(found, wanted).sum(axis=0)))


def bleu_of(counts: np.ndarray) -> np.ndarray:
    """Return BLEU in [0, 100] of summed counts.

    Args:
        counts: Sums of `count_ngrams`, float or int ``[..., COUNTS]``.

    Returns:
        float64 ``[...]``.
    """
    hits, grams = counts[..., :ORDERS], counts[..., ORDERS : 2 * ORDERS]
    found, wanted = counts[..., -2], counts[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.exp(np.log(hits / grams).mean(axis=-1))
        penalty = np.exp(np.minimum(0.0, 1.0 - wanted / found))
        return np.where((hits > 0).all(axis=-1), 100.0 * penalty * precision, 0.0)


def count_ngrams(found: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """Return what each line adds to BLEU, int64 ``[line, COUNTS]``; arguments: `corpus_bleu`."""
    ids: dict[str, int] = {}
    counts = np.zeros((len(found), COUNTS), np.int64)
    grams, lines = [], []
    for place, side in enumerate((found, wanted)):
        words, sizes = _numbers(side, ids)
        grams.append(words)
        lines.append(np.repeat(np.arange(len(sizes)), sizes))
        counts[:, 2 * ORDERS + place] = sizes
    last = list(grams)
    for order in range(ORDERS):
        counts[:, order] = _clipped(grams, lines, len(found))
        counts[:, ORDERS + order] = np.bincount(lines[0], minlength=len(found))
        if order + 1 < ORDERS:
            grams, last, lines = _longer(grams, last, lines)
    return counts


def _numbers(side: Iterable[str], ids: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each word, int64 ``[word]``, and the words of each line ``[line]``."""
    words: list[int] = []
    sizes = []
    for line in side:
        before = len(words)
        words.extend([ids.setdefault(word, len(ids)) for word in line.split()])
        sizes.append(len(words) - before)
    return np.array(words, np.int64), np.array(sizes, np.int64)


def _clipped(grams: list[np.ndarray], lines: list[np.ndarray], count: int) -> np.ndarray:
    """Count the first side's n-grams that a line's reference has, each as often at most ``[line]``.

    Args:
        grams: The number of each n-gram, on both sides.
        lines: The line of each.
        count: Number of lines.
    """
    size = 1 + max((int(side.max()) for side in grams if len(side)), default=0)
    keys = [line * size + gram for gram, line in zip(grams, lines, strict=True)]
    (said, times), (right, most) = (np.unique(side, return_counts=True) for side in keys)
    both, at, there = np.intersect1d(said, right, assume_unique=True, return_indices=True)
    hits = np.zeros(count, np.int64)
    np.add.at(hits, both // size, np.minimum(times[at], most[there]))
    return hits


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
