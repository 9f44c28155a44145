"""The columns of a table: one schema for the rows of all languages, corpora and nights.

The run of a language, or of a night, may lack a column that others have: kept markup, links, or a
score. Its rows then have nulls there, in every file, so that every reader can read all files under
the table's schema.
"""

from collections.abc import Sequence

import pyarrow as pa

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.inner_notes import open_run, read_shard
from pairweave.pipelines.refresh.chain.table_names import PARTITIONS
from pairweave.transforms.errors import ConfigError

NIGHT = pa.field("night", pa.int32(), nullable=False)

OF_A_PLACE = ("file", "line", "content")
"""Columns that say where a row was read; they are in provenance."""


def main_columns(columns: pa.Schema) -> pa.Schema:
    """Return the columns of a job's table: those of its rows, except where they were read."""
    return pa.schema([*(each for each in columns if each.name not in OF_A_PLACE), NIGHT])


def columns_of_run(directory: str) -> pa.Schema:
    """Return the columns that the rows of a finished run have in a table.

    Raises:
        ConfigError: The run's manifest is damaged, or its first shard is not as it was written.
    """
    run = open_run(directory)
    return main_columns(read_shard(run, run.names[0]).schema.remove_metadata())


def united(of_runs: Sequence[pa.Schema], name: str) -> pa.Schema:
    """Return the columns of several runs; a column that some of them lack may be null.

    Args:
        of_runs: The columns of each run.
        name: The table, for messages.

    Raises:
        ConfigError: A column has two types.
    """
    fields: dict[str, pa.Field] = {}
    for columns in of_runs:
        for field in columns:
            field = field.remove_metadata()
            earlier = fields.setdefault(field.name, field)
            if earlier.type != field.type:
                raise ConfigError(
                    f"{name}: column {field.name} is {earlier.type} for some languages and "
                    f"{field.type} for others; give them tables of their own (another --output)"
                )
            may_lack = earlier.nullable or field.nullable
            fields[field.name] = earlier.with_nullable(may_lack)
    for field in fields.values():
        if any(field.name not in columns.names for columns in of_runs):
            fields[field.name] = field.with_nullable(True)  # noqa: FBT003
    others = [field for field in fields.values() if field.name != NIGHT.name]
    return pa.schema([*others, NIGHT])


def require_columns(of_run: pa.Schema, columns: pa.Schema, languages: str, table: str) -> None:
    """Check that a table has the columns of a run, before its rows are assembled.

    Args:
        of_run: The columns of the run.
        columns: The columns of the table.
        languages: The languages of the run, for messages.
        table: The table, for messages.

    Raises:
        ConfigError: The table lacks a column; says which, and what to do.
    """
    lacking = [name for name in of_run.names if name not in columns.names]
    if lacking:
        raise ConfigError(
            f"the new rows of {languages} have the column {lacking[0]}, which {table} lacks: "
            "a table keeps the columns of its first night. Give --migrate to make all rows anew, "
            "with the column (--plan_only says what that costs), or undo the change that adds it "
            "to the corpora, such as links, scores or kept markup"
        )


def fitted(rows: pa.Table, columns: pa.Schema, name: str) -> pa.Table:
    """Return rows with exactly these columns, in their order.

    Args:
        rows: The rows.
        columns: The columns of the table, or those of them that the rows should have.
        name: The table, for messages.

    Raises:
        ConfigError: The rows have a further column, lack one that must not be null, or have a
            column whose type does not fit.
    """
    unknown = sorted(set(rows.column_names) - set(columns.names))
    if unknown:
        raise ConfigError(
            f"{name} has no column {unknown[0]}, which tonight's rows have; make the table anew "
            "with --migrate"
        )
    return pa.table([_fitted(rows, field, name) for field in columns], schema=columns)


def _fitted(rows: pa.Table, field: pa.Field, name: str) -> pa.Array | pa.ChunkedArray:
    if field.name not in rows.column_names:
        if not field.nullable:
            raise ConfigError(
                f"{name} has the column {field.name}, which tonight's rows lack; make the table "
                "anew with --migrate"
            )
        return pa.nulls(rows.num_rows, field.type)
    try:
        return rows.column(field.name).cast(field.type)
    except pa.ArrowException as error:
        actual = rows.schema.field(field.name).type
        raise ConfigError(
            f"{name}: column {field.name} is {field.type}, and tonight's rows have {actual}; make "
            "the table anew with --migrate"
        ) from error


def at_version(table: str, name: str, version: int | None = None) -> pa.Schema:
    """Return the schema of a version of a table, by default the last."""
    opened = tables.open_version(table, name, version)
    return pa.schema(opened.schema().to_arrow()).remove_metadata()


def in_file(columns: pa.Schema, name: str) -> pa.Schema:
    """Return the columns that a table's files contain; directories give the others."""
    return pa.schema([each for each in columns if each.name not in PARTITIONS[name]])
