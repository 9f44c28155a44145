"""Text as an encoder's pieces, pieces as tokens, and windows over long texts."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow import flat_columns
from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.text.encoder_pieces import cover, merge_pieces
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.piece_numbers import PieceNumbers

TOO_LONG_FOR_ENCODER = "too_long_for_encoder"
"""The reason for rejecting a pair that exceeds the encoder's limit and must not be divided."""


@dataclasses.dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of some texts, without the encoder's special ones.

    Attributes:
        offsets: Start of each text's pieces, int64 ``[text + 1]``.
        ids: Vocabulary numbers, int64 ``[piece]``.
        starts: First code point of each piece, int32 ``[piece]``.
        ends: End of each piece, exclusive, int32 ``[piece]``.
    """

    offsets: np.ndarray
    ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Return the number of pieces of each text."""
        return np.diff(self.offsets)


@dataclasses.dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some texts, by their offsets.

    Attributes:
        offsets: Start of each text's tokens, int64 ``[text + 1]``.
        starts: First code point of each token, int32 ``[token]``.
        ends: End of each token, exclusive, int32 ``[token]``.
    """

    offsets: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


@dataclasses.dataclass(frozen=True, slots=True)
class Sequences:
    """Input of the encoder: stretches of pieces, several for a long text.

    Attributes:
        starts: First piece of each sequence, in the flat pieces, int64 ``[sequence]``.
        lengths: Pieces in it, int64 ``[sequence]``.
        kept_from: First of its pieces whose vector is kept, int64 ``[sequence]``.
        kept_to: The piece after the last one kept, int64 ``[sequence]``.
    """

    starts: np.ndarray
    lengths: np.ndarray
    kept_from: np.ndarray
    kept_to: np.ndarray


def cut_pieces(tokenizer: Any, texts: Sequence[str]) -> Pieces:  # noqa: ANN401 - a tokenizers.Tokenizer
    """Cut texts into pieces, with offsets in code points of the text.

    Args:
        tokenizer: A `tokenizers.Tokenizer` that neither truncates nor pads.
        texts: Any text; an empty one has no pieces.
    """
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    lengths = np.fromiter((len(encoding) for encoding in encodings), np.int64, len(encodings))
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    ids = np.empty(offsets[-1], dtype=np.int64)
    spans = np.empty((offsets[-1], 2), dtype=np.int32)
    for text, encoding in enumerate(encodings):
        if lengths[text]:
            ids[offsets[text] : offsets[text + 1]] = encoding.ids
            spans[offsets[text] : offsets[text + 1]] = encoding.offsets
    starts, ends = np.ascontiguousarray(spans.T)
    return Pieces(offsets, ids, starts, ends)


def add_piece_tokens(table: pa.Table, tokenizer: Any) -> pa.Table:  # noqa: ANN401 - as above
    """Turn PAIRS rows into TOKENS rows whose tokens are an encoder's pieces, in the same order.

    White space belongs to no token, and pieces that share a character are one
    (`transforms.kernels.text.encoder_pieces.merge_pieces`); so a token may be several pieces, and a
    lone word mark none.
    """
    schemas.require(table, schemas.PAIRS)
    for side in ("source", "target"):
        tokens, _ = _merged(table[side], tokenizer)
        table = table.append_column(schemas.TOKENS.field(f"{side}_tokens"), tokens)
    return table


def number_sides(table: pa.Table, tokenizer: Any) -> tuple[PieceNumbers, PieceNumbers]:  # noqa: ANN401 - as above
    """Return the numbers of an encoder's pieces, without special pieces, and the tokens they form.

    Args:
        table: Rows with tokens of `add_piece_tokens`.
        tokenizer: The tokenizer that made them.

    Raises:
        WorkerError: Another tokenizer made them.
    """
    source, target = (_numbered(table, side, tokenizer) for side in ("source", "target"))
    return source, target


def _numbered(table: pa.Table, side: str, tokenizer: Any) -> PieceNumbers:  # noqa: ANN401 - as above
    tokens, numbers = _merged(table[side], tokenizer)
    if not tokens.equals(flat_columns.chunk_of(table[f"{side}_tokens"])):
        raise WorkerError(
            f"the {side} pieces of {table.num_rows} pairs were split by another tokenizer: the "
            "encoder changed while they were aligned; align them again"
        )
    return numbers


def _merged(column: pa.ChunkedArray, tokenizer: Any) -> tuple[pa.ListArray, PieceNumbers]:  # noqa: ANN401 - as above
    """Return the tokens of texts, and the pieces that they consist of."""
    texts = flat_columns.chunk_of(column)
    pieces = cut_pieces(tokenizer, texts.to_pylist())
    offsets, starts, ends, *numbered = merge_pieces(
        pieces.offsets, pieces.starts, pieces.ends, *texts_of(texts), codepoints.properties()
    )
    fields = {"start": starts, "end": ends}
    tokens = flat_columns.list_column(offsets, fields, schemas.SPAN_LIST)
    return tokens, PieceNumbers(pieces.offsets, *numbered)


def tokens_of(pieces: Pieces, tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Return the half-open range of tokens that each piece covers, int32 ``[piece]`` each."""
    return cover(
        pieces.offsets, pieces.starts, pieces.ends, tokens.offsets, tokens.starts, tokens.ends
    )


