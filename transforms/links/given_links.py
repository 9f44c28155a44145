"""Links that came with the pairs, used instead of an aligner's links."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import list_column
from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.links.soft_links import SoftLinks
from pairweave.transforms.rejects import Reject
from pairweave.transforms.text.piece_numbers import NO_TOKEN, PieceNumbers, number_cut_sides
from pairweave.transforms.text.tokens import TokenConfig

GivenUp = dict[int, tuple[str, str]]
"""Reason and detail of the pairs whose links cannot be used, by row."""

ReadAttention = Callable[[int, int, int, int], SoftLinks | None]
"""Returns the links of a line (from 0) of a unit, given its numbers of source and target tokens;
None for a unit without attention."""

_SIDES = {"forward": "forward_links", "reverse": "reverse_links"}
_ROW, _SOURCE = 32, 16
"""Bits by which a row and a source token are shifted in a key."""


def link_rows(
    kept: pa.Table,
    table: pa.Table,
    tokens: TokenConfig,
    attention: ReadAttention | None = None,
    wanted: np.ndarray | None = None,
) -> tuple[pa.Table, GivenUp]:
    """Turn TOKENS rows into LINKED rows with their given links, each with probability 1.

    Args:
        kept: The rows as they were read (`transforms.schemas.ROWS`).
        table: The same rows with tokens (`transforms.schemas.TOKENS`).
        tokens: How they were cut. Links number the tokens as their tokenizer does, lone word marks
            included (`transforms.text.piece_numbers`).
        attention: Reads links from attention, for rows that have some.
        wanted: The rows whose links are read, bool ``[row]``; all by default. Other rows get no
            links.

    Returns:
        The LINKED rows, in the same order and without those given up; and the reason and detail of
        each row given up, by row of ``table``.

    Raises:
        WorkerError: The tables are not of the same rows.
    """
    schemas.require(table, schemas.TOKENS)
    if kept.num_rows != table.num_rows:
        raise WorkerError(f"links of {kept.num_rows} rows, but tokens of {table.num_rows}")
    numbers = number_cut_sides(table, tokens)
    lengths = [side.counts for side in numbers]
    keys = {name: _keys(kept.column(column)) for name, column in _SIDES.items()}
    # A single set of links serves both directions.
    single = kept.column("reverse_links").is_null().to_numpy()
    rows = keys["forward"] >> _ROW
    keys["reverse"] = np.concatenate([keys["reverse"], keys["forward"][single[rows]]])
    if wanted is None:
        wanted = np.ones(table.num_rows, np.bool_)
    given_up: GivenUp = {}
    if attention is not None:
        read, given_up = _read_attention(kept, lengths, attention, wanted)
        keys = {name: np.concatenate([side_keys, read]) for name, side_keys in keys.items()}
    keys = {
        name: np.unique(side_keys[wanted[side_keys >> _ROW]]) for name, side_keys in keys.items()
    }
    given_up |= _outside(keys, lengths)
    stay = np.ones(table.num_rows, np.bool_)
    stay[list(given_up)] = False
    inside = {name: side_keys[stay[side_keys >> _ROW]] for name, side_keys in keys.items()}
    linked = {name: _of_tokens(side_keys, *numbers) for name, side_keys in inside.items()}
    return _linked(table, linked, stay), given_up


def _keys(column: pa.ChunkedArray) -> np.ndarray:
    """Return (row, source, target) of each link as one number, int64 ``[link]``."""
    counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    rows = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    items = pc.list_flatten(column)
    source, target = (
        pc.struct_field(items, name).to_numpy().astype(np.int64) for name in ("source", "target")
    )
    return (rows << _ROW) | (source << _SOURCE) | target


def _parts(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, source token and target token of each key."""
    return keys >> _ROW, (keys >> _SOURCE) & 0xFFFF, keys & 0xFFFF


def _of_tokens(keys: np.ndarray, source: PieceNumbers, target: PieceNumbers) -> np.ndarray:
    """Turn keys of a tokenizer's pieces into keys of tokens, sorted and each once."""
    rows, *sides = _parts(keys)
    first, second = (
        numbers.tokens[numbers.offsets[rows] + side].astype(np.int64)
        for numbers, side in zip((source, target), sides, strict=True)
    )
    known = (first != NO_TOKEN) & (second != NO_TOKEN)
    return np.unique(((rows << _ROW) | (first << _SOURCE) | second)[known])


def _outside(keys: dict[str, np.ndarray], lengths: list[np.ndarray]) -> GivenUp:
    """Find the rows with links to tokens that do not exist; name the first such link."""
    given_up: GivenUp = {}
    for each in keys.values():
        rows, source, target = _parts(each)
        bad = np.flatnonzero((source >= lengths[0][rows]) | (target >= lengths[1][rows]))
        ends = (part[bad].tolist() for part in (rows, source, target))
        for row, one, other in zip(*ends, strict=True):
            detail = out_of_range(one, other, int(lengths[0][row]), int(lengths[1][row]))
            given_up.setdefault(row, (str(Reject.LINK_OUT_OF_RANGE), detail))
    return given_up


def out_of_range(source: int, target: int, source_tokens: int, target_tokens: int) -> str:
    """Return the message for a link that names a token that does not exist."""
    return (
        f"{source}-{target} is out of range for {source_tokens} source and {target_tokens} target "
        "tokens; set --tokens to the tokens of the links"
    )


def _read_attention(
    kept: pa.Table, lengths: list[np.ndarray], attention: ReadAttention, wanted: np.ndarray
) -> tuple[np.ndarray, GivenUp]:
    """Return the keys of the links of rows with attention, and the rows with unusable attention."""
    keys: list[np.ndarray] = []
    given_up: GivenUp = {}
    columns = [kept.column(name).to_numpy() for name in ("unit", "line")]
    for row in np.flatnonzero(wanted).tolist():
        unit, line, source, target = (int(column[row]) for column in (*columns, *lengths))
        try:
            links = attention(unit, line - 1, source, target)
        except InputError as error:
            given_up[row] = (str(Reject.BAD_ATTENTION), error.message)
            continue
        if links is not None:
            keys.append((row << _ROW) | (links.source << _SOURCE) | links.target)
    return np.concatenate([np.zeros(0, np.int64), *keys]), given_up


def _linked(table: pa.Table, keys: dict[str, np.ndarray], stay: np.ndarray) -> pa.Table:
    """Return the rows that stay, with their links."""
    table = table.filter(pa.array(stay)).combine_chunks()
    numbers = np.cumsum(stay) - 1
    for name, each in keys.items():
        rows, source, target = _parts(each)
        offsets = np.searchsorted(numbers[rows], np.arange(table.num_rows + 1))
        fields: dict[str, np.ndarray] = {
            "source": source.astype(np.int16),
            "target": target.astype(np.int16),
            "probability": np.ones(len(rows), np.float32),
        }
        field = schemas.LINKED.field(name)
        table = table.append_column(field, list_column(offsets, fields, field.type))
    return table
