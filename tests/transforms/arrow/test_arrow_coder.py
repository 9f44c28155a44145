"""Arrow tables between Beam steps: complete, small, and never pickled."""

import copyreg
import pickle
from collections.abc import Iterable

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.arrow import arrow_coder
from pairweave.transforms.arrow.arrow_coder import BatchCoder, TableCoder

names = st.sampled_from(["a.txt", "b.txt", "ü"])
rows = st.fixed_dictionaries(
    {
        "file": st.none() | names,
        "line": st.integers(-(2**63), 2**63 - 1),
        "source": st.none() | st.text(max_size=5),
        "links": st.lists(st.fixed_dictionaries({"source": st.integers(0, 9)}), max_size=3),
    }
)
SCHEMA = pa.schema(
    [
        pa.field("file", pa.dictionary(pa.int32(), pa.string())),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("source", pa.string()),
        pa.field("links", pa.list_(pa.struct([pa.field("source", pa.int16())]))),
    ],
    metadata={b"signature": b"v:1"},
)


def batch_of(values: list[dict[str, object]]) -> pa.RecordBatch:
    """Build a batch whose dictionary has exactly the names in it."""
    return pa.RecordBatch.from_pylist(values, schema=SCHEMA)


@given(chunks=st.lists(st.lists(rows, max_size=6), max_size=3))
def test_a_table_comes_back_with_its_chunks_dictionaries_and_metadata(chunks):
    table = pa.Table.from_batches([batch_of(chunk) for chunk in chunks], schema=SCHEMA)
    back = TableCoder().decode(TableCoder().encode(table))
    back.validate(full=True)
    assert back.to_pylist() == table.to_pylist()
    assert back.schema.equals(SCHEMA, check_metadata=True)


@given(values=st.lists(rows, min_size=1, max_size=8), data=st.data())
def test_a_slice_of_a_batch_comes_back(values, data):
    start = data.draw(st.integers(0, len(values)))
    part = batch_of(values).slice(start, data.draw(st.integers(0, len(values))))
    back = BatchCoder().decode(BatchCoder().encode(part))
    back.validate(full=True)
    assert back.equals(part)


@pytest.mark.parametrize("coder", [TableCoder(), BatchCoder()], ids=["table", "batch"])
def test_a_slice_does_not_carry_its_parent(coder):
    parent = batch_of(
        [
            {"file": "a", "line": n, "source": "x" * 100, "links": [{"source": 1}]}
            for n in range(9999)
        ]
    )
    whole = pa.Table.from_batches([parent]) if isinstance(coder, TableCoder) else parent
    part = whole.slice(5000, 10)
    assert len(pickle.dumps(part)) > 1_000_000  # what happens without the coder
    assert len(coder.encode(part)) < 5_000


def test_decoding_copies_nothing():
    encoded = TableCoder().encode(pa.table({"a": list(range(1000))}))
    start = pa.py_buffer(encoded).address
    data = TableCoder().decode(encoded).column("a").chunk(0).buffers()[1]
    assert start <= data.address < start + len(encoded)


def test_chunks_with_different_dictionaries_come_back():
    parts = [pa.table({"a": pa.array([text]).dictionary_encode()}) for text in ("one", "two")]
    table = pa.concat_tables(parts)
    assert TableCoder().decode(TableCoder().encode(table)).equals(table)


def test_tables_are_no_keys():
    assert not TableCoder().is_deterministic()
    assert not BatchCoder().is_deterministic()


def cut(number: int) -> tuple[int, pa.Table]:
    return number % 2, pa.table({"n": [number, number + 10, number + 20]}).slice(0, 2)


def to_batch(element: tuple[int, pa.Table]) -> pa.RecordBatch:
    return element[1].to_batches()[0]


def add(element: tuple[int, Iterable[pa.Table]]) -> tuple[int, int]:
    return element[0], sum(sum(part["n"].to_pylist()) for part in element[1])


def refuse(table: pa.Table) -> tuple[object, ...]:
    raise AssertionError(f"a {type(table).__name__} was pickled")


def test_annotated_steps_pass_tables_through_a_shuffle_without_pickling(monkeypatch):
    arrow_coder.register()
    for kind in (pa.Table, pa.RecordBatch):
        monkeypatch.setitem(copyreg.dispatch_table, kind, refuse)
        with pytest.raises(AssertionError):
            pickle.dumps(cut(1)[1] if kind is pa.Table else to_batch(cut(1)))
    options = PipelineOptions(
        ["--runner=pairweave.pipelines.engines.local.local_runner.LocalRunner"]
    )
    with beam.Pipeline(options=options) as pipeline:
        parts = pipeline | beam.Create([1, 2, 3]) | beam.Map(cut)
        sums = parts | beam.GroupByKey() | beam.Map(add)
        assert_that(sums, equal_to([(0, 14), (1, 28)]), "sums")
        batches = parts | beam.Map(to_batch) | beam.Reshuffle() | beam.Map(len)
        assert_that(batches, equal_to([2, 2, 2]), "batches")


def test_a_step_without_an_annotation_would_pickle(monkeypatch):
    """The test above can fail."""
    monkeypatch.setitem(copyreg.dispatch_table, pa.Table, refuse)
    pipeline = beam.Pipeline(
        options=PipelineOptions(
            ["--runner=pairweave.pipelines.engines.local.local_runner.LocalRunner"]
        )
    )
    untyped = pipeline | beam.Create([1]) | beam.Map(lambda number: cut(number))
    _ = untyped | beam.GroupByKey() | beam.Map(len)
    with pytest.raises(AssertionError, match="was pickled"):
        pipeline.run().wait_until_finish()
