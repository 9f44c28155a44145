import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.ids import halves, pair_keys
from pairweave.transforms.links.aligner_agreement import Agreement
from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.shards import merge as merging
from pairweave.transforms.shards import shuffle
from pairweave.transforms.shards.merge import pairs_of
from pairweave.transforms.shards.sample import gather_sample, sample_rows, sample_share, why_empty
from pairweave.transforms.shards.shard import Notes, Shard, ShardCoder
from tests.makers.rows import batch, row

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
    return merging.merge_rows([pa.Table.from_batches([part]) for part in batches])


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


def test_ids_that_differ_in_one_half_are_no_duplicates():
    one, two = "1" * 16, "2" * 16
    rows = [row("s", "t", id=half + other) for half in (one, two) for other in (one, two)]
    kept, rejected = merge(rows)
    assert kept.column("id").to_pylist() == [one + one, one + two, two + one, two + two]
    assert rejected.num_rows == 0


def test_each_duplicate_names_its_own_row_in_whichever_part_it_is():
    rows = [row(text, "t", line=line) for line, text in enumerate("ababcbac", 1)]
    kept, rejected = merge(rows, sizes=(1,))
    assert sorted(kept.column("line").to_pylist()) == [1, 2, 5]
    first = {"a": 1, "b": 2, "c": 5}
    found = {(r["line"], r["source"], r["detail"]) for r in rejected.to_pylist()}
    assert found == {
        (line, text, f"of c f line {first[text]}")
        for line, text in ((3, "a"), (4, "b"), (6, "b"), (7, "a"), (8, "c"))
    }


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
    rejected_ids = rejected.column("id").to_pylist()
    assert rejected_ids == sorted(rejected_ids, key=lambda one: (one is None, one))
    expected = {r["id"] for r in rows if r["reason"] is None}
    assert set(ids) == expected


@given(some_rows, st.randoms(use_true_random=False), st.integers(1, 9))
def test_the_order_and_size_of_parts_change_nothing(rows, random, size):
    # Rows equal in id and place cannot be told apart, so they are not generated twice.
    unique = list({(r["id"], r["corpus"], r["file"], r["line"]): r for r in rows}.values())
    expected = merge(unique)
    shuffled = list(unique)
    random.shuffle(shuffled)
    actual = merge(shuffled, (size,))
    assert [t.to_pylist() for t in actual] == [t.to_pylist() for t in expected]


@given(some_rows, st.integers(1, 7))
def test_splitting_keeps_every_row_and_shards_are_ranges_of_ids(rows, count):
    parts = list(shuffle.split_rows([batch(*rows)], count, None)) if rows else []
    assert sum(part.num_rows for _, part in parts) == len(rows)
    actual = [
        (shard, pair_id)
        for shard, part in parts
        for pair_id in part.column("id").to_pylist()
        if pair_id is not None
    ]
    assert [pair_id for _, pair_id in sorted(actual)] == sorted(pair_id for _, pair_id in actual)
    assert all(0 <= shard < count for shard, _ in parts)


def test_only_wanted_shards_are_split_off():
    rows = [row(str(i), str(i), line=i) for i in range(50)]
    parts = dict(shuffle.split_rows([batch(*rows)], 4, frozenset({2})))
    assert set(parts) == {2}


def test_an_id_is_read_as_two_numbers():
    high, low = halves(pa.array(["0123456789abcdef" + "fedcba9876543210", "f" * 32]))
    assert high.tolist() == [0x0123456789ABCDEF, 2**64 - 1]
    assert low.tolist() == [0xFEDCBA9876543210, 2**64 - 1]
    sliced = pa.array(["0" * 32, "0" * 31 + "7"])[1:]
    assert pair_keys(sliced).tolist() == [7]


def some(count):
    """Return a merged shard; of its rows every third was rejected before."""
    reasons = [None, None, "too_long"]
    return merge([row(f"s{n}", "t", line=n, reason=reasons[n % 3]) for n in range(1, count + 1)])


def test_late_rejects_move_from_kept_to_rejected_in_order():
    kept, rejected = some(30)
    marks = np.arange(kept.num_rows) % 2 == 0
    shard = Shard(0, kept, rejected, kept).reject(marks, Stage.TAG, Reject.NO_PHRASE_PAIR)
    left, moved = shard.kept, shard.rejected
    assert left.equals(kept.filter(pa.array(~marks)))
    assert moved.schema.equals(schemas.ROWS)
    ids = moved.column("id").to_pylist()
    assert ids == sorted(
        {*rejected["id"].to_pylist(), *kept["id"].to_pylist()} - {*left["id"].to_pylist()}
    )
    assert moved.column("reason").to_pylist() != sorted(moved.column("reason").to_pylist())
    reasons = dict(zip(ids, moved["reason"].to_pylist(), strict=True))
    assert all(reasons[one] == "too_long" for one in rejected["id"].to_pylist())
    assert list(reasons.values()).count("no_phrase_pair") == marks.sum()


