"""Arrow tables as bytes: IPC streams."""

import pyarrow as pa


def to_stream(table: pa.Table) -> pa.Buffer:
    """Return a table as one IPC stream: its schema, then its chunks as they are.

    Chunks, dictionaries (also those that differ from chunk to chunk) and schema metadata survive.
    A slice carries only its own rows.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def from_stream(stream: bytes | pa.Buffer) -> pa.Table:
    """Return the table of a stream; its buffers are the stream's bytes, not copies."""
    with pa.ipc.open_stream(stream) as reader:
        return reader.read_all()
