"""The outputs of several layers of an encoder, from one pass."""

import threading
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch

from pairweave.models.encoder.encoder import Encoder, inference, list_of_layers

Tensor: TypeAlias = torch.Tensor


class LayerStates:
    """Reads the outputs of some layers while a loaded encoder runs.

    Each output is equal to that of an encoder cut after this layer. Several threads may call it at
    once.
    """

    def __init__(self, encoder: Encoder, layers: Sequence[int]) -> None:
        """Watch the layers.

        Args:
            encoder: The encoder, loaded up to the deepest of the layers or further.
            layers: Numbers of layers, from the front; 0 is the embeddings.

        Raises:
            ConfigError: The structure of the family's layers is unknown.
        """
        self.layers = tuple(layers)
        self._encoder = encoder
        self._states = threading.local()
        modules = list_of_layers(encoder.model.transformer, encoder.layer)
        for layer in self.layers:
            if layer == 0:
                modules[0].register_forward_pre_hook(self._keep_embeddings, with_kwargs=True)
            elif layer < encoder.layer:
                modules[layer - 1].register_forward_hook(self._keeper(layer))

    def _keep(self, layer: int, states: Tensor) -> None:
        self._states.__dict__[str(layer)] = states

    def _keep_embeddings(self, module: Any, inputs: Any, named: Any) -> None:  # noqa: ANN401, ARG002
        self._keep(0, inputs[0] if inputs else named["hidden_states"])

    def _keeper(self, layer: int) -> Any:  # noqa: ANN401 - a hook of torch
        def keep(module: Any, inputs: Any, output: Any) -> None:  # noqa: ANN401, ARG001
            self._keep(layer, output[0] if isinstance(output, tuple) else output)

        return keep

    def encode(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Return the outputs of all layers, side by side.

        Args:
            ids: Pieces with the special ones, padded ``[sequence, piece]``.
            mask: True for pieces, False for padding; None if there is no padding.

        Returns:
            Vectors ``[sequence, piece, layer * hidden]``.
        """
        with inference():
            self._keep(self._encoder.layer, self._encoder.encode(ids, mask))
            states = self._states.__dict__
            outputs = torch.cat([states[str(layer)] for layer in self.layers], dim=-1)
            states.clear()
            return outputs
