"""Converts between token numbers of a job and those of the tokenizer itself.

Each of a job's tokens shows a different part of the text. A tokenizer also counts pieces that show
nothing: a lone word mark (``\u2581``), the first bytes of a character that is split into several
pieces. Other programs that align the same pieces count those, too. So links in input and output
number the tokenizer's pieces, and this module converts between the two numberings.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import fields_of, list_column, offsets_of
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.text.tokens import (
    Language,
    Texts,
    TokenConfig,
    marks_words_behind,
    sentencepieces,
    shown_pieces,
    tokenize,
)

NO_TOKEN = -1
"""The token number of a piece that belongs to no token."""


@dataclasses.dataclass(frozen=True, slots=True)
class PieceNumbers:
    """The pieces of some texts, as counted by their tokenizer, without special pieces.

    Attributes:
        offsets: Start of each text's pieces, int64 ``[text + 1]``.
        starts: First code point of each piece, without white space, int32 ``[piece]``.
        ends: Code point after it; equal where the piece shows nothing of the text.
        tokens: The job's token that each piece belongs to, counted inside its text, int32
            ``[piece]``: the token that it shows, else the token that it begins; or `NO_TOKEN`.
    """

    offsets: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    tokens: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Return how many pieces each text has, int64 ``[text]``."""
        return np.diff(self.offsets)

    def tokens_by_text(self) -> list[list[int]]:
        """Return the token of each piece, text by text."""
        flat = self.tokens.tolist()
        return [flat[start:end] for start, end in itertools.pairwise(self.offsets.tolist())]


def number_pieces(texts: Texts, config: TokenConfig, language: Language = None) -> PieceNumbers:
    """Number the pieces of texts as their tokenizer does, and give the job's token of each.

    Args:
        texts: Strings without nulls ``[text]``.
        config: Which tokens (`transforms.text.tokens.tokenize`). Only a SentencePiece model counts
            pieces that are not tokens. For an encoder's pieces, see
            `models.encoder.pieces.number_sides`.
        language: As for `tokenize`.

    Raises:
        ConfigError: The SentencePiece model cannot be loaded.
        WorkerError: A text is null, or the tokens are an encoder's pieces.
    """
    if config.kind == "sentencepiece":
        offsets, starts, ends = sentencepieces(texts, config)
        behind = marks_words_behind(config)
        return PieceNumbers(offsets, starts, ends, _tokens_of(offsets, starts, ends, behind=behind))
    return _number_tokens(tokenize(texts, config, language))


def _number_tokens(tokens: Texts) -> PieceNumbers:
    """Number the pieces of texts whose tokenizer counts tokens only."""
    offsets, fields = fields_of(tokens)
    starts, ends = (fields[name][offsets[0] : offsets[-1]] for name in ("start", "end"))
    offsets = offsets - offsets[0]
    numbers = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    return PieceNumbers(offsets, starts, ends, numbers.astype(np.int32))


def number_cut_sides(table: pa.Table, config: TokenConfig) -> tuple[PieceNumbers, PieceNumbers]:
    """Number the source's and the target's pieces of rows that were cut into these tokens.

    Args:
        table: Rows with texts, languages and tokens.
        config: How they were cut.
    """
    if config.kind in ("sentencepiece", "pieces"):
        return number_sides(table, config)
    source, target = (
        _number_tokens(table.column(f"{side}_tokens")) for side in ("source", "target")
    )
    return source, target


def number_sides(table: pa.Table, config: TokenConfig) -> tuple[PieceNumbers, PieceNumbers]:
    """Number the source's and the target's pieces of rows with texts and languages."""
    source, target = (
        number_pieces(table.column(side), config, table.column(f"{side}_lang"))
        for side in ("source", "target")
    )
    return source, target


def token_links(
    links: Iterable[tuple[int, int]], source: Sequence[int], target: Sequence[int]
) -> list[tuple[int, int]]:
    """Turn links between a tokenizer's pieces into links of tokens, sorted, each once.

    Links of a piece that shows nothing become links of the token to which it belongs; if there is
    no such token, they are dropped.

    Args:
        links: Links of one pair's pieces, in any order.
        source: The token of each piece of the source.
        target: The same for the target.

    >>> token_links([(0, 0), (1, 1), (2, 1)], [0, 0, 1], [0, NO_TOKEN])
    [(0, 0)]
    """
    piece_links = {(source[one], target[other]) for one, other in links}
    return sorted(link for link in piece_links if NO_TOKEN not in link)