def test_pairs_that_an_aligner_gives_up_are_rejected_each_for_its_own_reason():
    kept, rejected = some(12)
    wanted = {
        0: ("too_long_for_encoder", "a"),
        3: ("aligner_failed", "b"),
        5: ("too_long_for_encoder", "c"),
    }
    shard = Shard(0, kept, rejected, kept).give_up(wanted)
    left, moved = shard.kept, shard.rejected
    assert left.num_rows == kept.num_rows - 3
    actual = {one["id"]: (one["stage"], one["reason"], one["detail"]) for one in moved.to_pylist()}
    ids = kept["id"].to_pylist()
    for at, (reason, detail) in wanted.items():
        assert actual[ids[at]] == ("align", reason, detail)
    assert len(actual) == rejected.num_rows + 3
    assert list(actual) == sorted(actual)


def test_a_bundle_that_failed_leaves_no_row_to_the_next():
    splitter = shuffle.SplitRows(1, frozenset({0}))
    splitter.start_bundle()
    assert list(splitter.process(batch(row("a", "b")))) == []
    splitter.start_bundle()  # the first bundle failed and comes again
    assert list(splitter.process(batch(row("a", "b")))) == []
    ((_, rows),) = [windowed.value for windowed in splitter.finish_bundle()]
    assert rows.num_rows == 1
    assert list(splitter.finish_bundle()) == []


def test_a_smaller_sample_lies_inside_a_larger_one():
    rows = batch(*[row(str(i), str(i), line=i) for i in range(500)])
    ids = {}
    for share in (0.05, 0.3, 1.0):
        parts = [table for _, table in sample_rows(rows, share, 1)]
        ids[share] = set(gather_sample(parts).column("id").to_pylist())
    assert ids[0.05] < ids[0.3] < ids[1.0]
    assert len(ids[1.0]) == 500
    assert len(ids[0.3]) == pytest.approx(150, abs=45)


def test_a_sample_is_of_all_rows_or_of_about_as_many_as_are_wanted():
    assert sample_share(10, 40) == sample_share(40, 40) == 1.0
    assert sample_share(80, 40) == 0.5


def test_a_shard_survives_its_coder():
    kept, rejected = some(12)
    for notes in (Notes(), Notes("ff"), Notes("ff", Agreement(4, 6, 3), {"tags": 5})):
        shard = Shard(7, kept, rejected, pairs_of(kept), notes)
        coder = beam.coders.registry.get_coder(Shard)
        assert isinstance(coder, ShardCoder)
        assert coder.decode(coder.encode(shard)) == shard


def test_notes_stay_when_rows_leave():
    kept, rejected = some(12)
    shard = Shard(0, kept, rejected, kept).with_notes(model="ff")
    noted = shard.with_notes(agreement=Agreement(4, 6, 3))
    marks = np.arange(kept.num_rows) == 1
    left = noted.reject(marks, Stage.TAG, Reject.NO_PHRASE_PAIR).with_pairs()
    assert left.notes == Notes("ff", Agreement(4, 6, 3))
    assert left.table.num_rows == kept.num_rows - 1


def test_rows_are_rejected_each_for_its_own_reason():
    table = pa.Table.from_batches(
        [batch(*(row(text, "t", line=n) for n, text in enumerate("abcd")))]
    )
    kept, _ = merging.merge_rows([table])
    lines = kept.column("line").to_numpy()
    shard = Shard(0, kept, kept[:0], pairs_of(kept)).reject_each(
        [
            (Stage.FILTER, Reject.FILTERED, lines == 1, ["one"]),
            (Stage.FILTER, Reject.LOW_SCORE, (lines == 0) | (lines == 3), ["two", "three"]),
        ]
    )
    assert set(shard.kept.column("line").to_pylist()) == {2}
    found = {each["line"]: each["reason"] for each in shard.rejected.to_pylist()}
    assert found == {1: "filtered", 0: "low_score", 3: "low_score"}


def test_a_sample_without_pairs_says_why_by_its_most_frequent_reason():
    rows = [
        row("a", "t", line=9, reason="empty", detail="no"),
        row("b", "t", line=7, reason="too_long", detail="8 tokens"),
        row("c", "t", line=2, reason="too_long", markup="{}"),
        row("d", "t", line=1, reason="identical"),
    ]
    ((key, part),) = sample_rows(batch(*rows), 1.0, 1)
    assert key == 0
    assert {name: part.column(name).null_count for name in ("source", "target", "markup")} == {
        "source": 4,
        "target": 4,
        "markup": 4,
    }
    assert why_empty([part]) == "most often rejected as too_long, as at f line 2"
    assert why_empty([part.filter(pa.compute.equal(part["line"], 7))]).endswith("line 7: 8 tokens")
    assert why_empty([part[:0]]) == ""


def test_an_empty_batch_gives_a_sample_without_rows():
    ((_, part),) = sample_rows(batch(), 0.5, 1)
    assert part.num_rows == 0
    assert gather_sample([part]).num_rows == gather_sample([]).num_rows == 0
