"""Which stretches keep to paragraphs, on documents of one word a sentence with given scores."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.models.sentences.bead_weights import KINDS, MAX_SENTENCES, WEIGHTS
from pairweave.models.sentences.paragraph_stretches import (
    ScoredBeads,
    confirmed_corners,
    stretches,
)
from pairweave.transforms.kernels.sentences import beads, corners, lexical
from pairweave.transforms.kernels.sentences.beads import Band, Document

AGAINST = -20.0
"""The sum of the scores of words that do not translate each other."""


def whole_band(rows, columns):
    low = np.zeros(rows + 1, np.int64)
    return Band(low, low + columns + 1, np.arange(rows + 2) * (columns + 1))


def document(source, target):
    """Return a document of paragraphs of so many sentences, each of one word."""
    breaks = []
    for sizes in (source, target):
        ends = np.zeros(sum(sizes) + 1, np.int64)
        ends[np.cumsum(sizes)] = 1
        breaks.append(np.cumsum(ends))
    words = [np.arange(sum(sizes) + 1) for sizes in (source, target)]
    return Document(*words, *breaks, 1.0)


def scores_of(band, known):
    """Return scores of words: those of the beads ``(row, position, sources, targets)`` that are
    known, half in each direction, and `AGAINST` for others."""
    cells = int(band.begins[-1])
    forward, reverse = (np.full((cells, MAX_SENTENCES), AGAINST) for _ in range(2))
    for (row, position, sources, targets), score in known.items():
        # Each sentence of a side has its share.
        for other in range(position - targets + 1, position + 1):
            forward[band.begins[row] + other, sources - 1] = score / 2 / targets
        for other in range(row - sources + 1, row + 1):
            reverse[band.begins[other] + position, targets - 1] = score / 2 / sources
    return forward, reverse


def aligned(source, target, known):
    """Return the beads on which paragraphs weigh, and those where they are kept to."""
    made = document(source, target)
    band = whole_band(sum(source), sum(target))
    scores = scores_of(band, known)
    priors = partial(beads.score_priors, band, KINDS, made, WEIGHTS)
    by_words = partial(lexical.add_words, band, KINDS, made, WEIGHTS, scores)
    back = beads.best_beads(band, KINDS, [priors, by_words])
    weighed = beads.trace(band, KINDS, back)
    met = confirmed_corners(weighed, band, made, scores)
    following = np.searchsorted(met[:, 0], np.arange(len(band.low)))
    through = partial(corners.charge_passing, band, KINDS, met, following, 1e6)
    kept = beads.trace(band, KINDS, beads.best_beads(band, KINDS, [priors, by_words, through]))
    return [
        list(zip(KINDS.sources[path].tolist(), KINDS.targets[path].tolist(), strict=True))
        for path in (weighed, kept)
    ]


def ones(*places):
    return {(place, place, 1, 1): 40.0 for place in places}


CROSSED = [(1, 1), (2, 2), (1, 1)]
SINGLE = [(1, 1)] * 4


def crossed(pair, both):
    """Return scores of four pairs: ``pair`` for the inner two, ``both`` for them as one bead."""
    return {**ones(1, 4), (2, 2, 1, 1): pair, (3, 3, 1, 1): pair, (3, 3, 2, 2): both}


def test_pairs_that_words_speak_against_do_not_replace_fewer_beads():
    weighed, kept = aligned([2, 2], [2, 2], crossed(-2.0, 40.0))
    assert weighed == CROSSED
    assert kept == CROSSED


def test_pairs_that_words_confirm_keep_to_paragraphs_that_correspond():
    weighed, kept = aligned([2, 2], [2, 2], crossed(2.0, 48.0))
    assert weighed == CROSSED
    assert kept == SINGLE


def test_pairs_of_whole_paragraphs_need_no_words():
    weighed, kept = aligned([1, 1, 1, 1], [1, 1, 1, 1], crossed(-2.0, 40.0))
    assert weighed == CROSSED
    assert kept == SINGLE


SHIFTED = [(1, 1)] * 4
BY_PARAGRAPH = [(2, 1), (1, 1), (1, 2)]


def shifted(inner, middle):
    """Return scores of four pairs across paragraphs' ends, and of three that keep to them.

    Pairs that share words share scores, so those of three sentences score twice as much as the
    outer ones of the four.
    """
    return {
        **{(place, place, 1, 1): 10.0 for place in (1, 4)},
        **{(place, place, 1, 1): inner for place in (2, 3)},
        (2, 1, 2, 1): 20.0,
        (3, 2, 1, 1): middle,
        (4, 4, 1, 2): 20.0,
    }


@pytest.mark.parametrize(
    ("inner", "middle", "moved", "expected"),
    [
        (11.0, 1.0, False, BY_PARAGRAPH),
        (11.0, 1.0, True, SHIFTED),
        (10.0, 1.0, True, BY_PARAGRAPH),
        (10.0, -1.0, True, SHIFTED),
    ],
)
def test_where_paragraphs_were_moved_words_must_explain_a_stretch_better(
    inner, middle, moved, expected
):
    sizes = [2, 2], [1, 3]
    known = shifted(inner, middle)
    if moved:
        # Two more paragraphs, whose end lies within a pair that the words leave no doubt of.
        sizes = [2, 2, 1, 1], [1, 3, 1, 1]
        known |= {(6, 6, 2, 2): 400.0}
    weighed, kept = aligned(*sizes, known)
    rest = [(2, 2)] if moved else []
    assert weighed == SHIFTED + rest
    assert kept == expected + rest


def test_a_stretch_without_a_pair_is_not_confirmed():
    # One pair that crosses an end of the source, or a paragraph without a counterpart on each side.
    weighed, kept = aligned([1, 1, 1], [1, 2], {**ones(1), (3, 3, 2, 2): -10.0})
    assert weighed == [(1, 1), (2, 2)]
    assert kept == weighed


paths = st.lists(st.sampled_from(range(len(KINDS.sources))), max_size=8)


@given(first=paths, second=paths)
def test_stretches_are_the_shortest_that_hold_all_differences(first, second):
    sides = []
    sums = [
        np.array([KINDS.sources[path].sum(), KINDS.targets[path].sum()]) for path in (first, second)
    ]
    most = np.maximum(*sums)
    kinds = {size: kind for kind, size in enumerate(zip(KINDS.sources, KINDS.targets, strict=True))}
    for path, total in zip((first, second), sums, strict=True):
        rest = [kinds[1, 0]] * int(most[0] - total[0]) + [kinds[0, 1]] * int(most[1] - total[1])
        sides.append(np.array(path + rest, np.uint8))
    made = document([int(most[0])], [int(most[1])]) if most.all() else None
    if made is None:
        return
    band = whole_band(*most)
    scored = [ScoredBeads(side, band, made, scores_of(band, {})) for side in sides]
    met = [{tuple(place): at for at, place in enumerate(path.places.tolist())} for path in scored]
    common = sorted(met[0].keys() & met[1].keys())
    slow = []
    for before, after in itertools.pairwise(common):
        parts = [slice(path[before], path[after]) for path in met]
        if list(sides[0][parts[0]]) != list(sides[1][parts[1]]):
            slow.append(tuple(parts))
    assert list(stretches(*scored)) == slow
