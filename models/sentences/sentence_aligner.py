"""Aligns the sentences of a document: by lengths first, then by words (Moore 2002) and their links.

The first pass searches a band around the diagonal, the second a band around the path of the first.
If a path touches the edge of its band, the band is doubled, as long as memory allows.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pairweave.models.hmm.hmm import HmmModel
from pairweave.models.hmm.hmm_parts import Parts
from pairweave.models.sentences import word_frequencies
from pairweave.models.sentences.bead_weights import (
    FIRST_KINDS,
    KINDS,
    MAX_SENTENCES,
    NOTHING,
    UNMET_COST,
    WEIGHTS,
    WITHOUT_PARAGRAPHS,
)
from pairweave.models.sentences.document_progress import DocumentProgress
from pairweave.models.sentences.linked_beads import best_by_links
from pairweave.models.sentences.paragraph_stretches import confirmed_corners
from pairweave.transforms.errors import InputError
from pairweave.transforms.kernels.sentences import (
    beads,
    corners,
    embedded,
    lengths,
    lexical,
    piecewise,
    word_scores,
)
from pairweave.transforms.kernels.sentences.beads import Band, Document, Kinds, Told
from pairweave.transforms.sentences.sentence_words import SentenceWords

FIRST_POSITIONS = 400_000_000
"""Maximum number of positions in the first pass's band, one byte each."""

POSITIONS = 8_000_000
"""Maximum number of positions in the second pass's band, about 65 bytes each."""

PRODUCTS = 100_000_000_000
"""Maximum number of word pairs that the second pass compares: about 25 minutes, given 35 s for
2.5e9 (`tests/benchmarks/bench_bitext.py`). With sentences of 25 words, the widest band has a tenth
of that."""

ROW_BYTES = 1 << 30
"""Maximum memory of the second pass for the words compared with one source sentence, in bytes."""

_WORD_BYTES = 64
"""Bytes of that per target word; each pair of a source word and a target sentence takes 4."""

_CHEAP_POSITIONS = 300_000
"""A band of up to this many positions is always allowed: a second pass over it takes about 2 s."""

_MIN_HALF = 40
"""Half the width of the second pass's band, in sentences."""

_POSTERIOR_HALF = 20
"""Half the width of the band in which a bead's probability is computed."""


Gains = Callable[[Band], embedded.Embedded | piecewise.Piecewise]
"""Returns the values from which the gains of the beads within a band are computed: vectors of
sentences or of pieces."""


@dataclasses.dataclass(frozen=True)
class Path:
    """Beads of a document in order; every sentence is in one of them.

    Attributes:
        sources: Source sentences of each bead, int64 ``[bead]``.
        targets: Target sentences of each bead, int64 ``[bead]``.
        scores: In the first pass, the probability of each bead; in the second, the mean score of
            its words (`transforms.kernels.sentences.lexical`), above 0 if its sides explain each
            other better than chance does, and 0 if a side is empty. float64 ``[bead]``.
        at_edge: Rows in which the path touches the edge of the widest band allowed, so a better
            path may lead outside. int64, ascending.
    """

    sources: np.ndarray
    targets: np.ndarray
    scores: np.ndarray
    at_edge: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))


