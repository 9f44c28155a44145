"""Aligns the sentences of a document by their vectors, from coarse to fine (vecalign's method).

Thompson and Koehn (2019): vectors of neighbouring sentences are averaged again and again until a
text is short enough for a search of all positions; each path is then the centre of a narrow band
at twice the resolution. Time and memory are linear in the sentences.
"""

import dataclasses
from functools import partial

import numpy as np

from pairweave.models.sentences.bead_weights import (
    BOTH_WEIGHT,
    ENCODER_WEIGHT,
    KINDS,
    LEAVE_PERCENTILE,
    MAX_SENTENCES,
    WEIGHTS,
    WITHOUT_PARAGRAPHS,
    kinds_of,
)
from pairweave.models.sentences.document_progress import DocumentProgress
from pairweave.models.sentences.sentence_aligner import (
    DocumentWords,
    Path,
    band_about,
    positions_of,
    search_band,
)
from pairweave.transforms.kernels.sampling import row_draws
from pairweave.transforms.kernels.sentences import beads, embedded
from pairweave.transforms.kernels.sentences.beads import Band, Document

_COARSE = kinds_of({(1, 1): 1.0, (1, 0): 1.0, (0, 1): 1.0})
"""Beads of coarse levels, all equally likely (Thompson and Koehn 2019, section 3.3)."""

_WHOLE = 300
"""Number of sentences of a side below which all positions are searched, as in vecalign."""

_HALF = 20
"""Half the width of the band of a coarse level."""

_SAMPLES = 20_000
"""Number of random sentence pairs that determine the cost of skipping, as in vecalign."""


@dataclasses.dataclass(frozen=True)
class SentenceVectors:
    """The vectors of both sides of a document, each a sum over its pieces.

    Attributes:
        source: float32 ``[sentence, hidden]``; zeros for a sentence without pieces.
        target: The same for the target.
    """

    source: np.ndarray
    target: np.ndarray


def align_by_vectors(
    words: DocumentWords, vectors: SentenceVectors, weight: float = ENCODER_WEIGHT
) -> Path:
    """Return the best path by vectors alone.

    The score of a bead is the negative of its cost for each pair of sentences: 0 for equal vectors,
    about -1 for sentences that have nothing to do with each other.

    Args:
        words: The document.
        vectors: The vectors of its sentences.
        weight: Weight of their gains relative to the priors of beads and the ends of paragraphs.
    """
    document = words.as_kernels_take_it()
    weights = WEIGHTS if words.comparable_paragraphs else WITHOUT_PARAGRAPHS
    centre = coarse_centre(vectors)
    about = _about(vectors)
    compared: embedded.Embedded | None = None
    progress = DocumentProgress(words.name, len(words.source))

    def search(band: Band) -> np.ndarray:
        nonlocal compared
        compared = _within(band, vectors, about, weight, progress.of("comparing vectors"))
        report = progress.of("finding the best path")
        priors = partial(beads.score_priors, band, KINDS, document, weights)
        gains = partial(embedded.add_gains, band, KINDS, compared)
        return beads.trace(band, KINDS, beads.best_beads(band, KINDS, [priors, gains], report))

    path, band, at_edge = search_band(words, centre, search)
    assert compared is not None
    costs = embedded.path_costs(path, band, KINDS, compared)
    return Path(KINDS.sources[path], KINDS.targets[path], -costs, at_edge)


def gains_within(
    band: Band, vectors: SentenceVectors, weight: float = BOTH_WEIGHT
) -> embedded.Embedded:
    """Return the gains of the beads within a band by vectors, in addition to words."""
    return _within(band, vectors, _about(vectors), weight)


@dataclasses.dataclass(frozen=True)
class _About:
    """The mean cosines to which costs are relative: see `transforms.kernels.sentences.embedded`."""

    norms: tuple[np.ndarray, np.ndarray]
    apart: tuple[np.ndarray, np.ndarray]
    leave: float


