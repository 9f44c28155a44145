"""YiSi-2 on tables of pairs, with the language model's probability of the target."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import torch

from pairweave.models.encoder.batching import Budget, cut_batches, prefetch, run_batches
from pairweave.models.encoder.blocks import CutPairs, cut_blocks, cut_pairs
from pairweave.models.encoder.encoder import OUT_OF_MEMORY, inference
from pairweave.models.encoder.layer_states import LayerStates
from pairweave.models.encoder.piece_encoder import PieceEncoder
from pairweave.models.encoder.piece_similarity import padded
from pairweave.models.similarity.idf import Idf, digest_of
from pairweave.models.similarity.left_to_right import LeftToRight
from pairweave.models.similarity.similarity_options import SimilarityConfig
from pairweave.models.similarity.vector_projection import Projection
from pairweave.models.similarity.yisi import best_similarities, f_score, weighted_means
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.evidence import YISI_COLUMNS, layer_column

Tensor: TypeAlias = torch.Tensor

_BLOCK_CHARACTERS = {"cpu": 1 << 18, "cuda": 1 << 22}
"""Amount of text whose hidden states are in memory at once: about 0.2 GB in fp32 on a CPU."""

_BLOCK_CELLS = {"cpu": 1 << 18, "cuda": 1 << 21}
"""Number of similarities computed at once."""


class YisiScorer:
    """An encoder that compares the sides of pairs; one call at a time."""

    def __init__(
        self,
        config: SimilarityConfig,
        pieces: PieceEncoder,
        idf: Idf,
        projection: Projection | None = None,
        layers: Sequence[int] = (),
    ) -> None:
        """Keep the parts, and load the language model if it has a weight.

        Args:
            config: The settings.
            pieces: The encoder.
            idf: Document frequencies of its pieces.
            projection: Maps source vectors to target vectors; None leaves them unchanged.
            layers: Numbers of the layers to compare in one pass, from the front: first the one that
                gives the score, then those that get a column of their own, which may include it.
                The encoder must have all of them. If there are none, the encoder's own layer is
                compared.

        Raises:
            ConfigError: The counts or the map belong to another encoder or layer, or the encoder
                has no language model.
        """
        encoder = pieces.encoder
        self.config = config
        self._pieces = pieces
        if idf.pieces != digest_of(encoder.tokenizer):
            raise ConfigError(
                f"--idf: the pieces that were counted are not those of {pieces.config.model}; give "
                "the counts of a run with this encoder, or leave --idf out"
            )
        self._weights = {side: idf.weights(side) for side in ("source", "target")}
        self._matrix: Tensor | None = None
        if projection is not None:
            _check_projection(projection, pieces)
            self._matrix = torch.from_numpy(projection.matrix).to(encoder.device)
        self._language_model = LeftToRight(pieces) if config.lm_weight else None
        self._cells = Budget(_BLOCK_CELLS[encoder.device.type], OUT_OF_MEMORY)
        self._swept = tuple(layers[1:])
        self._states = LayerStates(encoder, tuple(dict.fromkeys(layers))) if layers else None

    def score_or_reject(self, table: pa.Table) -> tuple[pa.Table, dict[int, tuple[str, str]]]:
        """Score pairs; give up the pairs that cannot be encoded.

        Args:
            table: Pairs (with the texts of `transforms.schemas.PAIRS`).

        Returns:
            A float32 column for each of `transforms.filtering.evidence.YISI_COLUMNS`, a row for
            each pair that is not rejected, in order; and the reason and a detail of each rejected
            pair, by row. A side without pieces has similarity 0. ``lm`` is the geometric mean of
            the probabilities of the target's pieces, present if the language model has a weight.
            Each layer that has a column of its own follows (`evidence.layer_column`).

        Raises:
            WorkerError: The encoder returned a value that is not finite.
        """
        names = YISI_COLUMNS if self._language_model is not None else YISI_COLUMNS[:3]
        names = (*names, *map(layer_column, self._swept))
        others = [] if self._states is None else self._states.layers[1:]
        values = {name: np.zeros(table.num_rows, np.float32) for name in names}
        rejected: dict[int, tuple[str, str]] = {}
        for block, layers in _encoded_layers(table, self._pieces, self._states):
            rejected |= block.rejected
            precision, recall = self._compare(block, layers[0])
            columns = {
                "yisi2": f_score(precision, recall, self.config.alpha),
                "yisi2_precision": precision,
                "yisi2_recall": recall,
            }
            if self._language_model is not None:
                columns["lm"] = np.exp(self._language_model.mean_log_probabilities(block.target))
            if self._states is not None and self._states.layers[0] in self._swept:
                columns[layer_column(self._states.layers[0])] = columns["yisi2"]
            for layer, hidden in zip(others, layers[1:], strict=True):
                columns[layer_column(layer)] = f_score(
                    *self._compare(block, hidden), self.config.alpha
                )
            for name in names:
                values[name][block.rows] = columns[name]
        kept = np.ones(table.num_rows, np.bool_)
        kept[list(rejected)] = False
        scores = pa.table({name: pa.array(column[kept]) for name, column in values.items()})
        return scores, dict(sorted(rejected.items()))

    @inference()
    def _compare(self, block: CutPairs, hidden: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Return precision and recall of a block's pairs, float64 ``[pair]`` each."""
        source, target = block.source, block.target
        units = _source_vectors(block, hidden, self._matrix), hidden[len(source.ids) :]
        weights = [
            self._pieces.send(self._weights[side][pieces.ids])
            for side, pieces in (("source", source), ("target", target))
        ]
        sizes = source.lengths, target.lengths
        means = np.zeros((2, len(block.rows)))
        real = np.flatnonzero((sizes[0] > 0) & (sizes[1] > 0))

        @inference()
        def work(members: np.ndarray) -> None:
            pairs = real[members]
            starts = [self._pieces.send(side.offsets[pairs]) for side in (source, target)]
            lengths = [self._pieces.send(size[pairs]) for size in sizes]
            sides = [
                padded(unit, start, int(size[pairs].max()))
                for unit, start, size in zip(units, starts, sizes, strict=True)
            ]
            best = best_similarities(*sides, *lengths)
            for row, similarity, weight, start, length in zip(
                (1, 0), best, weights, starts, lengths, strict=True
            ):
                inside = torch.arange(similarity.shape[1], device=length.device) < length[:, None]
                shares = padded(weight, start, similarity.shape[1]).masked_fill(~inside, 0.0)
                means[row, pairs] = weighted_means(similarity, shares).cpu().numpy()

        widest = np.maximum(*sizes)[real]
        batches = cut_batches(widest * widest, self._cells.limit)
        free = self._pieces.encoder.free
        run_batches(batches, self._cells, work, free, self._pieces.threads)
        return means[0], means[1]