@dataclasses.dataclass(frozen=True)
class DocumentWords:
    """Both sides of a document.

    Attributes:
        source: The source side.
        target: The target side.
        source_paragraphs: Paragraph of each source sentence, ascending, int64 ``[sentence]``.
        target_paragraphs: The same for the target.
        name: Its name in messages.
        by_paragraph: Whether the second pass aligns beads of paragraphs where its words confirm it
            (`models.sentences.paragraph_stretches`).
    """

    source: SentenceWords
    target: SentenceWords
    source_paragraphs: np.ndarray
    target_paragraphs: np.ndarray
    name: str = "document"
    by_paragraph: bool = False

    @property
    def comparable_paragraphs(self) -> bool:
        """Tell whether both sides mark paragraphs of about the same size.

        If a side has fewer than half as many as the other, they are not comparable.
        """
        counts = [len(np.unique(side)) for side in (self.source_paragraphs, self.target_paragraphs)]
        return min(counts) > 1 and 2 * min(counts) >= max(counts)

    @functools.cached_property
    def length_model(self) -> lengths.LengthModel:
        """Return the model of lengths."""
        target_lengths = np.diff(self.target.offsets)
        most = int(FIRST_KINDS.targets.max())
        longest = min(int(target_lengths.max(initial=0)) * most, lengths.LONGEST)
        mean = float(self.target.offsets[-1]) / max(len(self.target), 1)
        chances = lengths.chance_lengths(target_lengths, most, longest)
        short = np.exp(chances[:, : lengths.LONGEST]).sum(axis=1)
        return lengths.LengthModel(
            chances,
            np.array([math.lgamma(count + 1) for count in range(longest + 1)]),
            np.log(np.maximum(1.0 - short, 1e-300)),
            1.0 / (max(mean, 1.0) + 1.0),
        )

    def as_kernels_take_it(self) -> Document:
        """Return lengths and ends of paragraphs."""
        return Document(
            self.source.offsets,
            self.target.offsets,
            _breaks(self.source_paragraphs),
            _breaks(self.target_paragraphs),
            max(float(self.target.offsets[-1]), 1.0) / max(float(self.source.offsets[-1]), 1.0),
        )


