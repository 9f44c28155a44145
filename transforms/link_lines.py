"""Links back in input order: one Pharaoh line for each line that was read."""

import io
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from transforms import files
from transforms.pharaoh import format_links
from transforms.rejects import Reject
from transforms.write import REJECTS, shard_name

_PLACE = ["corpus", "file", "line"]


def collect_lines(output: str, shards: int, order: Sequence[tuple[str, str]]) -> bytes:
    """Return the links of each input line, in input order, as Pharaoh text.

    A duplicate has the links of the pair it repeats; any other rejected pair has an empty line.

    Args:
        output: The directory of a finished ``align`` run.
        shards: Its number of shards.
        order: Corpus and file of the inputs, in their order.
    """
    places: list[pa.Table] = []
    for shard in range(shards):
        places.extend(_shard_lines(output, shard_name(shard, shards)))
    lines = pa.concat_tables(places)
    ranks = {place: rank for rank, place in enumerate(order)}
    rank = np.array(
        [
            ranks[place]
            for place in zip(
                lines.column("corpus").to_pylist(), lines.column("file").to_pylist(), strict=True
            )
        ],
        dtype=np.int64,
    )
    indices = np.lexsort((lines.column("line").to_numpy(), rank))
    text = lines.column("links").take(pa.array(indices)).to_pylist()
    return "".join(f"{links}\n" for links in text).encode()


def _shard_lines(output: str, name: str) -> tuple[pa.Table, pa.Table]:
    """Return the lines of a shard's pairs and of its rejects: corpus, file, line, links."""
    kept = _read(files.join(output, name), ["id", *_PLACE, "links"])
    rejected = _read(files.join(output, REJECTS, name), ["id", *_PLACE, "reason"])
    texts = format_links(kept.column("links"))
    kept_lines = kept.select(_PLACE).append_column("links", texts)
    repeats = pa.compute.equal(rejected.column("reason"), str(Reject.DUPLICATE))
    original = pa.compute.index_in(rejected.column("id"), value_set=kept.column("id"))
    links = pa.compute.if_else(repeats, texts.take(original), "")
    return kept_lines, rejected.select(_PLACE).append_column(
        "links", pa.compute.fill_null(links, "")
    )


def _read(path: str, columns: list[str]) -> pa.Table:
    return pq.read_table(io.BytesIO(files.read_bytes(path)), columns=columns)