def encoded_blocks(table: pa.Table, pieces: PieceEncoder) -> Iterator[tuple[CutPairs, Tensor]]:
    """Yield pairs with the vectors of all their pieces, the longest pairs first.

    Args:
        table: Pairs.
        pieces: The encoder.

    Raises:
        WorkerError: The encoder returned a value that is not finite.
    """
    for block, layers in _encoded_layers(table, pieces, None):
        yield block, layers[0]


def _encoded_layers(
    table: pa.Table, pieces: PieceEncoder, states: LayerStates | None
) -> Iterator[tuple[CutPairs, Tensor]]:
    """Yield pairs with the vectors of all their pieces in several layers.

    Args:
        table: Pairs.
        pieces: The encoder.
        states: The layers whose vectors are wanted; None for only the encoder's own layer.

    Yields:
        Pairs, and vectors ``[layer, piece, hidden]``.

    Raises:
        WorkerError: The encoder returned a value that is not finite.
    """
    characters = _BLOCK_CHARACTERS[pieces.encoder.device.type]
    characters //= 1 if states is None else len(states.layers)
    blocks = prefetch(
        cut_blocks(table, characters),
        lambda rows: cut_pairs(table, rows, pieces.encoder, pieces.config),
    )
    for block in blocks:
        if states is None:
            layers = pieces.encode(block.ids, block.sequences)[None]
        else:
            layers = pieces.encode_layers(block.ids, block.sequences, states)
        pieces.require_finite(layers)
        yield block, layers


def _source_vectors(block: CutPairs, hidden: Tensor, matrix: Tensor | None) -> Tensor:
    source = hidden[: len(block.source.ids)]
    return source if matrix is None else source.float() @ matrix


def _check_projection(projection: Projection, pieces: PieceEncoder) -> None:
    """Refuse a map that was fitted on other vectors.

    Raises:
        ConfigError: It was fitted with another encoder or layer.
    """
    encoder = pieces.encoder
    if projection.encoder != encoder.digest or projection.layer != encoder.layer:
        raise ConfigError(
            f"--projection: was fitted on layer {projection.layer} of encoder "
            f"{projection.encoder[:12]}; the vectors here are from layer {encoder.layer} of "
            f"{pieces.config.model} ({encoder.digest[:12]}); fit one on these with projection_fit"
        )
    if len(projection.matrix) != encoder.hidden_size:
        raise ConfigError(
            f"--projection: maps vectors of {len(projection.matrix)} numbers, but those of "
            f"{pieces.config.model} have {encoder.hidden_size}"
        )
