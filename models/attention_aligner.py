"""Links from a translation model's attention, for the lines that it was computed for."""

import dataclasses
import hashlib
import json

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import fields_of
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.links.attention import Attention
from pairweave.transforms.storage import files
from pairweave.transforms.text.piece_numbers import (
    NO_TOKEN,
    PieceNumbers,
    number_sides,
    token_links,
)
from pairweave.transforms.text.tokens import TokenConfig, shown_pieces, tokenize

VERSION = 1
"""Increased when the same attention gives different links."""


@dataclasses.dataclass(frozen=True, slots=True)
class AttentionSource:
    """A file of attention, and the settings for extracting links from it.

    Attributes:
        path: A file (`transforms.links.attention.Attention`).
        method: ``naive`` or ``shift``.
        layer: Layer; None if the file has only one.
        head: Head of the layer; None for the mean over its heads.
        pieces: The SentencePiece model whose pieces the attention is between; None if it is between
            words.
    """

    path: str
    method: str = "shift"
    layer: int | None = None
    head: int | None = None
    pieces: str | None = None


class AttentionAligner:
    """Links the words of given lines; implements `models.aligner.Aligner`.

    Words are linked if a piece of one is linked with a piece of the other. The same links are used
    for both directions.
    """

    def __init__(self, source: AttentionSource) -> None:
        """Open the attention.

        Raises:
            ConfigError: A file cannot be read, or it has no such layer or head.
        """
        self._source = source
        self._attention = Attention(files.on_disk(source.path), source.layer, source.head)
        self._attention.check()
        self._pieces = TokenConfig("whitespace")
        if source.pieces is not None:
            self._pieces = TokenConfig("sentencepiece", _read(source.pieces))
            try:
                tokenize(pa.array(["a"]), self._pieces)
            except ConfigError as error:
                raise ConfigError(f"{source.pieces}: {error}") from error
        about = {
            "aligner": "attention",
            "version": VERSION,
            "settings": [source.method, source.layer, source.head],
            "files": [
                hashlib.sha256(data).hexdigest()
                for data in (_read(source.path), self._pieces.model or b"")
            ],
        }
        self.digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()

    def __len__(self) -> int:
        """Return the number of lines with attention."""
        return len(self._attention)

    def align(self, table: pa.Table) -> pa.Table:
        """Turn TOKENS rows into LINKED rows, in the same order; ``line`` selects the attention.

        Raises:
            InputError: A line's attention is missing, too small or not numeric.
        """
        schemas.require(table, schemas.TOKENS)
        numbers = number_sides(table, self._pieces)
        sides = zip(("source", "target"), numbers, strict=True)
        words = zip(*(self._words(table, side, pieces) for side, pieces in sides), strict=True)
        lines = table.column("line").to_pylist()
        rows = [
            [{"source": i, "target": j, "probability": 1.0} for i, j in self._links(line, *each)]
            for line, each in zip(lines, words, strict=True)
        ]
        for name in ("forward", "reverse"):
            field = schemas.LINKED.field(name)
            table = table.append_column(field, pa.array(rows, field.type))
        return table

    def _links(self, line: int, source: list[int], target: list[int]) -> list[tuple[int, int]]:
        if line > len(self):
            raise InputError(
                "line_count_mismatch",
                self._source.path,
                f"has attention of {len(self)} lines, but not for line {line}",
            )
        method = self._source.method
        links = self._attention.links(line - 1, len(source), len(target), method)
        pairs = zip(links.source.tolist(), links.target.tolist(), strict=True)
        return token_links(pairs, source, target)

    def _words(self, table: pa.Table, side: str, pieces: PieceNumbers) -> list[list[int]]:
        """Return, for each line, the number of the word that each piece belongs to."""
        numbers = pieces.tokens_by_text()
        if self._source.pieces is None:
            return numbers
        offsets, starts, _ = shown_pieces(pieces.offsets, pieces.starts, pieces.ends)
        of_text = np.split(starts, offsets[1:-1])
        words = [
            (np.searchsorted(of_words, of_tokens, side="right") - 1).tolist()
            for of_tokens, of_words in zip(
                of_text, _starts(table.column(f"{side}_tokens")), strict=True
            )
        ]
        return [
            [NO_TOKEN if token == NO_TOKEN else word[token] for token in line]
            for line, word in zip(numbers, words, strict=True)
        ]


def _starts(tokens: pa.ChunkedArray | pa.Array) -> list[np.ndarray]:
    """Return where the tokens of each text begin."""
    offsets, fields = fields_of(tokens)
    return np.split(fields["start"][offsets[0] : offsets[-1]], (offsets - offsets[0])[1:-1])


def _read(path: str) -> bytes:
    try:
        return files.read_bytes(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
