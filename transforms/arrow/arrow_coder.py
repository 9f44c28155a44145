"""Coders that pass Arrow tables between Beam steps as Arrow IPC streams, never pickled.

Importing this module registers the coders. Beam then picks them by the annotation of a step's
function (``-> tuple[int, pa.Table]``). A step without an annotation falls back to pickle, which
stores a slice with its whole parent; a slice encoded here holds only its own rows. Workers that
share files (`transforms.arrow.exchange`) send the place of a large table instead of the table.
"""

import apache_beam as beam
import pyarrow as pa
from apache_beam.coders import Coder

from pairweave.transforms.arrow import exchange


def to_stream(table: pa.Table) -> pa.Buffer:
    """Return a table as one IPC stream: its schema, then its chunks as they are.

    Chunks, dictionaries (even those that differ from chunk to chunk) and schema metadata survive. A
    slice carries only its own rows.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def from_stream(stream: bytes | pa.Buffer) -> pa.Table:
    """Return the table of a stream; its buffers are the stream's bytes, not copies."""
    with pa.ipc.open_stream(stream) as reader:
        return reader.read_all()


class TableCoder(Coder):
    """Encode a table as one IPC stream; decoding is zero-copy: the buffers are the bytes."""

    def encode(self, value: pa.Table) -> bytes:
        """Return the table as bytes, or as the place where other workers find a large one."""
        stream = to_stream(value)
        large = stream.size >= exchange.MIN_BYTES
        place = exchange.leave(memoryview(stream)) if large else None
        return place or stream.to_pybytes()

    def decode(self, encoded: bytes) -> pa.Table:
        """Return the table in the bytes, or at the place that they name."""
        is_place = encoded.startswith(exchange.MARK)
        return from_stream(exchange.fetch(encoded) if is_place else encoded)

    def is_deterministic(self) -> bool:
        """Return False: equal tables may differ in chunks, so a table cannot be a key."""
        return False

    def to_type_hint(self) -> type:
        """Return the type that this coder encodes."""
        return pa.Table

    def estimate_size(self, value: pa.Table) -> int:
        """Return the bytes of the rows, without encoding them."""
        return value.nbytes

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class BatchCoder(Coder):
    """Encode a record batch as one IPC stream with one batch in it; decoding is zero-copy."""

    def encode(self, value: pa.RecordBatch) -> bytes:
        """Return the batch as bytes."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, value.schema) as writer:
            writer.write_batch(value)
        return sink.getvalue().to_pybytes()

    def decode(self, encoded: bytes) -> pa.RecordBatch:
        """Return the batch in the bytes."""
        with pa.ipc.open_stream(encoded) as reader:
            return reader.read_next_batch()

    def is_deterministic(self) -> bool:
        """Return False: equal batches may differ in dictionaries, so a batch cannot be a key."""
        return False

    def to_type_hint(self) -> type:
        """Return the type that this coder encodes."""
        return pa.RecordBatch

    def estimate_size(self, value: pa.RecordBatch) -> int:
        """Return the bytes of the rows, without encoding them."""
        return value.nbytes

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def register() -> None:
    """Make both coders Beam's choice for their types; further calls change nothing."""
    beam.coders.registry.register_coder(pa.Table, TableCoder)
    beam.coders.registry.register_coder(pa.RecordBatch, BatchCoder)


register()
