"""Rows of a night on their way from shards to files, sorted into buckets on the local disk.

A shard contains some of the ids of all input files, but a table's file contains the pairs of a few
input files, so that withdrawing one rewrites little. To change from one order to the other with the
memory of one bucket, the rows of each shard are sorted by bucket, written to an Arrow file and read
by memory map.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from pairweave.transforms.storage import named_errors


class Spill:
    """Rows by bucket."""

    def __init__(self, directory: Path, buckets: int) -> None:
        """Set an existing local directory, and the number of buckets."""
        self._directory, self._buckets = directory, buckets
        self._parts: list[tuple[pa.Table, np.ndarray]] = []

    def add(self, rows: pa.Table, buckets: np.ndarray) -> None:
        """Add rows of one shard.

        Args:
            rows: The rows.
            buckets: The bucket of each row, ``[row]``.
        """
        if not rows.num_rows:
            return
        order = np.argsort(buckets, kind="stable")
        bounds = np.searchsorted(buckets[order], np.arange(self._buckets + 1))
        path = self._directory / f"{len(self._parts)}.arrow"
        with (
            named_errors.naming(str(path)),
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_file(file, rows.schema) as writer,
        ):
            writer.write_table(rows.take(pa.array(order)).combine_chunks())
        mapped = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        self._parts.append((mapped, bounds))

    def bucket(self, number: int, most_rows: int) -> Iterator[pa.Table]:
        """Yield the rows of a bucket, in the order of the shards, in tables of about this size."""
        held: list[pa.Table] = []
        rows = 0
        for table, bounds in self._parts:
            start, stop = int(bounds[number]), int(bounds[number + 1])
            if start == stop:
                continue
            held.append(table.slice(start, stop - start))
            rows += stop - start
            if rows >= most_rows:
                yield pa.concat_tables(held)
                held, rows = [], 0
        if held:
            yield pa.concat_tables(held)
