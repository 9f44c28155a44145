"""The projection against NumPy's own solutions, its files, and the pairs that it is fitted on."""

import numpy as np
import pytest

from pairweave.models.similarity import vector_projection
from pairweave.models.similarity.vector_projection import Moments, Projection
from pairweave.transforms.errors import ConfigError

HIDDEN = 12


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def vectors():
    draw = np.random.default_rng(3)
    source = draw.standard_normal((300, HIDDEN))
    target = source @ draw.standard_normal((HIDDEN, HIDDEN)) + 0.1 * draw.standard_normal(
        (300, HIDDEN)
    )
    return source, target


def moments(source, target, parts=7):
    sums = Moments(HIDDEN)
    for rows in np.array_split(np.arange(len(source)), parts):
        sums.add(source[rows], target[rows])
    return sums


def test_least_squares_is_numpy_s_solution(vectors):
    expected = np.linalg.lstsq(*map(unit, vectors), rcond=None)[0]
    assert moments(*vectors).solve("least_squares") == pytest.approx(expected, abs=1e-9)


def test_of_several_least_squares_solutions_the_least_is_taken(vectors):
    source, target = (side[: HIDDEN // 2] for side in vectors)
    expected = np.linalg.lstsq(unit(source), unit(target), rcond=None)[0]
    assert moments(source, target, 2).solve("least_squares") == pytest.approx(expected, abs=1e-6)


def test_the_orthogonal_map_is_that_of_procrustes(vectors):
    source, target = map(unit, vectors)
    left, _, right = np.linalg.svd(source.T @ target)
    found = moments(*vectors).solve("orthogonal")
    assert found == pytest.approx(left @ right, abs=1e-9)
    assert found @ found.T == pytest.approx(np.eye(HIDDEN), abs=1e-9)


def test_a_rotation_is_found_and_no_orthogonal_map_is_nearer(vectors):
    source = unit(vectors[0])
    rotation = np.linalg.qr(vectors[1][:HIDDEN])[0]
    assert moments(source, source @ rotation).solve("orthogonal") == pytest.approx(rotation)
    found = moments(*vectors).solve("orthogonal")
    target = unit(vectors[1])
    best = np.square(source @ found - target).sum()
    draw = np.random.default_rng(4)
    for _ in range(20):
        other = np.linalg.qr(draw.standard_normal((HIDDEN, HIDDEN)))[0]
        assert best <= np.square(source @ other - target).sum()


def test_a_map_is_read_back_and_a_damaged_one_refused(tmp_path):
    made = Projection(np.eye(3, dtype=np.float32), "orthogonal", "encoder", 9)
    directory = str(tmp_path / "map")
    vector_projection.hashed_files.write(directory, vector_projection.pack(made, {"pairs": 5}))
    found = vector_projection.find(directory)
    assert found.load().matrix.tolist() == made.matrix.tolist()
    assert (found.load().encoder, found.load().layer) == ("encoder", 9)
    (tmp_path / "map" / "projection.npy").write_bytes(b"x")
    with pytest.raises(ConfigError, match="projection_fit"):
        vector_projection.find(directory)
    with pytest.raises(ConfigError, match="projection_fit"):
        vector_projection.find(str(tmp_path))


def test_pieces_that_are_each_other_s_best_counterpart_are_paired():
    torch = pytest.importorskip("torch", reason="needs the extra `neural`")
    from pairweave.models.similarity.projection_fit import best_counterparts
    from tests.oracles.slow_yisi import counterparts

    draw = np.random.default_rng(5)
    for rows, columns in ((1, 4), (6, 3), (9, 9)):
        source, target = (draw.standard_normal((size, 8)) for size in (rows, columns))
        found = best_counterparts(torch.from_numpy(source), torch.from_numpy(target))
        places = counterparts(source, target)
        for side, vectors, at in ((0, source, 0), (1, target, 1)):
            expected = np.array([vectors[place[at]] for place in places])
            assert found[side] == pytest.approx(expected, rel=1e-6)
