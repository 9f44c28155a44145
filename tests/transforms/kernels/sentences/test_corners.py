import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.sentences import beads, corners
from tests.oracles import slow_sentences
from tests.transforms.kernels.sentences.test_sentence_paths import KINDS, LOGS, document, whole_band

sides = st.lists(st.booleans(), min_size=1, max_size=5)
scored = st.lists(st.integers(-8, 8), min_size=150, max_size=150)


def breaks_of(side):
    """Return the paragraphs that end at or before each position, given those that end early."""
    return np.cumsum([0, *side[:-1], 1]).astype(np.int64)


def found(source, target, gains, costs):
    """Return the best path of a document of single scores, and those scores."""
    rows, columns = len(source), len(target)
    band = whole_band(rows, columns)
    values = np.resize(np.array(gains) / 4, (rows + 1, columns + 1, len(KINDS.sources)))
    breaks = breaks_of(source), breaks_of(target)
    best = np.full((KINDS.sources.max() + 1, columns + 1, corners.STATES), beads.NO_PATH)
    back = np.empty((band.begins[-1], corners.STATES), np.uint8)
    scores = (values + KINDS.log_priors).reshape(-1, len(KINDS.sources))
    corners.advance(band, KINDS, breaks, costs, (best, back), 0, rows + 1, scores)
    return corners.trace(band, KINDS, back), values, breaks, best[rows % len(best), columns, 0]


@given(
    source=sides,
    target=sides,
    gains=scored,
    cost=st.sampled_from([0.0, 0.5, 2.0, 40.0]),
    gained=st.sampled_from([0.0, 1.0, 3.0]),
)
def test_the_best_path_is_the_best_of_beads_of_paragraphs_one_by_one(
    source, target, gains, cost, gained
):
    path, values, breaks, total = found(source, target, gains, (cost, gained))
    assert KINDS.sources[path].sum() == len(source)
    assert KINDS.targets[path].sum() == len(target)
    numbers = {size: number for number, size in enumerate(LOGS)}

    def score(row, column, size):
        return LOGS[size] + values[row, column, numbers[size]]

    ends = [np.flatnonzero(np.diff(side)) + 1 for side in breaks]
    slow = slow_sentences.best_by_paragraph(*ends, list(LOGS), score, (cost, gained))
    assert total == pytest.approx(slow)
    unmet = corners.unmet_ends(path, KINDS, *breaks)
    row = column = 0
    borders = set(itertools.product(*([0, *side.tolist()] for side in ends)))
    reached, own, corner, since = {(0, 0)}, 0.0, (0, 0), 0
    for kind in path:
        size = int(KINDS.sources[kind]), int(KINDS.targets[kind])
        row, column = row + size[0], column + size[1]
        own += score(row, column, size)
        reached.add((row, column))
        since += 1
        if (row, column) in borders:
            own += gained * (since - 1) if row == corner[0] or column == corner[1] else 0
            corner, since = (row, column), 0
    met = reached & borders
    missed = [set(side.tolist()) - {at[number] for at in met} for number, side in enumerate(ends)]
    assert unmet == sum(map(len, missed))
    assert own - cost * unmet == pytest.approx(total)


@pytest.mark.parametrize(
    ("sizes_of_kinds", "wanted"),
    [
        ([(1, 1), (1, 0), (0, 1)], [0, 0]),
        ([(0, 1), (1, 0), (1, 1)], [1, 1, 0, 0]),
        ([(1, 0), (0, 1), (1, 1)], [1, 1, 0, 0]),
    ],
)
@pytest.mark.parametrize("ends", [False, True])
def test_of_paths_with_equal_scores_the_first_kind_of_bead_is_taken(sizes_of_kinds, wanted, ends):
    sources, targets = np.array(sizes_of_kinds).T.copy()
    kinds, band = beads.Kinds(sources, targets, np.zeros(3)), whole_band(2, 2)
    paragraphs = document([1, 1], [1, 1], *[[0, int(ends), 1]] * 2)
    no_scores = [lambda *rows: rows[-1].fill(0.0)]
    back = corners.best_beads(band, kinds, paragraphs, 0.0, 0.0, no_scores)
    assert corners.trace(band, kinds, back).tolist() == wanted


def test_an_unaligned_sentence_before_a_corner_leaves_no_end_unmet():
    # Source 1 | 1, target 2 | 1: the second target sentence has no counterpart.
    breaks = breaks_of([True, True]), breaks_of([False, True, True])
    kinds = {size: number for number, size in enumerate(LOGS)}
    path = np.array([kinds[1, 1], kinds[0, 1], kinds[1, 1]], np.uint8)
    assert corners.unmet_ends(path, KINDS, *breaks) == 0
    crossed = np.array([kinds[1, 1], kinds[1, 2]], np.uint8)
    assert corners.unmet_ends(crossed, KINDS, *breaks) == 2
