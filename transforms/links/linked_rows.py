"""Turns rows of finished runs back into SYMMETRIZED rows, from which tags are drawn."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import chunk_of, fields_of, list_column, texts_of
from pairweave.transforms.kernels.links.linked_tokens import fill_gaps
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.links.kept_links import COLUMN
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.tokens import cut_words

_PAIR = ("id", "corpus", "source_lang", "target_lang", "source", "target")
_SIDES = ("source", "target")

COLUMNS: dict[str, tuple[str, ...]] = {
    "align": (*_PAIR, "source_tokens", "target_tokens", "links"),
    "augment": (*_PAIR, "variant", COLUMN),
}
"""The columns that are read, by the job of the run."""


def linked_rows(rows: pa.Table, job: str, tokens: str = "words") -> pa.Table:
    """Turn rows of ``align`` or ``augment`` into SYMMETRIZED rows, one per pair, in their order.

    The file and line of a pair are left empty.

    Args:
        rows: The columns `COLUMNS` of the job; in a run of ``augment`` every pair has a plain row.
        job: ``align`` or ``augment``.
        tokens: What kind of tokens the run linked (`transforms.text.tokens.TokenConfig`).
    """
    return _from_align(rows) if job == "align" else _from_augment(rows, tokens)


def _from_align(rows: pa.Table) -> pa.Table:
    """Leave out pieces that show nothing of the text, and number the other pieces.

    The inverse of `transforms.text.piece_numbers.in_pieces`.
    """
    sides = {side: _shown(rows.column(f"{side}_tokens")) for side in _SIDES}
    links = chunk_of(rows.column("links")).cast(schemas.LINK_LIST)
    if any(numbers is not None for _, numbers in sides.values()):
        links = _renumbered(links, rows, sides)
    return _symmetrized(rows, {side: tokens for side, (tokens, _) in sides.items()}, links)


_Tokens = tuple[pa.Array, np.ndarray | None]


def _shown(column: pa.ChunkedArray) -> _Tokens:
    """Return the tokens that show some text, and the number of each or -1; None if all do."""
    tokens = chunk_of(column).cast(schemas.SPAN_LIST)
    offsets, fields = fields_of(tokens)
    inside = slice(offsets[0], offsets[-1])
    shown = fields["start"][inside] < fields["end"][inside]
    if shown.all():
        return tokens, None
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(shown)])
    own = before[offsets - offsets[0]]
    numbers = before[:-1] - np.repeat(own[:-1], np.diff(offsets))
    spans = {name: values[inside][shown] for name, values in fields.items()}
    return list_column(own, spans, schemas.SPAN_LIST), np.where(shown, numbers, -1)


def _renumbered(links: pa.ListArray, rows: pa.Table, sides: dict[str, _Tokens]) -> pa.ListArray:
    """Renumber the tokens of links, and drop the links of tokens that show nothing."""
    offsets, fields = fields_of(links)
    inside = slice(offsets[0], offsets[-1])
    pair = np.repeat(np.arange(len(links)), np.diff(offsets))
    kept = np.ones(len(pair), np.bool_)
    values = {name: column[inside] for name, column in fields.items()}
    for side, (_, numbers) in sides.items():
        if numbers is None:
            continue
        starts, _ = fields_of(rows.column(f"{side}_tokens"))
        values[side] = numbers[(starts - starts[0])[pair] + values[side]].astype(np.int16)
        kept &= values[side] >= 0
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    values = {name: column[kept] for name, column in values.items()}
    return list_column(before[offsets - offsets[0]], values, schemas.LINK_LIST)


def _from_augment(rows: pa.Table, kind: str) -> pa.Table:
    """Recover the tokens from the linked ranges (`kernels.links.linked_tokens.fill_gaps`)."""
    plain = rows.filter(pc.equal(rows.column("variant"), 0)).combine_chunks()
    offsets, fields = fields_of(plain.column(COLUMN))
    inside = slice(offsets[0], offsets[-1])
    offsets = offsets - offsets[0]
    pair = np.repeat(np.arange(len(plain)), np.diff(offsets))
    tokens, links = {}, {}
    for side in _SIDES:
        starts, ends = (fields[f"{side}_{end}"][inside] for end in ("start", "end"))
        keys, first, place = np.unique(
            (pair << 32) | starts, return_index=True, return_inverse=True
        )
        bounds = np.searchsorted(keys, np.arange(len(plain) + 1) << 32)
        linked = FlatSpans(bounds, starts[first], ends[first])
        *complete, numbers = fill_gaps(linked, _filled(plain.column(side), kind))
        spans = {"start": complete[1], "end": complete[2]}
        tokens[side] = list_column(complete[0], spans, schemas.SPAN_LIST)
        links[side] = numbers[place].astype(np.int16)
    links["probability"] = np.ones(len(pair), np.float32)
    return _symmetrized(plain, tokens, list_column(offsets, links, schemas.LINK_LIST))


def _filled(texts: pa.ChunkedArray, kind: str) -> FlatSpans:
    """Return the text that tokens cover: not white space, and no invisible text between words."""
    if kind == "words":
        return FlatSpans(*cut_words(texts, None)[1])
    return FlatSpans(*utf8.split_at_white_space(*texts_of(texts), codepoints.properties()))


def _symmetrized(rows: pa.Table, tokens: dict[str, pa.Array], links: pa.Array) -> pa.Table:
    count = rows.num_rows
    columns = {
        **{name: rows.column(name) for name in _PAIR},
        **{f"{side}_tokens": column for side, column in tokens.items()},
        "file": pa.repeat("", count),
        "line": pa.repeat(0, count),
        "translation": pa.nulls(count, pa.string()),
        "links": links,
    }
    arrays = [columns[name] for name in schemas.SYMMETRIZED.names]
    return pa.Table.from_arrays(arrays, schema=schemas.SYMMETRIZED)
