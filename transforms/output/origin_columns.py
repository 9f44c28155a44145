"""The place where the pair of a row was first read, as the last columns of the output rows."""

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import schemas

COLUMNS = ("file", "line")


def with_origin(rows: pa.Table, pairs: pa.Table) -> pa.Table:
    """Append `COLUMNS` to a shard's rows.

    Args:
        rows: Rows with the id of the pair that each is made from.
        pairs: The kept pairs of the shard.
    """
    place = pc.index_in(rows.column("id"), pairs.column("id").combine_chunks())
    for name in COLUMNS:
        field = schemas.PAIRS.field(name)
        rows = rows.append_column(field, pairs.column(name).cast(field.type).take(place))
    return rows