def _about(vectors: SentenceVectors, most: int = MAX_SENTENCES) -> _About:
    sides = vectors.source, vectors.target
    units = [_units(side) for side in sides]
    norms, apart = [], []
    for side, others in zip(sides, units[::-1], strict=True):
        mean = others.mean(axis=0) if len(others) else np.zeros(side.shape[1], np.float32)
        ends = np.concatenate([np.zeros_like(side[:1]), np.cumsum(side, axis=0, dtype=np.float64)])
        lengths = np.zeros((len(side), most), np.float32)
        distances = np.ones((len(side), most), np.float32)
        for run in range(min(most, len(side))):
            sums = ends[run + 1 :] - ends[: len(ends) - run - 1]
            length = np.linalg.norm(sums, axis=1)
            lengths[run:, run] = length
            distances[run:, run] = 1 - _products(sums, mean) / np.maximum(length, 1e-9)
        norms.append(lengths)
        apart.append(distances)
    return _About((norms[0], norms[1]), (apart[0], apart[1]), _leave(units, apart))


def _leave(units: list[np.ndarray], apart: list[np.ndarray]) -> float:
    """Return the cost of skipping a sentence: a low percentile of the costs of random pairs."""
    counts = [len(side) for side in units]
    if not min(counts):
        return 0.0
    numbers = np.arange(min(_SAMPLES, counts[0] * counts[1]), dtype=np.uint64)
    picks = []
    for side, count in enumerate(counts):
        bits = row_draws(np.uint64(0), numbers, np.uint64(side), np.zeros_like(numbers))
        picks.append(((bits >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)).astype(np.int64))
    cosines = np.einsum("ij,ij->i", units[0][picks[0]], units[1][picks[1]])
    others = apart[0][picks[0], 0] + apart[1][picks[1], 0]
    costs = 2 * np.maximum(1 - cosines, 0) / np.maximum(others, beads.MIN_APART)
    return float(np.percentile(costs, LEAVE_PERCENTILE))


def _within(
    band: Band,
    vectors: SentenceVectors,
    about: _About,
    weight: float = ENCODER_WEIGHT,
    report: beads.Told | None = None,
) -> embedded.Embedded:
    products = np.zeros(band.begins[-1], np.float32)
    for row in beads.each_row(1, len(band.low), report):
        first = max(int(band.low[row]), 1)
        last = int(band.high[row])
        start = int(band.begins[row]) + first - int(band.low[row])
        products[start : start + last - first] = _products(
            vectors.target[first - 1 : last - 1], vectors.source[row - 1]
        )
    return embedded.Embedded(products, *about.norms, *about.apart, about.leave, weight)


def coarse_centre(vectors: SentenceVectors) -> np.ndarray:
    """Return each row's position on a path of single sentences, found from coarse to fine."""
    levels = [vectors]
    while max(len(levels[-1].source), len(levels[-1].target)) > _WHOLE:
        levels.append(SentenceVectors(_halved(levels[-1].source), _halved(levels[-1].target)))
    centre: np.ndarray | None = None
    for level in reversed(levels):
        rows, columns = len(level.source), len(level.target)
        if centre is None:
            band = band_about(np.zeros(rows + 1, np.int64), columns, columns + 1)
        else:
            doubled = np.minimum(2 * np.repeat(centre, 2)[: rows + 1], columns)
            doubled[-1] = columns
            band = band_about(np.maximum.accumulate(doubled), columns, _HALF)
        flat = Document(
            np.arange(rows + 1),
            np.arange(columns + 1),
            np.zeros(rows + 1, np.int64),
            np.zeros(columns + 1, np.int64),
            1.0,
        )
        unit = SentenceVectors(_units(level.source), _units(level.target))
        compared = _within(band, unit, _about(unit, 1))
        priors = partial(beads.score_priors, band, _COARSE, flat, WITHOUT_PARAGRAPHS)
        gains = partial(embedded.add_gains, band, _COARSE, compared)
        back = beads.best_beads(band, _COARSE, [priors, gains])
        centre = positions_of(beads.trace(band, _COARSE, back), _COARSE)
    assert centre is not None
    return centre


def _halved(side: np.ndarray) -> np.ndarray:
    """Return the sums of neighbouring unit vectors; the last of an odd number is left as it is."""
    units = _units(side)
    if len(units) % 2:
        units = np.concatenate([units, np.zeros_like(units[:1])])
    return units[::2] + units[1::2]


def _products(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the inner product of each row with a vector.

    This does not use BLAS, whose threads round sums differently on a machine with more cores.
    """
    products: np.ndarray = np.einsum("ij,j->i", rows, vector, optimize=False)
    return products


def _units(side: np.ndarray) -> np.ndarray:
    return side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-9)
