"""The word links of a pair, added to each of its tagged rows."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import fields_of, list_column

COLUMN = "word_links"


def with_links(rows: pa.Table, pairs: pa.Table) -> pa.Table:
    """Append the column `COLUMN`: linked ranges of code points of the untagged texts.

    Args:
        rows: TAGGED rows.
        pairs: Their pairs with tokens and links (`transforms.schemas.PHRASES`).
    """
    offsets, links = fields_of(pairs.column("links"))
    pair = np.repeat(np.arange(len(pairs)), np.diff(offsets))
    inside = slice(offsets[0], offsets[-1])
    fields = {}
    for side in ("source", "target"):
        starts, tokens = fields_of(pairs.column(f"{side}_tokens"))
        token = starts[pair] + links[side][inside]
        fields[f"{side}_start"] = tokens["start"][token]
        fields[f"{side}_end"] = tokens["end"][token]
    field = schemas.WORD_LINKS
    column = list_column(offsets - offsets[0], fields, field.type)
    place = pc.index_in(rows.column("id"), pairs.column("id").combine_chunks())
    return rows.append_column(field, column.take(place))
