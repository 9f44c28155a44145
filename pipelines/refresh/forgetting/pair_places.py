"""The places of a table's pairs in the input: its provenance, read one file at a time.

Provenance may be too large for memory as text, so only ids (16 bytes each) and the few requested
rows are kept.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.table_names import PROVENANCE, Entry
from pairweave.transforms.known_pairs import IdSet

PLACE_ROWS = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("corpus", pa.string()),
        pa.field("content", pa.string()),
        pa.field("line", pa.int64()),
    ]
)
"""The columns of a place that are needed to withdraw a file."""


@dataclasses.dataclass(frozen=True)
class Places:
    """The places of a table's pairs.

    Attributes:
        table: Directory of all tables.
        entries: Files of provenance.
    """

    table: str
    entries: Sequence[Entry]

    def parts(self, columns: Sequence[str] = tuple(PLACE_ROWS.names)) -> Iterator[pa.Table]:
        """Yield the places of each file."""
        schema = pa.schema([PLACE_ROWS.field(name) for name in columns])
        for entry in self.entries:
            rows = tables.read_rows(self.table, PROVENANCE, entry, columns)
            yield rows.replace_schema_metadata().cast(schema)

    def ids(self) -> IdSet:
        """Return the ids of all pairs."""
        return IdSet.of_all(rows.column("id") for rows in self.parts(["id"]))

    def ids_where(self, wanted: Callable[[pa.Table], np.ndarray]) -> IdSet:
        """Return the ids of the places that ``wanted`` selects from each file, bool ``[place]``."""
        parts = (rows.filter(pa.array(wanted(rows))) for rows in self.parts())
        return IdSet.of_all(rows.column("id") for rows in parts)

    def rows_where(self, wanted: Callable[[pa.Table], np.ndarray]) -> pa.Table:
        """Return the places that ``wanted`` selects from each file, bool ``[place]``."""
        parts = (rows.filter(pa.array(wanted(rows))) for rows in self.parts())
        return pa.concat_tables([PLACE_ROWS.empty_table(), *parts])
