"""Blocks of pairs whose hidden states are in memory at once."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.models.encoder.encoder import Encoder
from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.pieces import (
    TOO_LONG_FOR_ENCODER,
    Pieces,
    Sequences,
    Tokens,
    cut_pieces,
    cut_windows,
    pieces_of,
    tokens_of,
)
from pairweave.transforms.arrow import flat_columns
from pairweave.transforms.kernels.text.encoder_pieces import UnitLinks, token_links
from pairweave.transforms.kernels.text.spans import FlatSpans


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """The compared units of one side of a block's pairs: pieces, or words.

    Attributes:
        offsets: Start of each pair's units, int64 ``[pair + 1]``.
        first: First token of each unit, numbered within the pair, int32 ``[unit]``.
        last: The token after each unit's last token, int32 ``[unit]``.
        tokens: Number of tokens of each pair, int64 ``[pair]``.
        begin: Start of the side's pieces in the block.
        pooled: For words, the concatenated pieces of all words; else None.
        counts: For words, the number of pieces of each word; else None.
    """

    offsets: np.ndarray
    first: np.ndarray
    last: np.ndarray
    tokens: np.ndarray
    begin: int
    pooled: np.ndarray | None = None
    counts: np.ndarray | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class CutPairs:
    """Some pairs as pieces, ready for the encoder.

    Attributes:
        rows: Their rows in the table, int64 ``[pair]``.
        source: The sources' pieces.
        target: The targets' pieces.
        sequences: The encoder's input: stretches of the pieces of all sources, then all targets.
        rejected: Reason and detail of removed pairs, by row.
    """

    rows: np.ndarray
    source: Pieces
    target: Pieces
    sequences: Sequences
    rejected: dict[int, tuple[str, str]]

    @property
    def ids(self) -> np.ndarray:
        """Return the pieces of all sources, then of all targets, int64 ``[piece]``."""
        return np.concatenate([self.source.ids, self.target.ids])


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """Pairs in the form that the encoder takes.

    Attributes:
        rows: Their rows in the table, int64 ``[pair]``.
        ids: Pieces of all sources, then of all targets, int64 ``[piece]``.
        sequences: The sequences that the encoder takes.
        source: The sources' units.
        target: The targets' units.
        rejected: Reason and detail of removed pairs, by row.
    """

    rows: np.ndarray
    ids: np.ndarray
    sequences: Sequences
    source: Side
    target: Side
    rejected: dict[int, tuple[str, str]]

    def token_links(self, links: UnitLinks) -> tuple[np.ndarray, ...]:
        """Turn links of units into links of tokens, in both directions."""
        source, target = self.source, self.target
        return token_links(
            links,
            FlatSpans(source.offsets, source.first, source.last),
            FlatSpans(target.offsets, target.first, target.last),
            source.tokens,
            target.tokens,
        )


def cut_blocks(table: pa.Table, characters: int) -> Iterator[np.ndarray]:
    """Yield the rows of each block, the longest pairs first.

    Args:
        table: Pairs with token offsets.
        characters: Characters of text in a block; a longer pair is a block of its own.
    """
    sizes = np.zeros(table.num_rows, dtype=np.int64)
    for side in ("source", "target"):
        sizes += np.asarray(pc.utf8_length(table[side]), dtype=np.int64)
    order = np.argsort(-sizes, kind="stable")
    ends = np.cumsum(sizes[order])
    start = 0
    while start < len(order):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + characters, side="right")), start + 1)
        yield order[start:stop]
        start = stop


def prepare_block(
    table: pa.Table, rows: np.ndarray, encoder: Encoder, config: EncoderConfig
) -> Block:
    """Split the texts of rows into pieces, windows and units.

    Args:
        table: Pairs with token offsets.
        rows: The rows of the block.
        encoder: The encoder, for its tokenizer and limit.
        config: The compared units, and the treatment of long pairs.
    """
    cut = cut_pairs(table, rows, encoder, config)
    return Block(
        cut.rows,
        cut.ids,
        cut.sequences,
        _side(cut.source, _tokens(table["source_tokens"], cut.rows), config.unit, 0),
        _side(
            cut.target,
            _tokens(table["target_tokens"], cut.rows),
            config.unit,
            len(cut.source.ids),
        ),
        cut.rejected,
    )


def cut_pairs(
    table: pa.Table, rows: np.ndarray, encoder: Encoder, config: EncoderConfig
) -> CutPairs:
    """Cut the texts of some rows into pieces and windows.

    Args:
        table: Pairs.
        rows: The rows to cut.
        encoder: The encoder, for its tokenizer and limit.
        config: The treatment of long pairs.
    """
    pieces = [_pieces(table, side, rows, encoder) for side in ("source", "target")]
    rejected = {}
    if config.long_pairs == "reject":
        fits = np.ones(len(rows), dtype=np.bool_)
        for side, cut in zip(("source", "target"), pieces, strict=True):
            for place in np.flatnonzero(fits & (cut.lengths > encoder.limit)).tolist():
                detail = (
                    f"{side}: {cut.lengths[place]} pieces; the encoder's limit is {encoder.limit}"
                )
                rejected[int(rows[place])] = (TOO_LONG_FOR_ENCODER, detail)
                fits[place] = False
        if rejected:
            rows = rows[fits]
            pieces = [_pieces(table, side, rows, encoder) for side in ("source", "target")]
    source, target = pieces
    overlap = min(config.window_overlap, encoder.limit // 2)
    offsets = np.concatenate([source.offsets, len(source.ids) + target.offsets[1:]])
    return CutPairs(rows, source, target, cut_windows(offsets, encoder.limit, overlap), rejected)


def _pieces(table: pa.Table, side: str, rows: np.ndarray, encoder: Encoder) -> Pieces:
    """Split one side of rows into pieces."""
    return cut_pieces(encoder.tokenizer, table[side].take(pa.array(rows)).to_pylist())


def _tokens(column: pa.ChunkedArray, rows: np.ndarray) -> Tokens:
    """Return the tokens of rows."""
    offsets, fields = flat_columns.fields_of(column.take(pa.array(rows)))
    start, stop = int(offsets[0]), int(offsets[-1])
    return Tokens(
        offsets - start,
        fields["start"][start:stop].astype(np.int32),
        fields["end"][start:stop].astype(np.int32),
    )


def _side(pieces: Pieces, tokens: Tokens, unit: str, shift: int) -> Side:
    """Return the compared units of one side, whose pieces begin at ``shift`` in the block."""
    first, last = tokens_of(pieces, tokens)
    sizes = np.diff(tokens.offsets)
    if unit == "pieces":
        return Side(pieces.offsets, first, last, sizes, shift)
    pooled, counts = pieces_of(first, last, pieces.offsets, tokens.offsets)
    real = np.flatnonzero(counts)
    text = np.repeat(np.arange(len(sizes)), sizes)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(text[real], minlength=len(sizes)))])
    inside = (real - tokens.offsets[:-1][text[real]]).astype(np.int32)
    return Side(
        offsets.astype(np.int64), inside, inside + 1, sizes, shift, shift + pooled, counts[real]
    )
