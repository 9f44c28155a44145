"""Every column of an output file says what it means."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.filtering.evidence import EVIDENCE_COLUMNS, LAYER_COLUMN
from pairweave.transforms.filtering.filtered import scored_schema
from pairweave.transforms.output.column_meanings import KEY, MEANINGS, described
from pairweave.transforms.output.write import encode_parquet

WRITTEN = {
    "align": schemas.ALIGNED,
    "augment": schemas.TAGGED_MARKUP.append(schemas.WORD_LINKS),
    "bitext": schemas.NAMED_SENTENCES,
    "suggest": schemas.SUGGESTIONS,
    "filter": scored_schema(EVIDENCE_COLUMNS).append(pa.field("keep", pa.bool_())),
    "rejects": schemas.REJECTS,
}


@pytest.mark.parametrize("job", WRITTEN)
def test_every_column_has_a_meaning(job):
    names = set(WRITTEN[job].names) - {"hits"}  # only within filter
    assert names <= MEANINGS.keys()
    assert all("|" not in MEANINGS[name] and "\n" not in MEANINGS[name] for name in names)


def test_no_meaning_is_of_a_column_that_no_job_writes():
    columns = {name for schema in WRITTEN.values() for name in schema.names}
    assert MEANINGS.keys() - {LAYER_COLUMN, "rule_"} <= columns


def test_a_file_holds_the_meanings_and_the_same_rows():
    table = pa.table({"id": ["a"], "other": [1]})
    data = encode_parquet(table, "signature")
    read = pq.read_table(pa.BufferReader(data))
    assert read.equals(table)
    assert read.schema.field("id").metadata[KEY] == MEANINGS["id"].encode()
    assert KEY not in (read.schema.field("other").metadata or {})
    assert read.schema.metadata[b"pairweave.signature"] == b"signature"
    assert described(table.schema).field("id").type == pa.string()
