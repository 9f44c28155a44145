import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import batch, row
from transforms import schemas, shards
from transforms.ids import halves, pair_keys
from transforms.rejects import Reject, Stage
from transforms.sample import gather_sample, sample_rows

texts = st.text(st.characters(codec="utf-8"), max_size=4)
some_rows = st.lists(
    st.builds(
        row,
        st.one_of(st.none(), texts),
        texts,
        corpus=st.sampled_from(["a", "b"]),
        file=st.sampled_from(["x", "y", "z"]),
        line=st.integers(1, 9),
        unit=st.integers(0, 3),
        reason=st.sampled_from([None, None, "too_long"]),
    ).map(
        lambda made: {
            **made,
            "reason": made["reason"] or (made["id"] is None and "invalid_utf8") or None,
        }
    ),
    max_size=30,
)


def merge(rows, sizes=(7,)):
    batches = [batch(*rows[i : i + sizes[0]]) for i in range(0, len(rows), sizes[0])]
    return shards.merge_rows([pa.Table.from_batches([part]) for part in batches])


def test_of_duplicates_the_first_by_place_stays():
    rows = [
        row("s", "t", corpus="b", file="a", line=1),
        row("s", "t", corpus="a", file="b", line=9),
        row("s", "t", corpus="a", file="b", line=2),
    ]
    kept, rejected = merge(rows)
    assert [(r["corpus"], r["line"]) for r in kept.to_pylist()] == [("a", 2)]
    assert [r["reason"] for r in rejected.to_pylist()] == ["duplicate", "duplicate"]
    assert {r["detail"] for r in rejected.to_pylist()} == {"of a b line 2"}


def test_a_rejected_row_does_not_make_its_copy_a_duplicate():
    kept, rejected = merge([row("s", "t", line=1, reason="too_long"), row("s", "t", line=2)])
    assert kept.column("line").to_pylist() == [2]
    assert rejected.column("reason").to_pylist() == ["too_long"]


@given(some_rows)
def test_every_row_is_kept_or_rejected_and_every_id_once(rows):
    kept, rejected = merge(rows)
    assert kept.num_rows + rejected.num_rows == len(rows)
    ids = kept.column("id").to_pylist()
    assert ids == sorted(set(ids))
    assert None not in rejected.column("reason").to_pylist()
    expected = {r["id"] for r in rows if r["reason"] is None}
    assert set(ids) == expected


@given(some_rows, st.randoms(use_true_random=False), st.integers(1, 9))
def test_the_order_and_size_of_parts_change_nothing(rows, random, size):
    # Rows equal in id and place cannot be told apart, so they are not generated twice.
    unique = list({(r["id"], r["corpus"], r["file"], r["line"]): r for r in rows}.values())
    expected = merge(unique)
    shuffled = list(unique)
    random.shuffle(shuffled)
    found = merge(shuffled, (size,))
    assert [t.to_pylist() for t in found] == [t.to_pylist() for t in expected]


@given(some_rows, st.integers(1, 7))
def test_splitting_keeps_every_row_and_shards_are_ranges_of_ids(rows, count):
    parts = list(shards.split_rows([batch(*rows)], count, None)) if rows else []
    assert sum(part.num_rows for _, part in parts) == len(rows)
    found = [
        (shard, pair_id)
        for shard, part in parts
        for pair_id in part.column("id").to_pylist()
        if pair_id is not None
    ]
    assert [pair_id for _, pair_id in sorted(found)] == sorted(pair_id for _, pair_id in found)
    assert all(0 <= shard < count for shard, _ in parts)


def test_only_wanted_shards_are_split_off():
    rows = [row(str(i), str(i), line=i) for i in range(50)]
    parts = dict(shards.split_rows([batch(*rows)], 4, frozenset({2})))
    assert set(parts) == {2}


def test_an_id_is_read_as_two_numbers():
    high, low = halves(pa.array(["0123456789abcdef" + "fedcba9876543210", "f" * 32]))
    assert high.tolist() == [0x0123456789ABCDEF, 2**64 - 1]
    assert low.tolist() == [0xFEDCBA9876543210, 2**64 - 1]
    sliced = pa.array(["0" * 32, "0" * 31 + "7"])[1:]
    assert pair_keys(sliced).tolist() == [7]


def test_late_rejects_move_from_kept_to_rejected_in_order():
    kept, rejected = merge([row("a", "b", line=1), row("c", "d", line=2)])
    marks = np.array([True, False])
    left, moved = shards.reject(kept, rejected, marks, Stage.TAG, Reject.NO_PHRASE_PAIR)
    assert left.num_rows == 1
    assert moved.schema.equals(schemas.ROWS)
    assert moved.column("reason").to_pylist() == ["no_phrase_pair"]


def test_a_smaller_sample_lies_inside_a_larger_one():
    rows = batch(*[row(str(i), str(i), line=i) for i in range(500)])
    ids = {}
    for share in (0.05, 0.3, 1.0):
        parts = [table for _, table in sample_rows(rows, share, 1)]
        ids[share] = set(gather_sample(parts).column("id").to_pylist())
    assert ids[0.05] < ids[0.3] < ids[1.0]
    assert len(ids[1.0]) == 500
    assert len(ids[0.3]) == pytest.approx(150, abs=45)
