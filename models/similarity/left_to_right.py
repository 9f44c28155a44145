"""The probability of a text by an encoder's language model head, read from left to right.

The head of a masked language model predicts a masked piece from both sides. The NRC took
"left-to-right LM scores" from it (WMT20, section 2.3) without saying how. Here the probability of a
piece given those before it is the head's prediction for a mask in its place, with attention limited
to the left: a piece attends to itself and the pieces before it, and the mask to these and itself.
One pass computes all masks of a text; they follow the text, each with the position of its piece.
The special pieces at the start of a text are the initial context; the end is not predicted.

This takes a separate pass through all layers, only over the targets, and with twice the length. The
vectors that YiSi-2 compares cannot be reused, because each depends on its own piece and later ones.
"""

import dataclasses
from typing import Any, TypeAlias

import numpy as np
import torch
import transformers

from pairweave.models.encoder.batching import Budget, cut_batches, run_batches
from pairweave.models.encoder.encoder import (
    OUT_OF_MEMORY,
    inference,
    load_language_model,
    no_head,
    require_language_precision,
)
from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.encoder_family import read_family
from pairweave.models.encoder.encoder_tokenizer import read_tokenizer
from pairweave.models.encoder.piece_encoder import PieceEncoder
from pairweave.models.encoder.pieces import Pieces, Sequences, cut_windows
from pairweave.models.weights.weights import ModelFiles, find_model, weight_names
from pairweave.transforms.errors import ConfigError, WorkerError

Tensor: TypeAlias = torch.Tensor

_LOGITS = 1 << 25
"""Maximum number of values that the head computes at once: 128 MB in fp32."""


