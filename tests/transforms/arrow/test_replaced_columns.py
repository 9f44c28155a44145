import pyarrow as pa

from pairweave.transforms.arrow.replaced_columns import replaced

SCHEMA = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("score", pa.float32())])


def test_another_column_takes_the_place_and_the_field_of_one():
    rows = pa.table({"id": ["a", "b"], "score": [1.0, 2.0]}, schema=SCHEMA)
    ids = pa.array(["c", "d"])
    for given in (rows, rows.to_batches()[0]):
        made = replaced(given, "id", ids)
        assert type(made) is type(given)
        assert made.schema == SCHEMA
        assert made.column("id").to_pylist() == ["c", "d"]
        assert made.column("score").to_pylist() == [1.0, 2.0]
