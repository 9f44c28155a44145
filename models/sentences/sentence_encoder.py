"""Vectors of sentences, computed from an encoder's vectors of their pieces."""

from collections.abc import Sequence

import numpy as np
import torch

from pairweave.models.encoder.encoder import load_encoder
from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.piece_encoder import PieceEncoder
from pairweave.models.encoder.pieces import cut_pieces, cut_windows
from pairweave.transforms.kernels.sentences.beads import Told

_CHARACTERS = {"cpu": 1 << 17, "cuda": 1 << 21}
"""Amount of text whose piece vectors are in memory at once."""


def load_pieces(config: EncoderConfig) -> PieceEncoder:
    """Load an encoder that turns pieces into vectors.

    Raises:
        ConfigError: It cannot be loaded.
    """
    # Several threads would add in another order and round differently: one thread per batch.
    torch.set_num_threads(1)
    return PieceEncoder(config, load_encoder(config))


def encode_sentences(
    pieces: PieceEncoder, texts: Sequence[str], told: Told | None = None
) -> np.ndarray:
    """Return the sum of the vectors of each sentence's pieces.

    A long sentence is encoded in overlapping windows (`models.encoder.pieces.cut_windows`).

    Args:
        pieces: The encoder.
        texts: The sentences; one without pieces has a vector of zeros.
        told: Is told of each batch when it is done, in sentences.

    Returns:
        Vectors, float32 ``[sentence, hidden]``.

    Raises:
        WorkerError: The encoder returned a value that is not finite.
    """
    encoder = pieces.encoder
    made = np.zeros((len(texts), encoder.hidden_size), np.float32)
    most = _CHARACTERS[encoder.device.type]
    first = 0
    while first < len(texts):
        last, size = first + 1, len(texts[first])
        while last < len(texts) and size + len(texts[last]) <= most:
            size += len(texts[last])
            last += 1
        cut = cut_pieces(encoder.tokenizer, texts[first:last])
        overlap = min(encoder.limit // 4, encoder.limit - 1)
        hidden = pieces.encode(cut.ids, cut_windows(cut.offsets, encoder.limit, overlap)).float()
        pieces.require_finite(hidden)
        counts = np.diff(cut.offsets)
        filled = np.flatnonzero(counts)
        if len(filled):
            # Each sum in its own order: a GPU's atomic additions round differently each time.
            sums = torch.segment_reduce(hidden, "sum", lengths=pieces.send(counts[filled]), axis=0)
            made[first + filled] = sums.cpu().numpy()
        first = last
        if told is not None:
            told(last, len(texts))
    return made
