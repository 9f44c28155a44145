import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.sentences import beads, corners
from pairweave.transforms.kernels.sentences.close_beads import best_of_close, close_beads
from tests.oracles import slow_sentences
from tests.transforms.kernels.sentences.test_sentence_paths import KINDS, LOGS, whole_band

SIZES = list(LOGS)
sizes = st.integers(1, 4)
drawn = st.lists(st.integers(-20, 20), min_size=125, max_size=125)


def scored(rows, columns, gains):
    """Return a band, its scores in sixths, and the function that gives them to some rows."""
    band = whole_band(rows, columns)
    scores = np.resize(np.array(gains) / 6, (int(band.begins[-1]), len(SIZES)))

    def score(first, last, out):
        part = scores[band.begins[first] : band.begins[last]]
        out[: len(part)] = part

    return band, scores, score


def every_path(rows, columns, score):
    """Return the score and the beads ``(row, position, kind)`` of every path."""
    return [
        (sum(score[row * (columns + 1) + position, kind] for row, position, kind in path), path)
        for path in slow_sentences.all_beads(rows, columns, SIZES)
    ]


def beads_of(close, band):
    return list(zip(*(part.tolist() for part in (*close.ends(band), close.kinds)), strict=True))


@pytest.mark.parametrize("held", [1, 1 << 19])
@given(rows=sizes, columns=sizes, gains=drawn, margin=st.sampled_from([0.01, 1.01, 4.01]))
def test_close_beads_are_those_of_all_paths_within_the_margin(rows, columns, gains, margin, held):
    band, scores, score = scored(rows, columns, gains)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beads, "SCORES_HELD", held)
        close = close_beads(band, KINDS, [score], margin, 10_000)
    paths = every_path(rows, columns, scores)
    best = max(total for total, _ in paths)
    wanted = {}
    for total, path in paths:
        for bead in path:
            wanted[bead] = min(wanted.get(bead, np.inf), best - total)
    wanted = {bead: behind for bead, behind in sorted(wanted.items()) if behind <= margin}
    assert beads_of(close, band) == list(wanted)
    np.testing.assert_allclose(np.maximum(close.behind, 0), list(wanted.values()), atol=1e-9)
    own = [bead for bead, behind in zip(wanted, close.behind, strict=True) if behind == -np.inf]
    assert (best, tuple(own)) in [(pytest.approx(total), path) for total, path in paths]
    np.testing.assert_array_equal(close.scores, scores[close.cells, close.kinds])


@given(rows=sizes, columns=sizes, gains=drawn, others=drawn, most=st.sampled_from([1, 4, 10_000]))
def test_the_best_path_of_close_beads_is_the_best_of_all_their_paths(
    rows, columns, gains, others, most
):
    band, _, score = scored(rows, columns, gains)
    close = close_beads(band, KINDS, [score], 3.01, most)
    again = scored(rows, columns, others)[1]
    kept = set(beads_of(close, band))
    wanted = max(total for total, path in every_path(rows, columns, again) if kept >= set(path))
    path = best_of_close(band, KINDS, close, again[close.cells, close.kinds])
    row = position = total = 0
    for kind in path:
        row, position = row + SIZES[kind][0], position + SIZES[kind][1]
        assert (row, position, kind) in kept
        total += again[row * (columns + 1) + position, kind]
    assert (row, position) == (rows, columns)
    assert total == pytest.approx(wanted)


@pytest.mark.parametrize("held", [1, 1 << 19])
@given(gains=st.lists(st.integers(0, 2), min_size=125, max_size=125), most=st.integers(1, 20))
def test_the_best_path_and_so_many_other_beads_are_kept(gains, most, held):
    band, _, score = scored(4, 4, gains)
    every = close_beads(band, KINDS, [score], 9.01, 10_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beads, "SCORES_HELD", held)
        close = close_beads(band, KINDS, [score], 9.01, most)
    distances = dict(zip(beads_of(every, band), every.behind.tolist(), strict=True))
    own = {bead for bead, behind in distances.items() if behind == -np.inf}
    near = sorted(set(distances) - own, key=lambda bead: (distances[bead], *(-at for at in bead)))
    assert beads_of(close, band) == sorted(own.union(near[:most]))


def test_of_close_beads_with_equal_scores_the_first_kind_is_taken():
    band, _, score = scored(1, 1, [0])
    close = close_beads(band, KINDS, [score], 1.0, 10)
    assert len(close.cells) == 5
    path = best_of_close(band, KINDS, close, np.zeros(5))
    assert [SIZES[kind] for kind in path] == [(1, 1)]


@given(
    rows=sizes,
    columns=sizes,
    gains=drawn,
    met=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=2),
    cost=st.sampled_from([0.5, 2.0, 100.0]),
)
def test_each_corner_that_a_path_passes_has_a_cost(rows, columns, gains, met, cost):
    band, scores, score = scored(rows, columns, gains)
    met = sorted({(min(row, rows), min(position, columns)) for row, position in met})
    met = [corner for at, corner in enumerate(met) if not at or corner[1] >= met[at - 1][1]]
    should_meet = np.array(met, np.int64).reshape(-1, 2)
    following = np.searchsorted(should_meet[:, 0], np.arange(rows + 1))

    def charge(first, last, out):
        corners.charge_passing(band, KINDS, should_meet, following, cost, first, last, out)

    def after_costs(total, path):
        places = {(0, 0), *((row, position) for row, position, _ in path)}
        return total - cost * len(set(met) - places)

    path = beads.trace(band, KINDS, beads.best_beads(band, KINDS, [score, charge]))
    places = np.cumsum([SIZES[kind] for kind in path], axis=0).tolist()
    actual = [(*place, kind) for place, kind in zip(places, path.tolist(), strict=True)]
    paths = {path: total for total, path in every_path(rows, columns, scores)}
    wanted = max(after_costs(total, path) for path, total in paths.items())
    assert after_costs(paths[tuple(actual)], actual) == pytest.approx(wanted)