def pieces_of(
    first: np.ndarray, last: np.ndarray, piece_offsets: np.ndarray, token_offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Invert the tokens of each piece: list the pieces of each token.

    Args:
        first: First token of each piece, counted inside its text ``[piece]``.
        last: The token after the last ``[piece]``.
        piece_offsets: Start of each text's pieces ``[text + 1]``.
        token_offsets: Start of each text's tokens ``[text + 1]``.

    Returns:
        Pieces, grouped by token and ascending, and how many each token has ``[token]``.
    """
    counts = (last - first).astype(np.int64)
    piece = np.repeat(np.arange(len(first)), counts)
    before = np.repeat(np.cumsum(counts) - counts, counts)
    text = np.repeat(np.arange(len(piece_offsets) - 1), np.diff(piece_offsets))
    base = (token_offsets[:-1][text] + first)[piece]
    token = base + np.arange(len(piece)) - before
    order = np.argsort(token, kind="stable")
    return piece[order], np.bincount(token, minlength=int(token_offsets[-1]))


def cut_windows(offsets: np.ndarray, limit: int, overlap: int) -> Sequences:
    """Cut texts over a limit into overlapping windows; shorter ones stay whole.

    All windows of a text are full: the last window is moved back to end with the text. A piece in
    two windows gets its vector from the window in which it is further from an edge.

    Args:
        offsets: Start of each text's pieces ``[text + 1]``; a text without pieces gives no
            sequence.
        limit: Maximum number of pieces in a sequence.
        overlap: Minimum number of pieces that neighbouring windows share, less than ``limit``.
    """
    lengths = np.diff(offsets)
    whole = np.flatnonzero((lengths > 0) & (lengths <= limit))
    columns = [
        np.stack([offsets[whole], lengths[whole], offsets[whole], offsets[whole] + lengths[whole]])
    ]
    for text in np.flatnonzero(lengths > limit):
        length = int(lengths[text])
        starts = np.append(np.arange(0, length - limit, limit - overlap), length - limit)
        middles = (starts[1:] + starts[:-1] + limit) // 2
        bounds = np.concatenate([[0], middles, [length]])
        base = offsets[text]
        columns.append(
            np.stack(
                [base + starts, np.full(len(starts), limit), base + bounds[:-1], base + bounds[1:]]
            )
        )
    starts, sizes, kept_from, kept_to = np.concatenate(columns, axis=1).astype(np.int64)
    return Sequences(starts, sizes, kept_from, kept_to)
