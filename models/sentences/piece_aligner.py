"""Aligns the sentences of a document by YiSi-2 of their pieces, within a band.

The NRC meant to score pairs by YiSi-2 in their sentence aligner (WMT20, section 4). The centre of
the band is the path that sentence vectors find from coarse to fine
(`models.sentences.embedding_aligner`); within it, each bead is scored by its pieces
(`transforms.kernels.sentences.piecewise`).
"""

import dataclasses
from functools import partial

import numpy as np

from pairweave.models.sentences.bead_weights import (
    BOTH_YISI_WEIGHT,
    KINDS,
    LEAVE_PERCENTILE,
    MAX_SENTENCES,
    WEIGHTS,
    WITHOUT_PARAGRAPHS,
    YISI_WEIGHT,
)
from pairweave.models.sentences.document_progress import DocumentProgress
from pairweave.models.sentences.embedding_aligner import SentenceVectors, coarse_centre
from pairweave.models.sentences.piece_vectors import PieceVectors, Tensor, similarities
from pairweave.models.sentences.sentence_aligner import DocumentWords, Path, search_band
from pairweave.models.similarity.idf import piece_weights
from pairweave.transforms.kernels.sampling import row_draws
from pairweave.transforms.kernels.sentences import beads, piece_maxima, piecewise
from pairweave.transforms.kernels.sentences.beads import Band
from pairweave.transforms.kernels.sentences.piece_maxima import Maxima, WeightedPieces

ALPHA = 0.5
"""F is the harmonic mean, as in `filter` by default (Lo 2019, section 2)."""

SAMPLES = 64
"""Number of random sentences of the other side to which the costs of a sentence are relative."""

_SAMPLED_ROWS = 4096
"""Number of sentences that are compared with the random sentences at a time."""

_CELLS = 1 << 22
"""Maximum number of cosines in memory at once: 16 MB."""


@dataclasses.dataclass(frozen=True)
class DocumentPieces:
    """Both sides of a document.

    Attributes:
        source: The source's pieces with their vectors.
        target: The target's pieces with their vectors.
    """

    source: PieceVectors
    target: PieceVectors


