"""Extraction heads beside plain twins, one pair at a time."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder import heads  # noqa: E402
from pairweave.models.encoder.encoder_config import HEADS, HeadConfig  # noqa: E402
from pairweave.models.encoder.heads import extract  # noqa: E402
from pairweave.models.encoder.optimal_transport import _iterate, cost_of, plan  # noqa: E402
from pairweave.models.encoder.piece_similarity import closeness  # noqa: E402
from pairweave.transforms.errors import ConfigError  # noqa: E402


def random_pairs(seed, sizes, hidden=6):
    """Return padded vectors with rubbish in the padding, and the lengths."""
    generator = torch.Generator().manual_seed(seed)
    sides, lengths = [], []
    for side in (0, 1):
        widths = [size[side] for size in sizes]
        sides.append(torch.randn(len(sizes), max(widths), hidden, generator=generator))
        lengths.append(torch.tensor(widths))
    return *sides, *lengths


def alone(batch, pair, config):
    """Read the links of one pair of a batch, without its padding."""
    source, target, rows, columns = batch
    one = extract(
        source[pair : pair + 1, : rows[pair]],
        target[pair : pair + 1, : columns[pair]],
        rows[pair : pair + 1],
        columns[pair : pair + 1],
        config,
    )
    return one.forward[0], one.reverse[0], one.forward_probability[0], one.reverse_probability[0]


SIZES = [(1, 1), (5, 3), (2, 7), (1, 4), (6, 6), (9, 2), (3, 3)]


TRANSPORTS = ("ot", "unbalanced_ot", "partial_ot")


@pytest.mark.parametrize(
    ("head", "more"),
    [
        *((head, {}) for head in HEADS),
        *((head, {"distortion": 0.5}) for head in ("argmax", "itermax", "match", *TRANSPORTS)),
        *((head, {"mass": "norm", "cost": "euclidean"}) for head in TRANSPORTS),
    ],
)
def test_padding_and_neighbours_change_nothing(head, more):
    config = HeadConfig(head, **more)
    batch = random_pairs(3, SIZES)
    together = extract(*batch, config)
    for pair, (rows, columns) in enumerate(SIZES):
        forward, reverse, *probabilities = alone(batch, pair, config)
        assert torch.equal(together.forward[pair, :rows, :columns], forward)
        assert torch.equal(together.reverse[pair, :rows, :columns], reverse)
        for ours, wanted in zip(
            (together.forward_probability, together.reverse_probability), probabilities, strict=True
        ):
            torch.testing.assert_close(ours[pair, :rows, :columns], wanted, rtol=1e-5, atol=1e-6)
        outside = torch.ones_like(together.forward[pair])
        outside[:rows, :columns] = False
        assert not (together.forward[pair] & outside).any()
        assert not (together.reverse[pair] & outside).any()


def test_a_pair_that_stands_still_is_left_alone_while_others_move():
    config = HeadConfig("ot", max_iterations=500, tolerance=1e-3)
    rates = torch.tensor([0.5, 0.01, 0.2], dtype=torch.float64)[:, None]

    def run(pairs):
        start = torch.full((len(pairs), 2), 0.1, dtype=torch.float64)
        return _iterate(
            lambda state: (state[0] + rates[pairs] * (1 - state[0]),), (start,), config
        )[0]

    together = run([0, 1, 2])
    for pair in range(3):
        assert torch.equal(together[pair], run([pair])[0])
    assert not torch.equal(together[0], torch.ones_like(together[0]))


@pytest.mark.parametrize("head", HEADS)
def test_what_stands_in_the_padding_is_never_looked_at(head):
    more = {"mass": "norm", "cost": "euclidean"} if head in TRANSPORTS else {}
    config = HeadConfig(head, **more)
    source, target, rows, columns = random_pairs(4, SIZES)
    expected = extract(source, target, rows, columns, config)
    for side, lengths, rubbish in ((source, rows, float("nan")), (target, columns, float("inf"))):
        side[torch.arange(side.shape[1]) >= lengths[:, None]] = rubbish
    actual = extract(source, target, rows, columns, config)
    for name in ("forward", "reverse"):
        assert torch.equal(getattr(actual, name), getattr(expected, name)), name
        for pair, (height, width) in enumerate(SIZES):
            made = getattr(actual, f"{name}_probability")[pair, :height, :width]
            wanted = getattr(expected, f"{name}_probability")[pair, :height, :width]
            assert torch.equal(made, wanted), name


@pytest.mark.parametrize("cost", ["cosine", "euclidean"])
@pytest.mark.parametrize("distortion", [0.0, 0.5])
def test_the_only_cell_of_a_pair_costs_nothing(cost, distortion):
    source, target, rows, columns = random_pairs(3, [(1, 1), (2, 1)])
    cells = torch.tensor([[[True], [False]], [[True], [True]]])
    config = HeadConfig("unbalanced_ot", cost=cost, distortion=distortion)
    made = cost_of(source.double(), target.double(), rows, columns, cells, config)
    assert made[0].tolist() == [[0.0], [0.0]]
    assert sorted(made[1].flatten().tolist()) == pytest.approx([0.0, 1.0], abs=1e-8)


@pytest.mark.parametrize("head", HEADS)
def test_probabilities_lie_between_0_and_1(head):
    batch = random_pairs(5, SIZES)
    actual = extract(*batch, HeadConfig(head))
    for links, chance in (
        (actual.forward, actual.forward_probability),
        (actual.reverse, actual.reverse_probability),
    ):
        assert links.any()
        assert chance.dtype == torch.float32
        assert ((chance[links] > 0) & (chance[links] <= 1)).all()


@pytest.mark.parametrize("head", HEADS)
def test_no_link_of_a_piece_with_itself_is_surer_than_sure(head):
    source, _, rows, _ = random_pairs(6, [(40, 40)], hidden=48)
    actual = extract(source, source, rows, rows, HeadConfig(head))
    own = torch.eye(40, dtype=torch.bool)
    assert (actual.forward[0] & own).any()
    for chance in (actual.forward_probability, actual.reverse_probability):
        assert float(chance.amax()) <= 1.0


@pytest.mark.parametrize(
    ("head", "mass"),
    [*((head, "uniform") for head in HEADS), *((head, "norm") for head in TRANSPORTS)],
)
def test_zero_vectors_have_probabilities_too(head, mass):
    lengths = torch.tensor([3]), torch.tensor([4])
    for target in (torch.zeros(1, 4, 5), torch.ones(1, 4, 5)):
        actual = extract(torch.zeros(1, 3, 5), target, *lengths, HeadConfig(head, mass=mass))
        assert torch.isfinite(actual.forward_probability).all()
        assert actual.forward.any()


def test_softmax_links_by_hand():
    source = torch.tensor([[[8.0, 0.0], [0.0, 8.0]]])
    target = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [0.6, 0.0]]])
    actual = extract(source, target, torch.tensor([2]), torch.tensor([3]), HeadConfig("softmax"))
    assert actual.forward[0].tolist() == [[True, False, True], [False, True, False]]
    assert actual.reverse[0].tolist() == [[True, False, True], [False, True, True]]


@given(st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=12), st.integers(0, 3))
def test_entmax_equals_a_bisection(scores, padded):
    row = torch.tensor([[*scores, *[float("-inf")] * padded]], dtype=torch.float64)
    made = heads.entmax15(row, dim=1)[0].numpy()
    halves = np.array(scores) / 2
    low, high = halves.max() - 1, halves.max()
    for _ in range(200):
        middle = (low + high) / 2
        if (np.maximum(halves - middle, 0) ** 2).sum() > 1:
            low = middle
        else:
            high = middle
    expected = np.maximum(halves - (low + high) / 2, 0) ** 2
    np.testing.assert_allclose(made[: len(scores)], expected, atol=1e-6)
    assert not made[len(scores) :].any()


def test_the_first_of_equal_cells_is_the_best():
    similarity = torch.tensor([[[1.0, 1.0], [1.0, 1.0]]])
    assert heads.row_best(similarity)[0].tolist() == [[True, False], [True, False]]
    assert heads.column_best(similarity)[0].tolist() == [[True, True], [False, False]]


def plain_itermax(similarity):
    """Return the links of Itermax with two rounds, cell by cell."""
    rows, columns = similarity.shape

    def mutual(values, allowed):
        result = set()
        for i, j in itertools.product(range(rows), range(columns)):
            best = values[i].argmax() == j and values[:, j].argmax() == i
            if best and allowed(i, j):
                result.add((i, j))
        return result

    links = mutual(similarity, lambda *_: True)
    if min(rows, columns) <= 2:
        return links
    used_rows, used_columns = {i for i, _ in links}, {j for _, j in links}
    if len(used_rows) == rows or len(used_columns) == columns:
        return links
    lowered = similarity.copy()
    for i, j in itertools.product(range(rows), range(columns)):
        lowered[i, j] *= (1.0, 0.9, 0.0)[(i in used_rows) + (j in used_columns)]
    return links | mutual(lowered, lambda i, j: i not in used_rows or j not in used_columns)


@settings(max_examples=50)
@given(st.integers(0, 2**31), st.tuples(st.integers(1, 9), st.integers(1, 9)))
def test_itermax_equals_its_slow_twin(seed, size):
    source, target, rows, columns = random_pairs(seed, [size, (9, 9)])
    actual = extract(source, target, rows, columns, HeadConfig("itermax"))
    cosine = torch.nn.functional.cosine_similarity(
        source[0, : size[0], None].double(), target[0, None, : size[1]].double(), dim=2
    )
    made = {tuple(cell) for cell in actual.forward[0].nonzero().tolist()}
    assert made == plain_itermax(((cosine + 1) / 2).numpy())


@settings(max_examples=50)
@given(st.integers(0, 2**31), st.tuples(st.integers(1, 5), st.integers(1, 5)))
def test_matching_is_the_best_of_all_matchings(seed, size):
    batch = random_pairs(seed, [size])
    actual = extract(*batch, HeadConfig("match"))
    chosen = actual.forward[0]
    assert chosen.sum() == min(size)
    assert (chosen.sum(0) <= 1).all()
    assert (chosen.sum(1) <= 1).all()
    values = actual.forward_probability[0].double().numpy()
    values = values if size[0] <= size[1] else values.T
    best = max(
        sum(values[i, j] for i, j in enumerate(order))
        for order in itertools.permutations(range(values.shape[1]), values.shape[0])
    )
    assert actual.forward_probability[0][chosen].double().sum() == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("mass", ["uniform", "norm"])
def test_balanced_transport_moves_all_mass(mass):
    batch = random_pairs(7, SIZES)
    moved = plan(*batch, HeadConfig("ot", mass=mass))
    source, target, rows, columns = batch
    for pair, size in enumerate(SIZES):
        for dim, vectors, length in ((1, source, rows), (0, target, columns)):
            own = vectors[pair, : length[pair]].double()
            weight = own.norm(dim=1) if mass == "norm" else torch.ones(len(own)).double()
            sums = moved[pair, : size[0], : size[1]].sum(dim)
            torch.testing.assert_close(sums, weight / weight.sum(), rtol=1e-6, atol=1e-7)


def test_partial_transport_moves_its_share_and_never_more_than_there_is():
    batch = random_pairs(7, SIZES)
    moved = plan(*batch, HeadConfig("partial_ot", moved_mass=0.6))
    for pair, size in enumerate(SIZES):
        assert float(moved[pair].sum()) == pytest.approx(0.6 * min(size), rel=1e-9)
        assert (moved[pair].sum(0) <= 1 + 1e-6).all()
        assert (moved[pair].sum(1) <= 1 + 1e-6).all()


def test_unbalanced_transport_leaves_the_more_the_cheaper_it_is():
    batch = random_pairs(7, SIZES)
    dear = plan(*batch, HeadConfig("unbalanced_ot", relaxation=100.0))
    cheap = plan(*batch, HeadConfig("unbalanced_ot", relaxation=0.01))
    assert float(cheap[4].sum()) < float(dear[4].sum()) == pytest.approx(6.0, rel=0.01)


@pytest.mark.parametrize("mass", ["uniform", "norm"])
@pytest.mark.parametrize("regularization", [0.05, 0.1, 10.0])
def test_unbalanced_transport_of_a_dear_price_moves_the_mean_of_both_masses(mass, regularization):
    batch = random_pairs(7, [*SIZES, (40, 1), (1, 60)])
    config = HeadConfig("unbalanced_ot", relaxation=1e4, mass=mass, regularization=regularization)
    moved = plan(*batch, config).sum((1, 2))
    source, target, rows, columns = batch
    for pair, total in enumerate(moved.tolist()):
        sides = source[pair, : rows[pair]].double(), target[pair, : columns[pair]].double()
        weights = [float(side.norm(dim=1).sum()) if mass == "norm" else len(side) for side in sides]
        assert total == pytest.approx((weights[0] * weights[1]) ** 0.5, rel=1e-2)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"head": "softmaxx"}, "head 'softmaxx' is unknown"),
        ({"head": "argmax", "head_threshold": 0.5}, "head argmax has no threshold"),
        ({"head": "softmax", "distortion": 0.5}, "head softmax has no distortion"),
        ({"head": "argmax", "cost": "euclidean"}, "head argmax has no cost, got 'euclidean'"),
        ({"head": "ot", "relaxation": 0.4}, r"head ot has no relaxation, got 0\.4"),
        ({"head": "unbalanced_ot", "moved_mass": 1.0}, "head unbalanced_ot has no moved_mass"),
        ({"head": "ot", "mass": "heavy"}, "mass 'heavy' is unknown"),
        ({"head": "ot", "regularization": 0.001}, "regularization must be 0.005 to 10, got 0.001"),
        ({"head": "ot", "head_threshold": True}, "threshold must be a number, 0 to 1"),
    ],
)
def test_wrong_settings_are_refused(settings_, message):
    with pytest.raises(ConfigError, match=message):
        HeadConfig(**settings_)


def test_a_side_of_one_piece_has_no_diagonal():
    cells = torch.ones((3, 3, 3), dtype=torch.bool)
    lengths = torch.tensor([1, 3, 3]), torch.tensor([3, 1, 3])
    near = closeness(*lengths, cells, 0.5)
    assert (near[:2] == 1).all()
    assert near[2].tolist() == [[1, 0.875, 0.5], [0.875, 1, 0.875], [0.5, 0.875, 1]]
