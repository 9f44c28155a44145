"""Finds where words confirm that paragraphs are aligned first.

Two paths of a document part at some positions and meet again at others; a stretch is the part
between two meeting points. The path that keeps to beads of paragraphs
(`transforms.kernels.sentences.corners`) is never better by the score of the path on which
paragraphs only weigh, because that path is the best of all by this score. It may be right
nevertheless, where paragraphs are better evidence than words, so its ends of paragraphs count in a
stretch only if something else confirms them: the score of each pair by its words, or that the pair
is whole paragraphs of a document whose paragraphs correspond.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from pairweave.models.sentences.bead_weights import KINDS, UNMET_COST, WEIGHTS
from pairweave.transforms.kernels.sentences import corners, lexical
from pairweave.transforms.kernels.sentences.beads import (
    Band,
    Document,
    ForRows,
    Told,
    score_priors,
)

Stretch = tuple[slice, slice]
"""The beads of two paths between two positions that both lead through."""


class ScoredBeads:
    """The beads of a path with the evidence that confirms them.

    Attributes:
        path: The kind of each bead, uint8 ``[bead]``.
        places: Position before each bead and after the last, int64 ``[bead + 1, side]``.
        pairs: Whether each bead has two sides, bool ``[bead]``.
        words: Sum of the scores of each bead's words, float64 ``[bead]``.
        means: Their mean, above 0 if they explain each other better than chance does.
        corners: Whether paragraphs of both sides end at each place, bool ``[bead + 1]``.
        whole: Whether each bead begins and ends where paragraphs of both sides do, bool ``[bead]``.
    """

    def __init__(
        self,
        path: np.ndarray,
        band: Band,
        document: Document,
        scores: tuple[np.ndarray, np.ndarray],
    ) -> None:
        """Score the beads; arguments are those of `confirmed_corners`."""
        self.path = path
        sizes = np.stack([KINDS.sources[path], KINDS.targets[path]], axis=1)
        self.places = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(sizes, axis=0)])
        self.pairs: np.ndarray = sizes.min(axis=1) > 0
        self.means = lexical.path_scores(path, band, KINDS, document, *scores)
        sides = (
            (document.source_ends, document.source_breaks),
            (document.target_ends, document.target_breaks),
        )
        lengths = np.zeros(len(path))
        corner = np.ones(len(path) + 1, bool)
        for (ends, breaks), places in zip(sides, self.places.T, strict=True):
            lengths += np.diff(ends[places])
            corner &= np.append(True, np.diff(breaks) > 0)[places]
        self.words = self.means * lengths
        self.corners = corner
        self.whole = corner[:-1] & corner[1:]

    def weakest(self, beads: slice) -> float:
        """Return the lowest mean score of a pair among some beads; 0 if there is no pair."""
        return float(self.means[beads][self.pairs[beads]].min(initial=0.0))


def confirmed_corners(
    weighed: np.ndarray,
    band: Band,
    document: Document,
    scores: tuple[np.ndarray, np.ndarray],
    report: Told | None = None,
) -> np.ndarray:
    """Find the ends of paragraphs through which a path should lead.

    Args:
        weighed: The best path on which paragraphs weigh, uint8 ``[bead]``.
        band: The positions.
        document: The document.
        scores: Scores of its words, from `word_scores.score_words`.
        report: Called after each block of rows.

    Returns:
        Positions at which paragraphs of both sides end and through which the path that keeps to
        beads of paragraphs leads, except those within the stretches in which this is not confirmed
        (`_is_confirmed`); int64 ``[corner, side]``, ascending.
    """
    scorers: list[ForRows] = [
        partial(score_priors, band, KINDS, document, WEIGHTS),
        partial(lexical.add_words, band, KINDS, document, WEIGHTS, scores),
    ]
    back = corners.best_beads(band, KINDS, document, UNMET_COST, WEIGHTS.unequal, scorers, report)
    kept = corners.trace(band, KINDS, back)
    breaks = document.source_breaks, document.target_breaks
    correspond = not corners.unmet_ends(kept, KINDS, *breaks)
    ours, theirs = (ScoredBeads(path, band, document, scores) for path in (weighed, kept))
    met = theirs.corners.copy()
    for old, new in stretches(ours, theirs):
        if not _is_confirmed(ours, theirs, (old, new), correspond=correspond):
            met[new.start + 1 : new.stop] = False
    return theirs.places[met]


def stretches(ours: ScoredBeads, theirs: ScoredBeads) -> Iterator[Stretch]:
    """Yield the stretches in which the beads of two paths of one document differ."""
    columns = ours.places[-1, 1] + 1
    met, others = (path.places[:, 0] * columns + path.places[:, 1] for path in (ours, theirs))
    _, at, other = np.intersect1d(met, others, assume_unique=True, return_indices=True)
    for place in range(len(at) - 1):
        old, new = slice(at[place], at[place + 1]), slice(other[place], other[place + 1])
        if not np.array_equal(ours.path[old], theirs.path[new]):
            yield old, new


def _is_confirmed(
    ours: ScoredBeads, theirs: ScoredBeads, stretch: Stretch, *, correspond: bool
) -> bool:
    """Tell whether paragraphs should be kept to in a stretch.

    A stretch without a pair is not confirmed by anything. If the document's paragraphs correspond,
    each pair is confirmed by its words or by being whole paragraphs; or the weakest pair is no
    weaker than it was, and there are no more beads. Otherwise each pair is confirmed by its words,
    and all words together explain each other better.

    Args:
        ours: The path on which paragraphs weigh.
        theirs: The path that keeps to paragraphs.
        stretch: The beads of both paths.
        correspond: Whether, at a cost of `UNMET_COST`, each end of a paragraph meets one of the
            other side.
    """
    old, new = stretch
    pairs = theirs.pairs[new]
    if not pairs.any():
        return False
    by_words = theirs.means[new] > 0
    if not correspond:
        return bool(by_words[pairs].all() and theirs.words[new].sum() > ours.words[old].sum())
    if (by_words | theirs.whole[new])[pairs].all():
        return True
    no_finer = new.stop - new.start <= old.stop - old.start
    return no_finer and theirs.weakest(new) >= ours.weakest(old)
