"""Vectors of pieces, computed in batches that fit the device's memory."""

import threading
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch

from pairweave.models.encoder.batching import Budget, cut_batches, run_batches
from pairweave.models.encoder.encoder import OUT_OF_MEMORY, Encoder, inference, measure_budget
from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.layer_states import LayerStates
from pairweave.models.encoder.pieces import Sequences
from pairweave.transforms.errors import WorkerError

Tensor: TypeAlias = torch.Tensor
Encode: TypeAlias = Callable[[Tensor, Tensor | None], Tensor]


class PieceEncoder:
    """Turns pieces of many texts into vectors; one call at a time."""

    def __init__(self, config: EncoderConfig, encoder: Encoder, threads: int = 1) -> None:
        """Keep the parts and measure the device.

        Args:
            config: The settings.
            encoder: The encoder.
            threads: Number of batches that a CPU processes at once, each on one thread, so that no
                sum depends on their number. A GPU processes one.
        """
        self.config = config
        self.encoder = encoder
        self.threads = threads if encoder.device.type == "cpu" else 1
        self.budget = Budget(config.batch_pieces or measure_budget(encoder), OUT_OF_MEMORY)

    def encode(self, ids: np.ndarray, sequences: Sequences) -> Tensor:
        """Return the vector of every piece, ``[piece, hidden]``.

        Args:
            ids: The pieces of all texts, int64 ``[piece]``.
            sequences: The stretches of them that the encoder takes.
        """
        return self._vectors(ids, sequences, self.encoder.encode, self.encoder.hidden_size)

    def encode_layers(self, ids: np.ndarray, sequences: Sequences, states: LayerStates) -> Tensor:
        """Return the vectors of every piece in several layers, ``[layer, piece, hidden]``.

        Args:
            ids: The pieces of all texts, int64 ``[piece]``.
            sequences: The stretches of them that the encoder takes.
            states: The layers of this encoder to read.
        """
        layers, hidden = len(states.layers), self.encoder.hidden_size
        vectors = self._vectors(ids, sequences, states.encode, layers * hidden)
        return vectors.unflatten(1, (layers, hidden)).transpose(0, 1)

    def _vectors(self, ids: np.ndarray, sequences: Sequences, encode: Encode, width: int) -> Tensor:
        """Return the vectors that ``encode`` computes for every piece, ``[piece, width]``."""
        hidden: Tensor | None = None
        first = threading.Lock()

        def keep(output: Tensor, members: np.ndarray, places: np.ndarray) -> None:
            nonlocal hidden
            kept = places >= sequences.kept_from[members][:, None]
            kept &= places < sequences.kept_to[members][:, None]
            output = output.flatten(0, 1)
            with first:
                if hidden is None:
                    hidden = output.new_empty((len(ids), output.shape[1]))
            hidden[self.send(places[kept])] = output[self.send(np.flatnonzero(kept))]

        self._run(ids, sequences, keep, encode)
        if hidden is None:
            return torch.zeros((0, width), device=self.encoder.device)
        return hidden

    def encode_first(self, ids: np.ndarray, sequences: Sequences) -> Tensor:
        """Return the vector of the first special piece of every sequence, ``[sequence, hidden]``.

        Args:
            ids: The pieces of all texts, int64 ``[piece]``.
            sequences: The stretches of them that the encoder takes.
        """
        encoder = self.encoder
        vectors = torch.zeros((len(sequences.starts), encoder.hidden_size), device=encoder.device)

        def keep(output: Tensor, members: np.ndarray, _places: np.ndarray) -> None:
            vectors[self.send(members)] = output[:, 0].float()

        self._run(ids, sequences, keep, encoder.encode)
        return vectors

    def _run(
        self,
        ids: np.ndarray,
        sequences: Sequences,
        keep: Callable[[Tensor, np.ndarray, np.ndarray], None],
        encode: Encode,
    ) -> None:
        """Encode batches of sequences.

        Args:
            ids: The pieces of all texts.
            sequences: The stretches of them that the encoder takes.
            keep: Receives the vectors of a batch ``[member, column, hidden]``, its members, and the
                piece in each column, -1 for none ``[member, column]``.
            encode: Turns padded pieces and their mask into vectors.
        """
        encoder = self.encoder
        before, after = len(encoder.prefix), len(encoder.suffix)
        lengths = sequences.lengths + before + after

        @inference()  # inference mode is set for each thread
        def work(members: np.ndarray) -> None:
            width = int(-(-lengths[members].max() // encoder.multiple) * encoder.multiple)
            columns = np.arange(width)
            ends = lengths[members][:, None]
            places = sequences.starts[members][:, None] + columns - before
            inside = (columns >= before) & (columns < ends - after)
            padded = np.where(inside, ids[np.where(inside, places, 0)], encoder.padding)
            padded[:, :before] = encoder.prefix
            for place, special in enumerate(encoder.suffix):
                np.put_along_axis(padded, ends - after + place, special, axis=1)
            mask = self.send(columns < ends) if (ends < width).any() else None
            output = encode(self.send(padded), mask)
            keep(output, members, np.where(inside, places, -1))

        batches = cut_batches(lengths, self.budget.limit, encoder.multiple)
        run_batches(batches, self.budget, work, encoder.free, self.threads)

    def require_finite(self, hidden: Tensor) -> None:
        """Refuse vectors that are not finite.

        Raises:
            WorkerError: The encoder returned a value that is not finite, as may happen in fp16.
        """
        if not bool(torch.isfinite(hidden).all()):
            precision = self.config.precision
            cure = "; use bf16 or fp32" if precision == "fp16" else ""
            raise WorkerError(
                f"{self.config.model}: hidden states are not finite in {precision}{cure}"
            )

    def send(self, values: np.ndarray) -> Tensor:
        """Copy to the device, without waiting for it."""
        tensor = torch.from_numpy(np.ascontiguousarray(values))
        if self.encoder.device.type == "cpu":
            return tensor
        return tensor.pin_memory().to(self.encoder.device, non_blocking=True)
