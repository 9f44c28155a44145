import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import fields_of, lengths_of, list_column, offsets_of
from pairweave.transforms.errors import WorkerError

SPANS = schemas.SPAN_LIST
COLUMN = pa.array(
    [[{"start": 0, "end": 2}], [], [{"start": 3, "end": 4}, {"start": 5, "end": 9}]], SPANS
)


def test_a_column_becomes_views_and_comes_back():
    offsets, fields = fields_of(COLUMN)
    assert offsets.tolist() == [0, 1, 1, 3]
    assert fields["end"].tolist() == [2, 4, 9]
    assert fields["end"].base is not None
    assert list_column(offsets, fields, SPANS) == COLUMN


def test_a_slice_keeps_its_values_in_place():
    offsets, fields = fields_of(COLUMN[2:])
    assert fields["start"][offsets[0] : offsets[1]].tolist() == [3, 5]
    assert lengths_of(COLUMN[1:]).tolist() == [0, 2]


def test_chunks_are_joined():
    assert lengths_of(pa.chunked_array([COLUMN[1:], COLUMN[:1]])).tolist() == [0, 2, 1]
    assert offsets_of(pa.chunked_array([], SPANS)).tolist() == [0]


def test_null_lists_are_refused():
    with pytest.raises(WorkerError, match="1 of 2 lists are null"):
        offsets_of(pa.array([[], None], SPANS))


def test_more_items_than_offsets_can_count_are_refused():
    with pytest.raises(WorkerError, match="2147483648 items in one shard of 1 pairs"):
        list_column(np.array([0, 2**31]), {}, SPANS)
