import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.shards import merge
from pairweave.transforms.shards.merge import gather
from tests.makers.rows import batch, row

rows = st.lists(st.tuples(st.text(max_size=5), st.none() | st.text(max_size=9)), max_size=12)


def table_of(pairs, chunk=3):
    """Return rows in several chunks."""
    made = [row(*pair, line=number) for number, pair in enumerate(pairs, 1)]
    chunks = [batch(*made[start : start + chunk]) for start in range(0, len(made), chunk)]
    return pa.Table.from_batches(chunks, schemas.ROWS).unify_dictionaries()


@given(rows, st.data(), st.integers(1, 40))
def test_rows_are_gathered_in_order_and_no_chunk_holds_more_than_a_column_can(pairs, data, most):
    table = table_of(pairs)
    order = np.array(data.draw(st.permutations(range(len(pairs)))), dtype=np.int64)
    actual = gather(table, order, most)
    assert actual.to_pylist() == [table.to_pylist()[place] for place in order]
    assert actual.schema.equals(table.schema)
    for chunk in actual.to_batches():
        assert largest(chunk) <= most or chunk.num_rows == 1


def largest(chunk):
    """Return the bytes of the column that holds most."""
    return max(
        sum(len((text or "").encode()) for text in chunk.column(name).to_pylist())
        for name in ("id", "source", "target")
    )


def test_a_chunk_takes_as_many_rows_as_fit():
    table = table_of([("four", "t")] * 5)
    least = largest(table[:1])
    assert largest(table[:2]) == 2 * least
    for most in (2 * least, 2 * least + 1):
        actual = gather(table, np.arange(5), most)
        assert [chunk.num_rows for chunk in actual.to_batches()] == [2, 2, 1]


def test_pairs_that_no_column_can_hold_are_refused_with_a_remedy():
    kept = table_of([("s" * 90, "t"), ("r" * 90, "t")])
    merge.require_room(kept, "shard 3", "lower --shard_pairs", most_bytes=180)
    with pytest.raises(ConfigError, match=r"shard 3: its 2 pairs hold 180 bytes in .* source"):
        merge.require_room(kept, "shard 3", "lower --shard_pairs", most_bytes=179)


@pytest.mark.slow
def test_more_text_than_32_bits_count_is_merged():
    """50,000 rows of one 50 kB text, which a lenient screen lets pass, and as many other rows."""
    text = "word " * 10_000
    part = pa.Table.from_batches([batch(row(text, "t"))]).take([0] * 500)
    place = part.schema.get_field_index("line")
    parts = [
        part.set_column(place, part.schema.field(place), pa.array(range(start, start + 500)))
        for start in range(0, 50_000, 500)
    ]
    assert sum(part.column("source").nbytes for part in parts) > 2**31
    kept, rejected = merge.merge_rows(parts)
    assert (kept.num_rows, rejected.num_rows) == (1, 49_999)
    assert kept.column("source").to_pylist() == [text]
    assert set(rejected.column("reason").to_pylist()) == {"duplicate"}
    assert rejected.column("line").to_pylist() == list(range(1, 50_000))


@pytest.mark.slow
def test_kept_text_over_32_bits_is_gathered_in_several_chunks():
    texts = pa.array([f"{number:05d}" + "w" * 50_000 for number in range(500)])
    table = pa.Table.from_batches([pa.record_batch({"source": texts})] * 100)
    order = np.arange(table.num_rows)[::-1].copy()
    actual = gather(table, order)
    assert actual.column("source").num_chunks == 2
    assert actual.column("source")[0].as_py().startswith("00499")
    assert actual.column("source")[49_999].as_py().startswith("00000")
