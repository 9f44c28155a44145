"""Evidence that lines translate each other, by the words that a fitted aligner links."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.sentences.class_evidence import class_evidence

Coverage: TypeAlias = Callable[[pa.Array, pa.Array], np.ndarray]
"""Takes source texts and target texts ``[pair]``; returns the share of words that have a partner,
weighted by their rarity, on the side with fewer, float ``[pair]`` in [0, 1]."""

PairCoverage: TypeAlias = Callable[[tuple[pa.Array, pa.Array], tuple[str, str]], np.ndarray]
"""The same, for texts in the languages given as BCP 47 tags."""

Part: TypeAlias = tuple[int, int, int]
"""The first line of a part, the line after it, and its move."""

CHANCE_PAIRS = 4_096
"""Number of pairs of lines that do not belong together for which coverage is computed."""

BINS = 16
"""Number of classes of coverage; each class has the same number of the lines and random pairs."""

WINDOW = 9
"""Number of lines in a window: if the evidence of a window is below 0, lines may have moved."""


class CoverageEvidence:
    """The evidence of coverage for the lines of a file, in place or moved.

    Args:
        coverage: Judges pairs of texts.
        source: The texts of the source, in the order of the file.
        target: The texts of its translation.
        shifts: Distances of lines that do not belong together.
    """

    def __init__(
        self,
        coverage: Coverage,
        source: pa.Array,
        target: pa.Array,
        shifts: Iterable[int],
    ) -> None:
        self._coverage = coverage
        self._sides = source, target
        self._lines = len(source)
        self._empty = [
            pc.equal(pc.binary_length(side), 0).to_numpy(zero_copy_only=False)
            for side in self._sides
        ]
        every = np.arange(self._lines)
        self._classes: dict[int, np.ndarray] = {}
        values = self._values(every, 0)
        shifts = tuple(shifts)
        sample = every[:: max(1, self._lines * len(shifts) // CHANCE_PAIRS)]
        chance = np.concatenate([self._values(sample, shift) for shift in shifts])
        chance = chance[~np.isnan(chance)]
        known = np.sort(np.concatenate([values[~np.isnan(values)], chance]))
        # Ranks rather than means of two values, so that every machine has the same bounds.
        ranks = [len(known) * number // BINS for number in range(1, BINS)]
        self._bounds = known[ranks] if len(known) else np.zeros(BINS - 1)
        self._chance = np.bincount(self._class_of(chance), minlength=BINS)[:BINS]
        self._weights = np.zeros(BINS + 1, np.int32)
        self._classes[0] = self._class_of(values)

    def learn(self, parts: Iterable[Part]) -> None:
        """Learn the evidence of each class from the parts whose sides belong together."""
        counts = np.zeros(BINS, np.float64)
        for first, last, move in parts:
            classes = self._classes.get(move)
            if classes is not None:
                counts += np.bincount(classes[first:last], minlength=BINS + 1)[:BINS]
        self._weights[:BINS] = class_evidence(counts[None], self._chance[None])[0]

    def judge_moved(self, moves: Iterable[int]) -> None:
        """Judge lines that do not fit in place against lines further on."""
        sums = np.convolve(self.of_lines(0), np.ones(WINDOW, np.int64), "same")
        doubtful = np.convolve(sums < 0, np.ones(WINDOW, np.int64), "same") > 0
        rows = np.flatnonzero(doubtful)
        for move in moves:
            if move not in self._classes:
                values = np.full(self._lines, np.nan)
                values[rows] = self._values(rows, move)
                self._classes[move] = self._class_of(values)

    def of_lines(self, move: int) -> np.ndarray:
        """Return the evidence that lines belong to the lines ``move`` further on.

        Returns:
            int32 ``[line]``; 0 where it is not known.
        """
        return self._weights[self._classes[move]]

    def _values(self, rows: np.ndarray, move: int) -> np.ndarray:
        """Return the coverage of lines with those further on; NaN where there is none."""
        others = rows + move
        inside = (others >= 0) & (others < self._lines)
        values = np.full(len(rows), np.nan)
        values[inside] = self._judged(rows[inside], others[inside])
        return values

    def _judged(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        values = np.full(len(rows), np.nan)
        full = ~(self._empty[0][rows] | self._empty[1][others])
        if full.any():
            source, target = self._sides
            taken = source.take(pa.array(rows[full])), target.take(pa.array(others[full]))
            values[full] = self._coverage(*taken)
        return values

    def _class_of(self, values: np.ndarray) -> np.ndarray:
        """Return the class of each coverage; `BINS`, which is no evidence, if there is none."""
        classes = np.searchsorted(self._bounds, values, side="right")
        return np.where(np.isnan(values), BINS, classes)