class PieceScores:
    """YiSi-2 of the beads of a document; the texts themselves are the corpus that idf counts.

    Attributes:
        vectors: The vectors of its sentences.
    """

    def __init__(self, pieces: DocumentPieces, alpha: float = ALPHA) -> None:
        """Compare sentences of either side with random ones of the other.

        Args:
            pieces: The document.
            alpha: 0 makes F the precision, 1 the recall.
        """
        self.vectors = SentenceVectors(pieces.source.side.sums, pieces.target.side.sums)
        self._sides = pieces.source, pieces.target
        self._weighted = [
            WeightedPieces(side.side.ends, piece_weights(side.side.ids, side.side.ends))
            for side in self._sides
        ]
        self._ends = _ends_of(self._weighted[0]), _ends_of(self._weighted[1])
        self._alpha = alpha
        samples = [_sample(len(side.side.sums), number) for number, side in enumerate(self._sides)]
        (self._source_apart, costs) = self._apart(0, samples[1])
        (self._target_apart, _) = self._apart(1, samples[0])
        others = self._target_apart[samples[1], 0]
        apart = self._source_apart[:, :1] + others if len(others) else np.ones((1, 0))
        relative = 2 * costs / np.maximum(apart, beads.MIN_APART)
        self._leave = float(np.percentile(relative, LEAVE_PERCENTILE)) if relative.size else 0.0

    def within(
        self, band: Band, weight: float, report: beads.Told | None = None
    ) -> piecewise.Piecewise:
        """Return the values from which the costs of the beads within a band are computed.

        Args:
            band: The positions.
            weight: Weight of a gain.
            report: Called after each block of rows.
        """
        source, target = self._weighted
        maxima = piece_maxima.begin_maxima(band, MAX_SENTENCES)
        recent = piece_maxima.begin_recent(band, target, MAX_SENTENCES)
        for row in beads.each_row(1, len(band.low), report):
            theirs = self._sides[1].between(*piece_maxima.sentences_of(row, band))
            ours = self._sides[0].between(row - 1, row)
            _compare(row, band, (source, target), (ours, theirs), recent, maxima)
        return piecewise.Piecewise(
            piecewise.Yisi(maxima, *self._ends, self._alpha),
            self._source_apart,
            self._target_apart,
            source.ends,
            target.ends,
            self._leave,
            weight,
        )

    def _apart(self, number: int, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compare runs of sentences of a side with some sentences of the other.

        Args:
            number: Number of the side.
            sample: Numbers of the other side's sentences, ascending.

        Returns:
            1 minus the mean F of the ``run + 1`` sentences up to each, float32
            ``[sentence, run]``, 1 for a run that leaves the text; and 1 minus F of each sentence
            with each of the sample, float32 ``[sentence, sample]``.
        """
        side, other = self._sides[number], self._sides[1 - number]
        count = len(side.side.sums)
        apart = np.ones((count, MAX_SENTENCES), np.float32)
        single = np.ones((count, len(sample)), np.float32)
        if not len(sample):
            return apart, single
        chosen, vectors = other.some(sample)
        lengths = np.diff(other.side.ends)[sample]
        weighted = WeightedPieces(
            np.append(0, np.cumsum(lengths)), self._weighted[1 - number].weights[chosen]
        )
        alpha = self._alpha if number == 0 else 1 - self._alpha
        f_scores = np.empty((MAX_SENTENCES, len(sample)))
        for first in range(0, count, _SAMPLED_ROWS):
            # Runs that end in this block may begin in the one before.
            begin = max(first - MAX_SENTENCES + 1, 0)
            last = min(first + _SAMPLED_ROWS, count)
            ends = self._weighted[number].ends[begin : last + 1]
            ours = WeightedPieces(ends - ends[0], self._weighted[number].weights[ends[0] :])
            band = _every_position(last - begin, len(sample))
            maxima = piece_maxima.begin_maxima(band, MAX_SENTENCES)
            recent = piece_maxima.begin_recent(band, weighted, MAX_SENTENCES)
            for row in range(1, last - begin + 1):
                parts = side.between(begin + row - 1, begin + row)
                _compare(row, band, (ours, weighted), (parts, [vectors]), recent, maxima)
            yisi = piecewise.Yisi(
                maxima, self._ends[number][begin : last + 1], _ends_of(weighted), alpha
            )
            for sentence in range(first, last):
                runs = min(sentence + 1, MAX_SENTENCES)
                piecewise.singles(sentence - begin + 1, band, yisi, runs, f_scores)
                apart[sentence, :runs] = 1 - f_scores[:runs].mean(axis=1)
                single[sentence] = np.maximum(1 - f_scores[0], 0)
        return apart, single


def gains_within(
    scores: PieceScores, band: Band, weight: float = BOTH_YISI_WEIGHT
) -> piecewise.Piecewise:
    """Return the values from which the gains of beads by pieces, besides words, are computed."""
    return scores.within(band, weight)


def align_by_pieces(words: DocumentWords, scores: PieceScores, weight: float = YISI_WEIGHT) -> Path:
    """Return the best path by YiSi-2 alone.

    The score of a bead is the negative of its cost: 0 for pieces that are all equal, about -1 for
    sentences that have nothing to do with each other.

    Args:
        words: The document.
        scores: The scores of its beads.
        weight: Weight of their gains relative to the priors of beads and the ends of paragraphs.
    """
    document = words.as_kernels_take_it()
    weights = WEIGHTS if words.comparable_paragraphs else WITHOUT_PARAGRAPHS
    progress = DocumentProgress(words.name, len(words.source))
    compared: piecewise.Piecewise | None = None

    def search(band: Band) -> np.ndarray:
        nonlocal compared
        compared = scores.within(band, weight, progress.of("comparing pieces"))
        report = progress.of("finding the best path")
        priors = partial(beads.score_priors, band, KINDS, document, weights)
        gains = partial(piecewise.add_gains, band, KINDS, compared)
        return beads.trace(band, KINDS, beads.best_beads(band, KINDS, [priors, gains], report))

    path, band, at_edge = search_band(words, coarse_centre(scores.vectors), search)
    assert compared is not None
    costs = piecewise.path_costs(path, band, KINDS, compared)
    return Path(KINDS.sources[path], KINDS.targets[path], -costs, at_edge)


def _compare(
    row: int,
    band: Band,
    sides: tuple[WeightedPieces, WeightedPieces],
    vectors: tuple[list[Tensor], list[Tensor]],
    recent: piece_maxima.Recent,
    maxima: Maxima,
) -> None:
    """Compare a row's source sentence with its target sentences."""
    of_row = piece_maxima.begin_row(row, band, *sides)
    low, high = piece_maxima.sentences_of(row, band)
    places = sides[1].ends[low : high + 1] - sides[1].ends[low]
    first = 0
    for cosines in similarities(*vectors, _CELLS) if len(of_row.of_targets) else ():
        piece_maxima.add_similarities(cosines, first, places, of_row)
        first += len(cosines)
    piece_maxima.end_row(row, band, *sides, of_row, recent, maxima)


def _ends_of(pieces: WeightedPieces) -> np.ndarray:
    """Return the sum of the weights before each position, float64 ``[sentence + 1]``."""
    sums = np.append(0.0, np.cumsum(pieces.weights))
    ends: np.ndarray = sums[pieces.ends]
    return ends


def _sample(sentences: int, side: int) -> np.ndarray:
    """Return up to `SAMPLES` random sentences of a side, ascending."""
    numbers = np.arange(sentences, dtype=np.uint64)
    draws = row_draws(np.uint64(0), numbers, np.uint64(side), np.zeros_like(numbers))
    return np.sort(np.argsort(draws, kind="stable")[:SAMPLES])


def _every_position(rows: int, columns: int) -> Band:
    begins = np.arange(rows + 2, dtype=np.int64) * (columns + 1)
    return Band(np.zeros(rows + 1, np.int64), np.full(rows + 1, columns + 1, np.int64), begins)
