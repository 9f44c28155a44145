"""Stretches of lines that are not translations of each other.

The evidence needs no model; the evidence of a fitted aligner can be added.
"""

import dataclasses
import functools
import itertools
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.inspection import stretches as kernel
from pairweave.transforms.kernels.inspection.line_features import (
    FOLDED,
    LineFeatures,
    line_features,
)
from pairweave.transforms.sentences.class_evidence import NATS, class_evidence
from pairweave.transforms.sentences.coverage_evidence import Coverage, CoverageEvidence
from pairweave.transforms.text import codepoints

MOVES = (1, -1, 2, -2, 3, -3, 4, -4)
"""Numbers of lines by which a stretch may have moved, besides 0; a stretch that has moved further
belongs nowhere."""

SHIFTS = (17, -23, 41, -61, 97, -131, 257, -389)
"""Distances of lines that do not belong together: beyond `MOVES`, and within a document or two, so
that features shared by all lines of one document are not evidence."""

PRICE = 25 * NATS
"""Evidence that a change of state must outweigh: e**25 to 1. Lines that do not belong together have
1 to 4 nats less than chance has, so a stretch of 15 to 50 lines is found; nothing is found in
269,397 clean lines of 22 corpora at half of this price."""

MIN_LINES = 12
"""Length of the shortest stretch that is reported."""

MIN_CORPUS_LINES = 100
"""Minimum number of lines with text on both sides for judging one part by the rest."""

LARGEST_SCORE = 3.0
"""If the lines of a stretch fit the lines opposite them better than other lines of the stretch, by
this many standard errors, the stretch is a free translation."""

DOUBTFUL_DISTANCE = 1.0
"""A file is examined more closely if its lines fit their translations better than other lines by
less than this, in standard deviations: 1.4 to 2.9 in clean corpora."""

MIN_DISTANCE = 0.1
"""If this difference is smaller when one half of the file judges the other, the file is not a
translation: 0.0 where lines are in random order, 0.4 where a target has only a part of the
sentence."""

MIN_DISTANCE_ERRORS = 2.5
"""The same limit for small files, in standard errors."""

_FOLD_LINES = 64

_GROUPS = (
    (kernel.LENGTHS, kernel.NUMBERS, 0),
    (kernel.NUMBERS, kernel.NAMES, 6),
    (kernel.NAMES, kernel.WORDS, 6),
    (kernel.WORDS, kernel.ENDS, 6),
    (kernel.ENDS, kernel.CLASSES, 0),
)
"""Range of the classes of each feature, and how many of them belong to lines of one size."""

_RATIO_KERNEL = (0.25, 0.5, 0.25)


@dataclasses.dataclass(frozen=True, slots=True)
class Stretch:
    """Lines that do not belong to the lines opposite them.

    Attributes:
        first: The first line, from 0.
        last: The last line.
        move: Number of lines that the target is further on; None if the lines belong nowhere.
        mean: Mean evidence that a line belongs to the line opposite it, in nats.
        elsewhere: Mean evidence of the lines that do belong together; None if there are none.
        chance: Mean evidence of lines paired at random.
    """

    first: int
    last: int
    move: int | None
    mean: float
    elsewhere: float | None
    chance: float

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return self.last - self.first + 1


def features_of(texts: pa.ChunkedArray | pa.Array) -> LineFeatures:
    """Return the features of a column of texts without nulls."""
    return line_features(texts_of(texts), codepoints.all_properties(), _folded())


