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


@pytest.mark.parametrize("rank", [1, 5, HIDDEN - 1])
@pytest.mark.parametrize("spread", [0.0, 3.0, 6.0])
def test_of_vectors_that_do_not_span_the_space_the_smallest_solution_is_taken(rank, spread):
    """Vectors in a subspace leave the map open elsewhere; directions may be of unlike size."""
    draw = np.random.default_rng(rank)
    sizes = 10.0 ** -np.linspace(0, spread, rank)
    source = unit(draw.standard_normal((300, rank)) * sizes @ draw.standard_normal((rank, HIDDEN)))
    target = unit(source @ draw.standard_normal((HIDDEN, HIDDEN)))
    target = unit(target + 1e-3 * draw.standard_normal(target.shape))
    expected = np.linalg.lstsq(source, target, rcond=None)[0]
    for parts in (1, 7, 60):
        actual = moments(source, target, parts).solve("least_squares")
        assert actual == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(("hidden", "rank"), [(12, 5), (32, 31), (64, 20)])
def test_vectors_of_an_encoder_that_do_not_span_the_space_have_numpy_s_solution(hidden, rank):
    """Rounded to 32 bits, they have a little in the directions beyond their rank."""
    draw = np.random.default_rng(hidden)
    source = draw.standard_normal((2_000, rank)) @ draw.standard_normal((rank, hidden))
    source, target = source.astype(np.float32), draw.standard_normal((2_000, hidden))
    scaled = unit(source.astype(np.float64))
    expected = np.linalg.lstsq(scaled, unit(target), rcond=None)[0]
    sums = Moments(hidden)
    for rows in np.array_split(np.arange(2_000), 50):
        sums.add(source[rows], target[rows])
    actual = sums.solve("least_squares")
    assert np.abs(actual - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("rows", [0, 1, HIDDEN - 1, HIDDEN])
def test_any_number_of_pairs_has_a_solution(vectors, rows):
    source, target = (unit(side[:rows]) for side in vectors)
    expected = np.linalg.lstsq(source, target, rcond=None)[0]
    actual = moments(source, target, 3).solve("least_squares")
    assert actual == pytest.approx(expected, abs=1e-8)


def test_the_orthogonal_map_is_that_of_procrustes(vectors):
    source, target = map(unit, vectors)
    left, _, right = np.linalg.svd(source.T @ target)
    actual = moments(*vectors).solve("orthogonal")
    assert actual == pytest.approx(left @ right, abs=1e-9)
    assert actual @ actual.T == pytest.approx(np.eye(HIDDEN), abs=1e-9)


def test_a_rotation_is_found_and_no_orthogonal_map_is_nearer(vectors):
    source = unit(vectors[0])
    rotation = np.linalg.qr(vectors[1][:HIDDEN])[0]
    assert moments(source, source @ rotation).solve("orthogonal") == pytest.approx(rotation)
    actual = moments(*vectors).solve("orthogonal")
    target = unit(vectors[1])
    best = np.square(source @ actual - target).sum()
    draw = np.random.default_rng(4)
    for _ in range(20):
        other = np.linalg.qr(draw.standard_normal((HIDDEN, HIDDEN)))[0]
        assert best <= np.square(source @ other - target).sum()


def test_a_map_is_read_back_and_a_damaged_one_refused(tmp_path):
    made = Projection(np.eye(3, dtype=np.float32), "orthogonal", "encoder", 9)
    directory = str(tmp_path / "map")
    vector_projection.hashed_files.write(directory, vector_projection.pack(made, {"pairs": 5}))
    actual = vector_projection.find(directory)
    assert actual.load().matrix.tolist() == made.matrix.tolist()
    assert (actual.load().encoder, actual.load().layer) == ("encoder", 9)
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
        actual = best_counterparts(torch.from_numpy(source), torch.from_numpy(target))
        places = counterparts(source, target)
        for side, vectors, at in ((0, source, 0), (1, target, 1)):
            expected = np.array([vectors[place[at]] for place in places])
            assert actual[side] == pytest.approx(expected, rel=1e-6)
