"""Batches of a row group whose texts differ much in length, and the ranges that they come from."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.formats import parquet
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import Part, ReadLimits
from tests.makers.reading import read_plan, single


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=30))
def test_a_cut_has_as_much_text_as_a_batch_may_or_one_row(sizes):
    lengths = [np.array([row[side] for row in sizes], np.int64) for side in (0, 1)]
    most = 50  # a longer text is not kept, and does not count
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "BATCH_BYTES", 70)
        cuts = list(parquet._cuts(lengths, most))
    assert [start for start, _ in cuts] + [len(sizes)] == [0, *(stop for _, stop in cuts)]
    kept = [sum(size for size in row if size <= most) for row in sizes]
    for start, stop in cuts:
        assert sum(kept[start:stop]) <= 70 or stop == start + 1
        assert stop == len(sizes) or sum(kept[start : stop + 1]) > 70


def test_rows_are_numbered_on_where_a_batch_is_cut(tmp_path, monkeypatch):
    texts = ["a"] * 300 + ["long " * 400] * 20 + ["", "b\x01", "c"]
    table = pa.table({"source": texts, "target": [str(number) for number in range(len(texts))]})
    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=False)
    plan = make_plan([single(tmp_path / "a.parquet")])
    monkeypatch.setattr(parquet, "BATCH_BYTES", 30_000)
    sizes = [batch.num_rows for batch in read_unit(plan.units[0], ReadLimits())]
    assert len(sizes) == 3  # those read at once, and those of the long texts in two parts
    assert sizes[0] > sizes[1] > sizes[2]
    rows = read_plan(plan)
    assert [row["line"] for row in rows] == list(range(1, len(texts) + 1))
    assert [row["target"] for row in rows] == [str(number) for number in range(len(texts))]
    assert [row["line"] for row in rows if row["reason"]] == [322]


@pytest.fixture
def fetched(tmp_path):
    data = bytes(range(100))
    (tmp_path / "data").write_bytes(data)
    ranges = ((10, 30), (50, 100))
    part = Part("data", str(tmp_path / "data"), "none", ranges, "")
    return parquet._FetchedFile(part, [data[start:stop] for start, stop in ranges])


@pytest.mark.parametrize(
    ("start", "size"), [(10, 20), (12, 3), (25, 10), (0, 5), (35, 5), (60, -1), (95, 50), (100, 1)]
)
def test_bytes_outside_the_fetched_ranges_are_read_from_the_file(fetched, start, size):
    stop = 100 if size < 0 else min(start + size, 100)
    assert fetched.seek(start) == start
    assert fetched.read(size) == bytes(range(start, stop))
    assert fetched.tell() == stop


def test_a_fetched_file_is_sought_from_its_start_its_end_and_where_it_is(fetched):
    assert fetched.seek(-40, io.SEEK_END) == 60
    assert fetched.seek(-10, io.SEEK_CUR) == 50
    assert fetched.read() == bytes(range(50, 100))