def joined(parts: list[LineFeatures]) -> LineFeatures:
    """Return the features of all lines, joined."""
    return LineFeatures(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


@dataclasses.dataclass(frozen=True, slots=True)
class Linked:
    """The texts of lines, and their judge by a fitted aligner.

    Attributes:
        source: Texts of the source, in the order of the file.
        target: Texts of its translation.
        coverage: Judges pairs of texts.
    """

    source: pa.Array
    target: pa.Array
    coverage: Coverage


def judge_lines(
    source: LineFeatures,
    target: LineFeatures,
    moves: Sequence[int] = MOVES,
    linked: Linked | None = None,
) -> tuple[list[Stretch], np.ndarray]:
    """Find the stretches of lines that do not belong to the lines opposite them, in order.

    Args:
        source: Features of the source, in the order of the file.
        target: Features of its translation.
        moves: Numbers of lines by which a stretch may have moved, besides 0.
        linked: The evidence of a fitted aligner, if there is one.

    Returns:
        The stretches in order, and int32 ``[line]`` in `NATS`; zeros if there are too few lines
        with text on both sides.
    """
    sides = _sides(source, target)
    lines = len(source.points)
    if ((source.points > 0) & (target.points > 0)).sum() < MIN_CORPUS_LINES:
        return [], np.zeros(lines, np.int32)
    judge = _Judge(sides, lines, moves, linked)
    return list(judge.stretches()), judge.beside


def _sides(source: LineFeatures, target: LineFeatures) -> kernel.Sides:
    logs = [
        np.rint(kernel.LENGTH_STEPS * np.log(side.points + 4.0)).astype(np.int32)
        for side in (source, target)
    ]
    whole = (source.points > 0) & (target.points > 0)
    usual = int(np.median((logs[0] - logs[1])[whole])) if whole.any() else 0
    return kernel.Sides(source, target, logs[0], (logs[1] + usual).astype(np.int32))


@functools.cache
def _folded() -> np.ndarray:
    """Return each letter in lower case without its accents (`line_features`)."""
    bases = (unicodedata.normalize("NFD", chr(point).lower())[0] for point in range(FOLDED))
    return np.array([ord(base) for base in bases], np.int32)


class _Judge:
    """Judges the lines of one file."""

    def __init__(
        self, sides: kernel.Sides, lines: int, moves: Sequence[int], linked: Linked | None
    ) -> None:
        self._sides = sides
        self._lines = lines
        self._moves = (0, *(move for move in moves if abs(move) * 4 < lines))
        apart = [shift for shift in SHIFTS if shift not in moves]
        self._shifts = [shift for shift in apart if abs(shift) * 3 < lines]
        counts = [self._counts(0, lines, shift) for shift in self._shifts]
        self._chance: np.ndarray = np.sum(counts, axis=0)
        self.beside = np.zeros(lines, np.int32)
        self._coverage = None
        if linked is not None:
            texts = linked.source, linked.target
            self._coverage = CoverageEvidence(linked.coverage, *texts, self._shifts)

    def _counts(self, first: int, last: int, move: int) -> np.ndarray:
        return kernel.count_classes(self._sides, first, last, move)

    def _evidence(self, weights: np.ndarray, first: int, last: int, move: int) -> np.ndarray:
        return kernel.evidence(self._sides, weights, first, last, move)

    def stretches(self) -> Iterator[Stretch]:
        """Yield the stretches, in order."""
        counts = self._first_counts()
        together: list[tuple[int, int, int]] = [(0, self._lines, 0)]
        for _ in range(3):
            weights = _weights(counts, self._chance)
            if self._coverage is not None:
                self._coverage.learn(together)
                self._coverage.judge_moved(self._moves)
            parts = self._parts(weights)
            together = [part for part in parts if part[2] != kernel.NOWHERE]
            counts = sum(
                (self._counts(*part) for part in together), np.zeros(kernel.CLASSES, np.int64)
            )
        self.beside = beside = self._evidence(weights, 0, self._lines, 0)
        chance = np.stack([self._evidence(weights, 0, self._lines, move) for move in self._shifts])
        random = float(chance.mean()) / NATS
        if not together or (
            _distance(beside, chance) < DOUBTFUL_DISTANCE and self._is_no_translation()
        ):
            if self._lengths_vary():
                mean = float(beside.mean()) / NATS
                yield Stretch(0, self._lines - 1, None, mean, None, random)
            return
        kept = [beside[first:last] for first, last, move in parts if move == 0]
        elsewhere = float(np.concatenate(kept).mean()) / NATS if kept else None
        for first, last, move in parts:
            if move == 0 or last - first < MIN_LINES:
                continue
            lost = move == kernel.NOWHERE
            if lost and not self._fits_nowhere(weights, first, last):
                continue
            mean = float(beside[first:last].mean()) / NATS
            yield Stretch(first, last - 1, None if lost else move, mean, elsewhere, random)

    def _first_counts(self) -> np.ndarray:
        """Return the counts of the move that fits most lines: usually no move."""
        best = self._counts(0, self._lines, 0)
        most = 2 * _information(best, self._chance)
        for move in self._moves[1:]:
            counts = self._counts(0, self._lines, move)
            information = _information(counts, self._chance)
            if information > most:
                best, most = counts, information
        return best

    def _parts(self, weights: np.ndarray) -> list[tuple[int, int, int]]:
        """Return the first line of each part, the line after it, and its move."""
        evidence = [self._evidence(weights, 0, self._lines, move) for move in self._moves]
        if self._coverage is not None:
            for move, sums in zip(self._moves, evidence, strict=True):
                sums += self._coverage.of_lines(move)
        evidence.append(np.zeros(self._lines, np.int32))
        path = kernel.best_states(np.stack(evidence), PRICE)
        cuts = [0, *(np.flatnonzero(np.diff(path)) + 1).tolist(), self._lines]
        moves = (*self._moves, kernel.NOWHERE)
        return [(first, last, moves[path[first]]) for first, last in itertools.pairwise(cuts)]

    def _fits_nowhere(self, weights: np.ndarray, first: int, last: int) -> bool:
        """Tell whether lines of a stretch fit those opposite them no better than others in it.

        The usual difference of lengths is taken from the stretch itself here, so that a part of a
        file that is translated at greater length is not a stretch.
        """
        part = kernel.Sides(
            LineFeatures(*(column[first:last] for column in self._sides.source)),
            LineFeatures(*(column[first:last] for column in self._sides.target)),
            self._sides.source_logs[first:last],
            self._sides.target_logs[first:last],
        )
        usual = int(np.median(part.source_logs - part.target_logs))
        part = part._replace(target_logs=(part.target_logs + usual).astype(np.int32))
        lines = last - first
        beside = kernel.evidence(part, weights, 0, lines, 0).astype(np.float64)
        total = int(beside.sum())
        if self._coverage is not None:
            total += int(self._coverage.of_lines(0)[first:last].sum())
        if total > -PRICE:
            return False
        others = []
        for step in (3, 5, 7, 11):
            turned = [np.roll(column, -step) for column in part.target]
            logs = np.roll(part.target_logs, -step)
            moved = part._replace(target=LineFeatures(*turned), target_logs=logs)
            others.append(kernel.evidence(moved, weights, 0, lines, 0).astype(np.float64))
        gain = beside - np.mean(others, axis=0)
        error = float(gain.std()) / np.sqrt(lines)
        return float(gain.mean()) <= LARGEST_SCORE * error

    def _is_no_translation(self) -> bool:
        """Tell whether lines fit with no move at all, judging each half by the other."""
        least = max(MIN_DISTANCE, MIN_DISTANCE_ERRORS / self._lines**0.5)
        return all(self._distance_between_halves(move) < least for move in self._moves)

    def _distance_between_halves(self, move: int) -> float:
        starts = range(0, self._lines, _FOLD_LINES)
        blocks = [(first, min(self._lines, first + _FOLD_LINES)) for first in starts]
        evidence, others = [], []
        for mine, theirs in ((blocks[::2], blocks[1::2]), (blocks[1::2], blocks[::2])):
            counts = [self._counts(first, last, move) for first, last in mine]
            weights = _weights(np.sum(counts, axis=0), self._chance)
            evidence += [self._evidence(weights, *block, move) for block in theirs]
            others += [
                self._evidence(weights, *block, shift) for block in theirs for shift in self._shifts
            ]
        return _distance(np.concatenate(evidence), np.concatenate(others))

    def _lengths_vary(self) -> bool:
        """Tell whether the lengths of lines vary, so that those of translations would vary too."""
        sides = (self._sides.source_logs, self._sides.target_logs)
        return all(float(logs.std()) > 0.2 * kernel.LENGTH_STEPS for logs in sides)


def _distance(evidence: np.ndarray, chance: np.ndarray) -> float:
    """Return the distance of two distributions of evidence, in standard deviations."""
    spread = np.sqrt((float(evidence.var()) + float(chance.var())) / 2)
    return (float(evidence.mean()) - float(chance.mean())) / max(1e-9, spread)


def _information(counts: np.ndarray, chance: np.ndarray) -> int:
    """Return the sum of the evidence that classes give by themselves."""
    return int((_weights(counts, chance) * counts).sum())


def _weights(counts: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the evidence of each class, int32 ``[CLASSES]``, in `NATS`.

    Args:
        counts: How often each occurs in lines that belong together.
        chance: How often each occurs in other lines.
    """
    weights = np.zeros(kernel.CLASSES, np.int32)
    for first, last, size in _GROUPS:
        true, random = (each[first:last].astype(np.float64) for each in (counts, chance))
        if first == kernel.LENGTHS:
            true, random = _smooth(true), _smooth(random)
        true, random = (each.reshape(-1, size or last - first) for each in (true, random))
        weights[first:last] = class_evidence(true, random).ravel()
    return weights


def _smooth(counts: np.ndarray) -> np.ndarray:
    """Return counts of ratios of lengths with neighbouring ones mixed in."""
    rows = counts.reshape(4, -1)
    return np.stack([np.convolve(row, _RATIO_KERNEL, "same") for row in rows]).ravel()