def align_by_length(words: DocumentWords) -> Path:
    """Return the best path of the first pass, with the probability of each bead."""
    document = words.as_kernels_take_it()
    weights = WEIGHTS if words.comparable_paragraphs else WITHOUT_PARAGRAPHS
    model = words.length_model
    progress = DocumentProgress(words.name, len(words.source))

    def search(band: Band) -> np.ndarray:
        report = progress.of("pass 1 of 2, comparing lengths")
        priors = functools.partial(beads.score_priors, band, FIRST_KINDS, document, weights)
        by_length = functools.partial(lengths.add_lengths, band, FIRST_KINDS, document, model)
        back = beads.best_beads(band, FIRST_KINDS, [priors, by_length], report)
        return beads.trace(band, FIRST_KINDS, back)

    rows, columns = len(words.source), len(words.target)
    diagonal = np.linspace(0, columns, rows + 1).round().astype(np.int64)
    half = max(1_000, (rows + columns) // 100)
    room = Room(FIRST_POSITIONS, lambda _band: True)
    path, _, _ = _widened(diagonal, columns, half, room, FIRST_KINDS, search)
    band = band_about(positions_of(path, FIRST_KINDS), columns, _POSTERIOR_HALF)
    report = progress.of("pass 1 of 2, computing probabilities")
    chances = lengths.posteriors(path, band, FIRST_KINDS, document, weights, model, report)
    return Path(FIRST_KINDS.sources[path], FIRST_KINDS.targets[path], chances)


def texts_of_words(
    source: SentenceWords, target: SentenceWords, parts: Parts
) -> tuple[word_scores.Text, word_scores.Text]:
    """Return both sides of a document in the form that kernels compare."""
    cuts = [(side.offsets, side.letter_offsets, side.letters) for side in (source, target)]
    one, other = parts.sides(*cuts)
    ours = word_frequencies.smoothed(source.frequency, one.words, parts.source_words)
    theirs = word_frequencies.smoothed(target.frequency, other.words, parts.target_words)
    return word_scores.Text(one, ours), word_scores.Text(other, theirs)


def align_by_words(
    words: DocumentWords, first: Path, model: HmmModel, gains: Gains | None = None
) -> Path:
    """Return the best path of the second pass, with the scores of its beads.

    Args:
        words: The document.
        first: The path of an earlier pass.
        model: A fitted aligner of the document's languages.
        gains: Returns the gains of beads by vectors, which are added to their scores; or None.

    Raises:
        InputError: Its sentences are too long for the narrowest band (``document_too_long``).
    """
    document = words.as_kernels_take_it()
    weights = WEIGHTS if words.comparable_paragraphs else WITHOUT_PARAGRAPHS
    parts = model.parts
    texts = texts_of_words(words.source, words.target, parts)
    scores: tuple[np.ndarray, np.ndarray] = (np.empty((0, 0)), np.empty((0, 0)))
    progress = DocumentProgress(words.name, len(words.source))

    def report(step: str) -> Told:
        return progress.of(f"pass 2 of 2, {step}")

    def search(band: Band) -> np.ndarray:
        nonlocal scores
        scores = word_scores.score_words(
            texts[0],
            texts[1],
            (parts.source_words, parts.target_words),
            parts.lexicon,
            band,
            MAX_SENTENCES,
            NOTHING,
            report("comparing words"),
        )
        scorers: list[beads.ForRows] = [
            functools.partial(beads.score_priors, band, KINDS, document, weights),
            functools.partial(lexical.add_words, band, KINDS, document, weights, scores),
        ]
        if gains is not None:
            scorers.append(_by_gains(band, gains(band)))
        if gains is None and words.by_paragraph and words.comparable_paragraphs:
            told = report("finding the best path")
            path = beads.trace(band, KINDS, beads.best_beads(band, KINDS, scorers, told))
            told = report("aligning paragraphs")
            met = confirmed_corners(path, band, document, scores, told)
            following = np.searchsorted(met[:, 0], np.arange(len(band.low)))
            passing = functools.partial(corners.charge_passing, band, KINDS, met, following)
            scorers.append(functools.partial(passing, UNMET_COST))
        return best_by_links(band, scorers, (texts[0].side, texts[1].side), parts, report)

    best, band, at_edge = search_band(words, centre_of(first), search)
    means = lexical.path_scores(best, band, KINDS, document, *scores)
    return Path(KINDS.sources[best], KINDS.targets[best], means, at_edge)


def _by_gains(band: Band, gains: embedded.Embedded | piecewise.Piecewise) -> beads.ForRows:
    """Return a function that adds the gains of beads to their scores."""
    if isinstance(gains, piecewise.Piecewise):
        return functools.partial(piecewise.add_gains, band, KINDS, gains)
    return functools.partial(embedded.add_gains, band, KINDS, gains)


def centre_of(path: Path) -> np.ndarray:
    """Return the last position of a path in each row; rows inside a bead have the one before."""
    centre = np.zeros(int(path.sources.sum()) + 1, np.int64)
    np.maximum.at(centre, np.cumsum(path.sources), np.cumsum(path.targets))
    return np.maximum.accumulate(centre)


def search_band(
    words: DocumentWords, centre: np.ndarray, search: Callable[[Band], np.ndarray]
) -> tuple[np.ndarray, Band, np.ndarray]:
    """Search a band for the best path of `KINDS`; see `_widened`.

    Args:
        words: The document.
        centre: A position of each row, non-decreasing, int64 ``[source sentence + 1]``.
        search: Finds the path within a band.

    Raises:
        InputError: Its sentences are too long for the narrowest band (``document_too_long``).
    """
    half = max(_MIN_HALF, _CHEAP_POSITIONS // (2 * len(centre)))
    half = _narrowed(words, centre, half)
    room = Room(POSITIONS, functools.partial(_has_room, words))
    return _widened(centre, len(words.target), half, room, KINDS, search)


def unaligned(sources: int, targets: int) -> Path:
    """Return the path on which every sentence is unaligned."""
    ours = np.repeat(np.array([1, 0], np.int64), [sources, targets])
    return Path(ours, 1 - ours, np.zeros(len(ours)))


def band_about(centre: np.ndarray, columns: int, half: int) -> Band:
    """Return the positions at most ``half`` target sentences from those of a path.

    Args:
        centre: A position of each row, non-decreasing, int64 ``[source sentence + 1]``.
        columns: Target sentences.
        half: Half the width.
    """
    # A row reaches as far as a path from the row before needs to get there.
    low = np.maximum(np.append(0, centre[:-1]) - half, 0)
    high = np.minimum(np.append(centre[1:], columns) + half, columns) + 1
    low[0], high[-1] = 0, columns + 1
    sizes = high - low
    return Band(low, high, np.append(0, np.cumsum(sizes)))


def positions_of(path: np.ndarray, kinds: Kinds) -> np.ndarray:
    """Return the last position of a path in each row; rows inside a bead have the one before."""
    rows = np.cumsum(kinds.sources[path])
    centre = np.zeros(int(rows[-1]) + 1 if len(rows) else 1, np.int64)
    np.maximum.at(centre, rows, np.cumsum(kinds.targets[path]))
    return np.maximum.accumulate(centre)


class Room(NamedTuple):
    """The limits of a band.

    Attributes:
        positions: Maximum number of positions, not counting the path's own steps.
        holds: Tells whether a band is within all other limits.
    """

    positions: int
    holds: Callable[[Band], bool]


def _widened(
    centre: np.ndarray,
    columns: int,
    half: int,
    room: Room,
    kinds: Kinds,
    search: Callable[[Band], np.ndarray],
) -> tuple[np.ndarray, Band, np.ndarray]:
    """Search a band, and wider ones as long as the path touches the edge.

    Returns:
        The kinds of the path's beads, the band in which it was found, and the rows in which it
        touches the edge of that band if no wider one is allowed.
    """
    # The limit applies to the first search too, except for the path's own steps.
    half = max(min(half, room.positions // (2 * len(centre))), 1)
    band = band_about(centre, columns, half)
    while True:
        path = search(band)
        at_edge = _along_edge(positions_of(path, kinds), band, columns)
        half *= 2
        wider = band_about(centre, columns, half)
        if not len(at_edge) or 2 * half * len(centre) > room.positions or not room.holds(wider):
            return path, band, at_edge
        band = wider


def _along_edge(positions: np.ndarray, band: Band, columns: int) -> np.ndarray:
    """Return the rows in which a path touches an edge of the band that is not the text's end."""
    near = (positions - band.low < 2) & (band.low > 0)
    near |= (band.high - positions < 3) & (band.high <= columns)
    return np.flatnonzero(near)


def _narrowed(words: DocumentWords, centre: np.ndarray, half: int) -> int:
    """Return half the width of a band within the limits: the given width or the minimum.

    Raises:
        InputError: There is none.
    """
    for width in (half, min(half, _MIN_HALF)):
        if _has_room(words, band_about(centre, len(words.target), width)):
            return width
    raise InputError(
        "document_too_long",
        words.name,
        f"its sentences have too many words to be compared within {_MIN_HALF} sentences of "
        f"the diagonal (over {PRODUCTS:.0e} pairs of words, or {ROW_BYTES >> 20} MiB for one "
        "sentence); divide it, for example by chapters, or lower --max_tokens",
    )


def _has_room(words: DocumentWords, band: Band) -> bool:
    """Tell whether comparing a document's words within a band is within the limits."""
    first, last = np.maximum(band.low[1:] - 1, 0), band.high[1:] - 1
    sizes = np.diff(words.source.offsets).astype(np.int64)
    reached = words.target.offsets[last].astype(np.int64) - words.target.offsets[first]
    held = _WORD_BYTES * reached + 4 * sizes * (last - first)
    return bool((sizes * reached).sum() <= PRODUCTS and held.max(initial=0) <= ROW_BYTES)


def _breaks(paragraphs: np.ndarray) -> np.ndarray:
    """Return the number of paragraphs that end at or before each position, int64 ``[position]``."""
    ends = np.zeros(len(paragraphs) + 1, np.int64)
    ends[1:-1] = np.diff(paragraphs) != 0
    ends[-1] = 1
    return np.cumsum(ends)
