"""Receipts of a large run: packed counts, and sums of parts equal to those of the whole."""

import copy
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output import unit_counts
from pairweave.transforms.output.receipt_sums import ReceiptSums, add_sums, sum_receipts

UNITS = 9
counts = st.dictionaries(
    st.integers(0, UNITS - 1), st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=UNITS
)
names = st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 5))
bars = st.dictionaries(
    st.sampled_from(["tags", "score"]),
    st.dictionaries(st.sampled_from(["a", "b"]), st.lists(st.integers(0, 5), max_size=4)),
)


@st.composite
def receipts(draw):
    """Return a receipt as `write_shard_receipt` makes one, as far as it is added up."""
    units = [[unit, *both] for unit, both in sorted(draw(counts).items())]
    reasons = [[unit, "too_long", rejected] for unit, _, rejected in units if rejected]
    rejected = sum(entry[2] for entry in units)
    return {
        "rows": sum(entry[1] + entry[2] for entry in units),
        "kept": sum(entry[1] for entry in units),
        "kept_by_corpus": draw(names),
        "rejected": [{"corpus": "a", "stage": "screen", "reason": "too_long", "rows": rejected}]
        if rejected
        else [],
        "units": units,
        "unit_reasons": reasons,
        "counts": draw(names),
        "histograms": draw(bars),
        "tag_shapes": draw(names),
    }


def numbered(several):
    return [
        {**receipt, "shard": shard, "files": [{"name": f"part-{shard:05d}"}]}
        for shard, receipt in enumerate(several)
    ]


def plain(sums):
    """Return sums as objects that can be compared."""
    arrays = {name: column.tolist() for name, column in sums.unit_reasons.items()}
    return ReceiptSums(**{**vars(sums), "units": sums.units.tolist(), "unit_reasons": arrays})


@given(st.lists(receipts(), min_size=1, max_size=6))
def test_histograms_and_shapes_are_added_bar_by_bar(several):
    sums = sum_receipts(numbered(several), UNITS)
    for name, groups in sums.bars.items():
        for group, numbers in groups.items():
            every = [receipt["histograms"].get(name, {}).get(group, []) for receipt in several]
            added = [sum(column) for column in itertools.zip_longest(*every, fillvalue=0)]
            assert numbers == added[: len(numbers)]
            assert numbers[-1]
            assert not any(added[len(numbers) :])
    shapes = [receipt["tag_shapes"] for receipt in several]
    assert sums.tag_shapes.total() == sum(sum(each.values()) for each in shapes)


@given(st.lists(receipts(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_parts_in_any_order_add_up_to_the_whole(several, random):
    several = numbered(several)
    whole = sum_receipts(several, UNITS, {4: {"rows": 2}})
    parts = [sum_receipts([receipt], UNITS) for receipt in several]
    parts.append(sum_receipts([], UNITS, {4: {"rows": 2}}))
    random.shuffle(parts)
    half = len(parts) // 2
    halves = [add_sums(part) for part in (parts[:half], parts[half:]) if part]
    assert plain(add_sums(halves)) == plain(whole)
    assert whole.rows == sum(receipt["rows"] for receipt in several)
    assert whole.reasons.total() == int(whole.units[:, 1].sum())


@given(receipts())
def test_packed_counts_add_up_to_the_same_as_lists(receipt):
    (listed,) = numbered([receipt])
    packed = copy.deepcopy(listed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit_counts, "PACKED", 0)
        packed["units"] = unit_counts.pack_units(listed["units"])
        packed["unit_reasons"] = unit_counts.pack_reasons(listed["unit_reasons"])
    assert not listed["units"] or "zstd" in packed["units"]
    assert plain(sum_receipts([packed], UNITS)) == plain(sum_receipts([listed], UNITS))


def test_a_shard_with_rows_of_few_units_lists_them():
    few = [[unit, 1, 0] for unit in range(unit_counts.PACKED)]
    assert unit_counts.pack_units(few) == few
    many = [*few, [unit_counts.PACKED, 2, 3]]
    packed = unit_counts.pack_units(many)
    assert unit_counts.unpack_units(packed).tolist() == many
    assert len(packed["zstd"]) < len(many)


DAMAGED = [
    [[0, 1]],
    [[0, 1, -1]],
    [[0, 1, True]],
    [[0, 1, "2"]],
    {"entries": 2},
    {"entries": 2, "zstd": "AAAA"},
    {"entries": 9, "zstd": unit_counts._pack([[0, 1, 2], [1, 1, 2]])["zstd"]},
    unit_counts._pack([[0, -1, 2]]),
    *({**unit_counts._pack([[0, 1, 2]]), "entries": entries} for entries in (-1, 1 << 40, 1 << 70)),
    [[0, 1, 1 << 63]],
    [[0, 1, -(1 << 70)]],
    None,
]


@pytest.mark.parametrize("value", DAMAGED)
def test_damaged_counts_are_refused(value):
    with pytest.raises(WorkerError):
        unit_counts.unpack_units(value)


def test_rows_of_a_unit_that_is_not_in_the_plan_are_refused():
    receipt = {"shard": 7, "rows": 1, "kept": 1, "kept_by_corpus": {}, "counts": {}, "files": []}
    receipt |= {"rejected": [], "units": [[UNITS, 1, 0]], "unit_reasons": [[0, "too_long", 0]]}
    with pytest.raises(WorkerError, match=f"shard 7 counts rows of unit {UNITS}"):
        sum_receipts([receipt], UNITS)


def test_many_units_take_a_few_bytes_each():
    generator = np.random.default_rng(1)
    rows = generator.poisson(4.3, 15_259).tolist()
    packed = unit_counts.pack_units([[unit, kept, 0] for unit, kept in enumerate(rows)])
    assert len(packed["zstd"]) < 15_259
    actual = unit_counts.unpack_units(packed)
    assert actual[:, 1].tolist() == rows
    assert all(one < other for one, other in itertools.pairwise(actual[:, 0].tolist()))
