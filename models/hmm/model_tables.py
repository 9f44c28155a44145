"""Tables of a fitted aligner as Arrow IPC files."""

import pyarrow as pa

from pairweave.transforms.errors import ConfigError


def unpack_table(name: str, data: bytes, schema: pa.Schema) -> pa.Table:
    """Read an Arrow IPC file.

    Args:
        name: The file's name, for errors.
        data: Its bytes.
        schema: The columns that it must have.

    Raises:
        ConfigError: It is damaged, has other columns or has an empty cell.
    """
    try:
        table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise ConfigError(f"{name} is damaged: {error}; fit the model again") from error
    if not table.schema.equals(schema) or any(column.null_count for column in table.columns):
        raise ConfigError(f"{name}: expected columns {schema.names}, found {table.schema}")
    return table