def in_pieces(table: pa.Table, source: PieceNumbers, target: PieceNumbers) -> pa.Table:
    """Number the tokens of a table as their tokenizer does.

    Args:
        table: Rows with source_tokens, target_tokens and links between them.
        source: The numbers of the source's pieces.
        target: The numbers of the target's pieces.

    Returns:
        The table with all pieces instead of the tokens; a piece that shows nothing has an empty
        span. A link of two tokens becomes links between all pieces that show parts of them.
    """
    offsets, fields = fields_of(table.column("links"))
    rows = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    links = np.arange(offsets[0], offsets[-1])
    pieces_of_links: dict[str, np.ndarray] = {}
    for name, numbers in (("source", source), ("target", target)):
        column = f"{name}_tokens"
        starts = offsets_of(table.column(column))
        tokens = (starts - starts[0])[rows] + fields[name][links]
        chosen, pieces = _shown_by_token(numbers, starts - starts[0], tokens)
        rows, links = rows[chosen], links[chosen]
        pieces_of_links = {before: side[chosen] for before, side in pieces_of_links.items()} | {
            name: pieces
        }
        spans = {"start": numbers.starts, "end": numbers.ends}
        table = replaced(table, column, list_column(numbers.offsets, spans, _TYPES[column]))
    order = np.lexsort((pieces_of_links["target"], pieces_of_links["source"], rows))
    values = {name: side[order].astype(np.int16) for name, side in pieces_of_links.items()}
    values["probability"] = fields["probability"][links][order]
    bounds = np.searchsorted(rows[order], np.arange(len(offsets)))
    return replaced(table, "links", list_column(bounds, values, _TYPES["links"]))


_TYPES = {field.name: field.type for field in schemas.ALIGNED}


def _shown_by_token(
    numbers: PieceNumbers, token_offsets: np.ndarray, tokens: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """List the pieces that show a part of each of the tokens.

    Args:
        numbers: The pieces.
        token_offsets: Start of each text's tokens, from 0 ``[text + 1]``.
        tokens: Tokens counted over all texts, in any order.

    Returns:
        Places in ``tokens``, ascending, each once for each of its pieces, and those pieces.
    """
    texts = np.repeat(np.arange(len(numbers.offsets) - 1), numbers.counts)
    shown = np.flatnonzero(numbers.starts < numbers.ends)
    owners = token_offsets[texts[shown]] + numbers.tokens[shown]
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=token_offsets[-1])
    firsts = np.cumsum(counts) - counts
    times = counts[tokens]
    places = np.repeat(np.arange(len(tokens)), times)
    within = np.arange(len(places)) - np.repeat(np.cumsum(times) - times, times)
    pieces = shown[order[firsts[tokens[places]] + within]]
    return places, pieces - numbers.offsets[texts[pieces]]


def _tokens_of(
    offsets: np.ndarray, starts: np.ndarray, ends: np.ndarray, *, behind: bool
) -> np.ndarray:
    """Return the token of each piece if the tokens are the pieces that show something.

    A piece that shows nothing belongs to the next token. Where word marks end words, it belongs to
    the previous token, unless the next one begins at the same place.
    """
    token_offsets, token_starts, _ = shown_pieces(offsets, starts, ends)
    texts = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    shown = starts < ends
    after: np.ndarray = np.cumsum(shown) - shown  # the piece's own token, or the next one
    first, stop = token_offsets[texts], token_offsets[texts + 1]
    follows = after < stop
    if behind and len(token_starts):
        next_starts = token_starts[np.minimum(after, len(token_starts) - 1)]
        follows &= shown | (next_starts == starts)
        after = np.where(follows, after, after - 1)
        follows |= after >= first
    return np.where(follows, after - first, NO_TOKEN).astype(np.int32)
