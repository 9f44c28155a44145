"""The losses of one update: make rows, encode them in batches, accumulate their gradients."""

import contextlib
from collections.abc import Iterable, Iterator

import numpy as np
import torch

from pairweave.models.finetune.finetune_config import FinetuneConfig
from pairweave.models.finetune.finetune_model import Loaded, pad_rows
from pairweave.models.finetune.finetune_objectives import (
    Tensor,
    attention,
    consistency_loss,
    masked_piece_loss,
    parallel_loss,
    self_training_loss,
    self_training_target,
)
from pairweave.models.finetune.finetune_pairs import RowMaker, Rows, Texts, TrainingPairs, cut_rows


class Losses:
    """Computes the losses of updates and accumulates their gradients."""

    def __init__(self, loaded: Loaded, pairs: TrainingPairs, config: FinetuneConfig) -> None:
        """Keep the model, the pairs and the settings."""
        self._loaded, self._pairs, self._config = loaded, pairs, config
        self._maker = RowMaker(pairs, loaded.encoder, config, loaded.mask)
        encoder = loaded.encoder
        self._special = len(encoder.prefix) + len(encoder.suffix)
        self._parallel_layer = min(
            encoder.layer + 1, int(loaded.trainee.whole.config.num_hidden_layers)
        )

    def add_gradients(self, chosen: np.ndarray, epoch: int) -> dict[str, float]:
        """Accumulate the gradients of an update and return the loss of each objective.

        Args:
            chosen: Rows of the update's pairs.
            epoch: Number of the epoch, from 0.

        Returns:
            The mean over the pairs, by objective, in the configuration's order.
        """
        losses: dict[str, float] = {}
        pairwise = tuple(name for name in self._config.objectives if name in ("so", "co"))
        sums = self._alignment(chosen, pairwise) if pairwise else {}
        for name in self._config.objectives:
            if name == "mlm":
                total = self._language(self._maker.masked_sides(chosen, epoch), len(chosen))
            elif name == "tlm":
                total = self._language(self._maker.masked_pairs(chosen, epoch), len(chosen))
            elif name == "psi":
                rows = self._maker.parallel_or_not(chosen, epoch)
                total = self._parallel(rows, 2 * len(chosen))
            else:
                total = sums[name]
            losses[name] = total
        return losses

    def _language(self, groups: Iterable[Rows], count: int) -> float:
        """Accumulate the gradients of a masked language model: each group's mean, summed."""
        total, trainee = 0.0, self._loaded.trainee
        for rows in groups:
            for members in self._batches(rows):
                ids, mask, places = self._padded(rows.offsets, rows.ids, members)
                wanted = np.where(places >= 0, rows.labels[places], -1)
                row, column = np.nonzero(wanted >= 0)
                if not len(row):
                    continue
                labels = self._send(wanted[row, column])
                row_places, column_places = self._send(row), self._send(column)
                with self._arithmetic():
                    scores = trainee.vocabulary_scores(ids, mask, row_places, column_places)
                loss = masked_piece_loss(scores, labels, row_places, len(members))
                total += self._descend(loss.sum() / count)
        return total

    def _parallel(self, groups: Iterable[Rows], count: int) -> float:
        """Accumulate the gradients of parallel sentence identification: the mean over all rows."""
        total, trainee = 0.0, self._loaded.trainee
        assert trainee.parallel_head is not None
        for rows in groups:
            for members in self._batches(rows):
                ids, mask, _ = self._padded(rows.offsets, rows.ids, members)
                with self._arithmetic():
                    hidden = trainee.hidden(ids, mask, self._parallel_layer)
                scores = trainee.parallel_head(hidden.float())
                loss = parallel_loss(scores, self._send(rows.answers[members]))
                total += self._descend(loss.sum() / count)
        return total

    def _alignment(self, chosen: np.ndarray, names: tuple[str, ...]) -> dict[str, float]:
        """Accumulate the gradients of self-training and consistency, which share their vectors."""
        source, target = self._pairs.source.take(chosen), self._pairs.target.take(chosen)
        widest = source.lengths + target.lengths
        sums = dict.fromkeys(names, 0.0)
        for members in cut_rows(widest, 2 * self._special, self._config.token_budget):
            sides = [self._side(texts, members) for texts in (source, target)]
            lengths = [self._send(texts.lengths[members]) for texts in (source, target)]
            cells = sides[0][2][:, :, None] & sides[1][2][:, None, :]
            links = self._links(sides, cells) if "so" in names else None
            forward, reverse = self._attend(sides, cells)
            losses = {}
            if links is not None:
                losses["so"] = self_training_loss(forward, reverse, links, *lengths)
            if "co" in names:
                losses["co"] = consistency_loss(forward, reverse, *lengths)
            means = {name: loss.sum() / len(chosen) for name, loss in losses.items()}
            torch.stack(list(means.values())).sum().backward()
            for name, mean in means.items():
                sums[name] += float(mean.detach())
        return sums

    def _links(self, sides: list[tuple[Tensor, ...]], cells: Tensor) -> Tensor:
        """Return the self-training target, computed without dropout, as in `align`."""
        trainee = self._loaded.trainee
        training = trainee.training
        trainee.eval()
        with torch.no_grad():
            probabilities = self._attend(sides, cells)
        trainee.train(training)
        return self_training_target(
            *probabilities, self._config.threshold, sides[0][3], sides[1][3]
        )

    def _attend(self, sides: list[tuple[Tensor, ...]], cells: Tensor) -> tuple[Tensor, Tensor]:
        trainee, layer = self._loaded.trainee, self._loaded.encoder.layer
        with self._arithmetic():
            source, target = (trainee.hidden(ids, mask, layer) for ids, mask, _, _ in sides)
        return attention(source, target, cells)

    def _side(self, texts: Texts, members: np.ndarray) -> tuple[Tensor, ...]:
        """Return padded pieces, the mask of pieces, the mask of text pieces, and their words."""
        ids, mask, places = self._padded(texts.offsets, texts.ids, members)
        real = places >= 0
        words = np.where(real, texts.words[places], -1).astype(np.int64)
        return ids, mask, self._send(real), self._send(words)

    def _batches(self, rows: Rows) -> Iterator[np.ndarray]:
        return cut_rows(rows.lengths, self._special, self._config.token_budget)

    def _padded(
        self, offsets: np.ndarray, ids: np.ndarray, members: np.ndarray
    ) -> tuple[Tensor, Tensor, np.ndarray]:
        padded, mask, places = pad_rows(ids, offsets, members, self._loaded.encoder)
        return self._send(padded), self._send(mask), places

    def _arithmetic(self) -> contextlib.AbstractContextManager[object]:
        """Return the context of the encoder's forward pass."""
        if self._config.precision == "fp32":
            return contextlib.nullcontext()
        return torch.autocast(self._loaded.encoder.device.type, dtype=torch.bfloat16)

    def _descend(self, loss: Tensor) -> float:
        loss.backward()
        return float(loss.detach())

    def _send(self, values: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(values))
        return tensor.to(self._loaded.encoder.device)