class LeftToRight:
    """A masked language model that scores texts from left to right; one call at a time."""

    def __init__(self, pieces: PieceEncoder) -> None:
        """Load all layers of an encoder with its head.

        Args:
            pieces: The encoder in use, with which it shares weights, device and batch size.

        Raises:
            ConfigError: The model has no such head, no mask, or no absolute positions.
        """
        self._pieces = pieces
        encoder, config = pieces.encoder, pieces.config
        self._model = load_language_model(config, encoder)
        self._head = _head_of(self._model, config.model)
        self._first = _first_position(self._model.base_model, config.model)
        files = find_model(config.model, config.revision)
        self._mask = _mask_of(files, self._model.config, config.model)
        self._budget = Budget(pieces.budget.limit, OUT_OF_MEMORY)

    def mean_log_probabilities(self, texts: Pieces) -> np.ndarray:
        """Return the mean natural logarithm of the probabilities of each text's pieces.

        A text over the encoder's limit is read in overlapping windows; a piece is scored in the
        first window that contains it.

        Args:
            texts: Pieces of some texts.

        Returns:
            float64 ``[text]``; minus infinity for a text without pieces.

        Raises:
            WorkerError: The model returned a value that is not finite, as fp16 may.
        """
        encoder = self._pieces.encoder
        overlap = min(self._pieces.config.window_overlap, encoder.limit // 2)
        windows = _kept_in_the_first(cut_windows(texts.offsets, encoder.limit, overlap))
        log_probabilities = np.zeros(len(texts.ids))
        lengths = len(encoder.prefix) + 2 * windows.lengths

        @inference()
        def work(members: np.ndarray) -> None:
            self._read(texts.ids, _some(windows, members), log_probabilities)

        batches = cut_batches(lengths, self._budget.limit)
        run_batches(batches, self._budget, work, encoder.free, self._pieces.threads)
        if not np.isfinite(log_probabilities).all():
            raise WorkerError(f"{self._pieces.config.model}: probabilities are not finite")
        sizes = texts.lengths
        sums = np.bincount(
            np.repeat(np.arange(len(sizes)), sizes), log_probabilities, minlength=len(sizes)
        )
        return np.where(sizes > 0, sums / np.maximum(sizes, 1), -np.inf)

    def _read(self, ids: np.ndarray, windows: Sequences, log_probabilities: np.ndarray) -> None:
        """Fill in the log-probabilities of the pieces that are scored in some windows."""
        send, encoder = self._pieces.send, self._pieces.encoder
        before = len(encoder.prefix)
        sizes = windows.lengths[:, None]
        columns = np.arange(before + 2 * int(sizes.max()))
        masks = columns - before - sizes
        is_mask = (masks >= 0) & (masks < sizes)
        is_piece = (columns >= before) & (masks < 0)
        # Padding comes after all other positions, and only padding attends to it.
        order = np.where(is_mask, before + masks, columns)
        places = windows.starts[:, None] + order - before
        inputs = np.full(order.shape, encoder.padding)
        inputs[:, :before] = encoder.prefix
        inputs[is_piece] = ids[places[is_piece]]
        inputs[is_mask] = self._mask
        seen = (is_piece | (columns < before))[:, None, :]
        attended = seen & (order[:, None, :] < order[:, :, None])
        attended |= np.eye(len(columns), dtype=np.bool_)
        positions = self._first + np.where(is_mask | seen[:, 0], order, 0)
        hidden = self._model.base_model(
            input_ids=send(inputs),
            attention_mask=send(attended[:, None]),
            position_ids=send(positions),
            token_type_ids=send(np.zeros_like(inputs)),
        ).last_hidden_state
        kept = is_mask & (places >= windows.kept_from[:, None])
        kept &= places < windows.kept_to[:, None]
        wanted = places[kept]
        log_probabilities[wanted] = self._log_probabilities(hidden[send(kept)], ids[wanted])

    def _log_probabilities(self, hidden: Tensor, wanted: np.ndarray) -> np.ndarray:
        """Return the log-probabilities of the expected pieces, float64 ``[row]``."""
        rows = max(_LOGITS // self._model.config.vocab_size, 1)
        parts = [np.empty(0)]
        for start in range(0, len(wanted), rows):
            logits = self._head(hidden[start : start + rows]).float()
            pieces = self._pieces.send(wanted[start : start + rows])[:, None]
            chosen = logits.gather(1, pieces)[:, 0] - logits.logsumexp(1)
            parts.append(chosen.double().cpu().numpy())
        return np.concatenate(parts)


def check_language_model(config: EncoderConfig) -> None:
    """Check that an encoder can be read from left to right; its weights are not loaded.

    Raises:
        ConfigError: The precision is int8, the files have no head, or the model's family has no
            such head, no mask, or no positions that can be given.
    """
    require_language_precision(config)
    files = find_model(config.model, config.revision)
    family = read_family(files)
    try:
        with torch.device("meta"):
            model = transformers.AutoModelForMaskedLM.from_config(family, trust_remote_code=False)
    except ValueError as error:
        raise ConfigError(
            f"{config.model}: a {family.model_type} has no language model head; leave the language "
            "model out, or give BERT, RoBERTa or XLM-R"
        ) from error
    head = _head_of(model, config.model)
    _first_position(model.base_model, config.model)
    _mask_of(files, family, config.model)
    begins = tuple(f"{name}." for name, part in model.named_children() if part is head)
    if not any(name.startswith(begins) for name in weight_names(files)):
        raise no_head(files.directory, f"no weight's name begins with {begins[0]}")


def _mask_of(files: ModelFiles, family: Any, name: str) -> int:  # noqa: ANN401
    """Return the piece that marks the place of one to be predicted.

    Raises:
        ConfigError: The tokenizer has none.
    """
    mask = read_tokenizer(files, family.vocab_size).mask_token_id
    if mask is None:
        raise ConfigError(f"{name}: the tokenizer has no mask; set mask_token")
    return int(mask)


def _head_of(model: Any, name: str) -> Any:  # noqa: ANN401
    """Return the module that turns hidden states into scores of pieces.

    Raises:
        ConfigError: The family divides it into several modules.
    """
    others = [part for part in model.children() if part is not model.base_model]
    if len(others) != 1:
        raise ConfigError(
            f"{name}: the language model head of a {model.config.model_type} is not known; leave "
            "the language model out, or give BERT, RoBERTa or XLM-R"
        )
    return others[0]


def _first_position(model: Any, name: str) -> int:  # noqa: ANN401
    """Return the position of a text's first piece.

    Raises:
        ConfigError: The family has no table of positions, so masks cannot have those of pieces.
    """
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if not isinstance(table, torch.nn.Embedding):
        raise ConfigError(
            f"{name}: a {model.config.model_type} has no absolute positions, so its language model "
            "cannot be read from left to right in one pass; leave the language model out, or give "
            "BERT, RoBERTa or XLM-R"
        )
    # Attention in other implementations adds the mask as a number, so every piece would be seen.
    if getattr(model.config, "_attn_implementation", None) != "sdpa":
        raise ConfigError(
            f"{name}: a {model.config.model_type} cannot be told which pieces each piece sees, so "
            "its language model cannot be read from left to right; leave the language model out, "
            "or give BERT, RoBERTa or XLM-R"
        )
    padding = getattr(model.embeddings, "padding_idx", None)  # RoBERTa's positions begin after it
    return 0 if padding is None else int(padding) + 1


def _kept_in_the_first(windows: Sequences) -> Sequences:
    """Assign each piece to its first window, which has the most left context."""
    starts = windows.starts
    ends = starts + windows.lengths
    begins = np.ones(len(starts), np.bool_)
    # Windows of one text are consecutive and overlap; those of different texts do not.
    begins[1:] = (starts[1:] >= ends[:-1]) | (starts[1:] <= starts[:-1])
    kept_from = starts.copy()
    kept_from[1:] = np.where(begins[1:], starts[1:], ends[:-1])
    return dataclasses.replace(windows, kept_from=kept_from, kept_to=ends)


def _some(windows: Sequences, members: np.ndarray) -> Sequences:
    return Sequences(
        *(getattr(windows, field.name)[members] for field in dataclasses.fields(windows))
    )
