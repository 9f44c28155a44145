"""Conversion of pairs from and to the user's types: frames, tables and tuples."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.reading.parquet.parquet_scan import is_text

Pairs: TypeAlias = Any
"""An Arrow table or record batch, a pandas or Polars frame, a data set of ``datasets``, or an
iterable of tuples."""

_TEXTS = ("source", "target", "translation")


def as_table(
    pairs: Pairs,
    columns: Sequence[str],
    *,
    lists: bool = False,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> pa.Table:
    """Return pairs as an Arrow table with string columns.

    Args:
        pairs: The caller's pairs; their index and other columns are left out.
        columns: The columns that are wanted; ``source`` and ``target`` must be there.
        lists: Whether a text may be a list of paragraphs.
        options: The caller's options. Their languages are the keys of a column ``translation``,
            which data sets for translation have in place of a source and a target.

    Raises:
        ConfigError: The pairs have an unknown type, a column is missing, or a value is not text.
    """
    languages = options.get("source_lang"), options.get("target_lang")
    table = _parted(_from_any(pairs, {*columns, *_TEXTS}, lists=lists), languages)
    missing = [name for name in ("source", "target") if name not in table.column_names]
    all_names = pairs.columns if _library(pairs) == "pandas" else table.column_names
    table_names = ", ".join(map(str, all_names)) or "none"
    if missing:
        raise ConfigError(f"pairs have no column {missing[0]}; their columns: {table_names}")
    named = [name for name in table.column_names if name in columns]
    if len(named) > len(set(named)):
        raise ConfigError(f"pairs: two columns have the same name; their columns: {table_names}")
    table = table.select([name for name in columns if name in named])
    for place, name in enumerate(table.column_names):
        if name not in _TEXTS:
            continue
        try:
            column = _texts(table.column(name), lists=lists)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ConfigError(f"pairs: column {name} holds no text: {error}") from error
        table = table.set_column(place, name, column)
    return table


def _texts(column: pa.ChunkedArray, *, lists: bool) -> pa.ChunkedArray:
    """Return a column as strings.

    Raises:
        ArrowInvalid: Its values are not texts. Numbers are refused, as in a Parquet file.
    """
    has_lists = lists and _is_list(column.type)
    kind = column.type.value_type if has_lists else column.type
    if not is_text(kind) and not pa.types.is_null(kind) and column.null_count < len(column):
        raise pa.ArrowInvalid(f"its values are {column.type}")
    if has_lists:
        return pc.binary_join(column.cast(pa.large_list(pa.string())), "\n").cast(pa.string())
    if pa.types.is_dictionary(column.type):  # Polars' has string views, which no kernel accepts
        chunks = [
            pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(pa.string()))
            for chunk in column.chunks
        ]
        column = pa.chunked_array(chunks, pa.dictionary(column.type.index_type, pa.string()))
    return column.cast(pa.string())


def _parted(table: pa.Table, languages: tuple[str | None, str | None]) -> pa.Table:
    """Replace a column that has both texts by language with the columns source and target."""
    if "source" in table.column_names or "translation" not in table.column_names:
        return table
    both = table.column("translation")
    if not pa.types.is_struct(both.type):
        return table
    keys = {both.type.field(number).name for number in range(both.type.num_fields)}
    if not keys.issuperset(languages):
        raise ConfigError(
            f"pairs: column translation has texts in {', '.join(sorted(keys))}; give source_lang "
            "and target_lang, two of these"
        )
    table = table.drop_columns("translation")
    for side, key in zip(("source", "target"), languages, strict=True):
        table = table.append_column(side, pc.struct_field(both, key))
    return table


def _from_any(pairs: Pairs, wanted: Collection[str], *, lists: bool) -> pa.Table:
    if isinstance(pairs, pa.Table):
        return pairs
    if _is_dataset(pairs):
        table: pa.Table = pairs.with_format("arrow")[:]
        return table
    if isinstance(pairs, pa.RecordBatch):
        return pa.Table.from_batches([pairs])
    if hasattr(pairs, "__arrow_c_stream__") or hasattr(pairs, "__dataframe__"):
        return _from_frame(pairs, wanted)
    if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
        frame = "; pandas.DataFrame(pairs) makes one" if isinstance(pairs, Mapping) else ""
        raise ConfigError(
            f"pairs: got {type(pairs).__name__}; give an Arrow table, a pandas or Polars frame, or "
            f"tuples of source and target{frame}"
        )
    rows = [_as_tuple(pair, number) for number, pair in enumerate(pairs)]
    if lists:
        rows = [tuple(map(_joined, row)) for row in rows]
    width = len(rows[0]) if rows else 2
    for number, row in enumerate(rows):
        if len(row) != width or not 2 <= width <= len(_TEXTS):
            raise ConfigError(
                f"pairs: tuple {number} has {len(row)} items; give source and target, or source, "
                "target and translation, in each"
            )
    for number, row in enumerate(rows):
        for name, text in zip(_TEXTS, row, strict=False):
            if text is not None and not isinstance(text, str):
                raise ConfigError(
                    f"pairs: the {name} of tuple {number} is {type(text).__name__}; give text"
                )
    columns = zip(*rows, strict=True) if rows else ((), ())
    try:
        arrays = [pa.array(column, type=pa.string()) for column in columns]
    except UnicodeEncodeError as error:
        raise _not_unicode("tuple", zip(_TEXTS, zip(*rows, strict=True), strict=False)) from error
    return pa.table(dict(zip(_TEXTS[:width], arrays, strict=True)))


def _from_frame(pairs: Pairs, wanted: Collection[str]) -> pa.Table:
    """Return a frame as a table; other columns of pandas need not be valid in Arrow."""
    try:
        names = getattr(pairs, "columns", ()) if _library(pairs) == "pandas" else ()
        if {"source", "translation"} & {*names}:
            pairs = pairs.loc[:, [name in wanted for name in names]]
        return pa.table(pairs)
    except UnicodeEncodeError as error:
        raise _not_unicode("row", pairs.items()) from error
    except (pa.ArrowException, ValueError) as error:
        why = "; ".join(map(str, error.args))
        raise ConfigError(
            f"pairs: this {type(pairs).__name__} is not a table of texts: {why}"
        ) from error


def _not_unicode(what: str, columns: Iterable[tuple[object, Iterable[object]]]) -> ConfigError:
    """Return the error that names the first text that is not valid Unicode.

    Args:
        what: What a row is called.
        columns: The names of the columns and their values; Arrow could not write one of these.
    """
    for name, column in columns:
        for number, text in enumerate(column):
            try:
                if isinstance(text, str):
                    text.encode()
            except UnicodeEncodeError as error:
                return ConfigError(
                    f"pairs: the {name} of {what} {number} is not valid Unicode, it contains half "
                    f"of a surrogate pair (U+{ord(error.object[error.start]):04X}) at character "
                    f"{error.start}; mend it, or leave the {what} out"
                )
    return ConfigError("pairs: a name of a column is not valid Unicode; give another")


def _library(pairs: Pairs) -> str:
    return type(pairs).__module__.partition(".")[0]


def _as_tuple(pair: object, number: int) -> tuple[object, ...]:
    if isinstance(pair, Mapping):
        raise ConfigError(
            f"pairs: item {number} is {type(pair).__name__}; give tuples of source and target, or "
            "pandas.DataFrame(pairs)"
        )
    if isinstance(pair, str | bytes) or not isinstance(pair, Iterable):
        raise ConfigError(
            f"pairs: item {number} is {type(pair).__name__}; give tuples of source and target"
        )
    return tuple(pair)


def _joined(text: object) -> object:
    """Return a list of paragraphs as one text."""
    if isinstance(text, list | tuple) and all(isinstance(part, str) for part in text):
        return "\n".join(text)
    return text


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_dataset(pairs: object) -> bool:
    """Tell whether pairs are a data set of the library ``datasets``, which is not imported here."""
    kind = type(pairs)
    return kind.__module__.startswith("datasets.") and kind.__name__ == "Dataset"


def made_like(pairs: Pairs) -> Callable[[pa.Table], Any]:
    """Return a function that turns an Arrow table into the same kind of table as the pairs.

    Tuples and Arrow tables stay Arrow.
    """
    library = _library(pairs)
    if library == "pandas":
        return lambda table: table.to_pandas()
    if library == "polars":
        return _as_polars
    if _is_dataset(pairs):
        return _as_dataset
    return lambda table: table


def _as_polars(table: pa.Table) -> Any:  # noqa: ANN401
    import polars as pl

    return pl.from_arrow(table)


def _as_dataset(table: pa.Table) -> Any:  # noqa: ANN401
    import datasets

    plain = [
        pa.field(field.name, field.type.value_type)
        if pa.types.is_dictionary(field.type)
        else field.remove_metadata()
        for field in table.schema
    ]
    return datasets.Dataset(table.cast(pa.schema(plain)))
