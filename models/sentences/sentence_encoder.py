"""Vectors of sentences, computed from an encoder's vectors of their pieces."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import torch

from pairweave.models.encoder.encoder import load_encoder
from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.piece_encoder import PieceEncoder
from pairweave.models.encoder.pieces import cut_pieces, cut_windows
from pairweave.models.neural_models import one_thread
from pairweave.transforms.kernels.sentences.beads import Told

Tensor: TypeAlias = torch.Tensor

_CHARACTERS = {"cpu": 1 << 17, "cuda": 1 << 21}
"""Amount of text whose piece vectors are in memory at once."""


def load_pieces(config: EncoderConfig) -> PieceEncoder:
    """Load an encoder that turns pieces into vectors.

    Raises:
        ConfigError: It cannot be loaded.
    """
    one_thread()
    return PieceEncoder(config, load_encoder(config))


@dataclasses.dataclass(frozen=True)
class EncodedPieces:
    """The pieces of some texts, with their vectors.

    Attributes:
        ids: Vocabulary numbers, int64 ``[piece]``.
        lengths: Pieces of each text, int64 ``[text]``.
        vectors: ``[piece, hidden]``, float32.
    """

    ids: np.ndarray
    lengths: np.ndarray
    vectors: Tensor

    def sums(self) -> np.ndarray:
        """Return the sum of the vectors of each text's pieces, float32 ``[text, hidden]``."""
        vectors = np.zeros((len(self.lengths), self.vectors.shape[1]), np.float32)
        filled = np.flatnonzero(self.lengths)
        if len(filled):
            lengths = torch.from_numpy(self.lengths[filled]).to(self.vectors.device)
            # Each sum in its own order: a GPU's atomic additions round differently each time.
            sums = torch.segment_reduce(self.vectors, "sum", lengths=lengths, axis=0)
            vectors[filled] = sums.cpu().numpy()
        return vectors


def text_blocks(texts: Sequence[str], characters: int) -> Iterator[tuple[int, int]]:
    """Yield the number of the first text of each block, and of the text after its last.

    Args:
        texts: The texts.
        characters: Maximum number of characters of a block, except if it has a single text.
    """
    first = 0
    while first < len(texts):
        last, size = first + 1, len(texts[first])
        while last < len(texts) and size + len(texts[last]) <= characters:
            size += len(texts[last])
            last += 1
        yield first, last
        first = last


def encode_pieces(pieces: PieceEncoder, texts: Sequence[str]) -> EncodedPieces:
    """Return the pieces of texts with their vectors.

    A long text is encoded in overlapping windows (`models.encoder.pieces.cut_windows`).

    Args:
        pieces: The encoder.
        texts: The texts, few enough to fit in memory.

    Raises:
        WorkerError: The encoder returned a value that is not finite.
    """
    encoder = pieces.encoder
    cut = cut_pieces(encoder.tokenizer, texts)
    overlap = min(encoder.limit // 4, encoder.limit - 1)
    hidden = pieces.encode(cut.ids, cut_windows(cut.offsets, encoder.limit, overlap)).float()
    pieces.require_finite(hidden)
    return EncodedPieces(cut.ids, cut.lengths, hidden)


def encode_sentences(
    pieces: PieceEncoder, texts: Sequence[str], report: Told | None = None
) -> np.ndarray:
    """Return the sum of the vectors of each sentence's pieces.

    Args:
        pieces: The encoder.
        texts: The sentences; one without pieces has a vector of zeros.
        report: Called after each batch; counts sentences.

    Returns:
        Vectors, float32 ``[sentence, hidden]``.

    Raises:
        WorkerError: The encoder returned a value that is not finite.
    """
    vectors = np.zeros((len(texts), pieces.encoder.hidden_size), np.float32)
    for first, last in text_blocks(texts, _CHARACTERS[pieces.encoder.device.type]):
        vectors[first:last] = encode_pieces(pieces, texts[first:last]).sums()
        if report is not None:
            report(last, len(texts))
    return vectors
