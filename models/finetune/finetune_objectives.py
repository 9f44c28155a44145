"""The objectives of fine-tuning: losses of hidden states and scores, one per row.

All are those of Dou and Neubig (2021, section 2.2), scaled as in awesome-align's program. They
return one loss per row, so that an update can be split into any batches.
"""

from typing import TypeAlias

import torch

Tensor: TypeAlias = torch.Tensor

_LOW = -1e4
"""Score of a padding cell: its exponential and gradient are 0."""


class ParallelHead(torch.nn.Module):  # type: ignore[misc]
    """Scores whether two sides are translations, from the vector of the first special piece."""

    def __init__(self, hidden_size: int, spread: float) -> None:
        """Draw normal weights with standard deviation ``spread``."""
        super().__init__()
        self.transform = torch.nn.Linear(hidden_size, hidden_size)
        self.decoder = torch.nn.Linear(hidden_size, 2)
        for layer in (self.transform, self.decoder):
            torch.nn.init.normal_(layer.weight, std=spread)
            torch.nn.init.zeros_(layer.bias)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the scores of no and yes.

        Args:
            hidden: Vectors of a layer ``[row, piece, hidden]``.

        Returns:
            Scores ``[row, 2]``.
        """
        return self.decoder(torch.tanh(self.transform(hidden[:, 0])))


def masked_piece_loss(scores: Tensor, labels: Tensor, rows: Tensor, count: int) -> Tensor:
    """Return each row's mean cross entropy over its masked pieces.

    Args:
        scores: Scores of the vocabulary at masked pieces ``[masked piece, vocabulary]``.
        labels: The original pieces ``[masked piece]``.
        rows: The row of each ``[masked piece]``.
        count: Number of rows.

    Returns:
        Losses ``[row]``; 0 for a row without a masked piece.
    """
    losses = torch.nn.functional.cross_entropy(scores.float(), labels, reduction="none")
    sums = losses.new_zeros(count).index_add(0, rows, losses)
    sizes = torch.bincount(rows, minlength=count)
    return sums / sizes.clamp(min=1)


def attention(source: Tensor, target: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """Return p(target | source) and p(source | target) of each cell (section 2.1).

    Unlike `models.encoder.heads`, this is differentiable.

    Args:
        source: Vectors of the source pieces ``[pair, source, hidden]``.
        target: Vectors of the target pieces ``[pair, target, hidden]``.
        cells: True where both sides have a piece ``[pair, source, target]``.

    Returns:
        Two arrays of probabilities ``[pair, source, target]``, 0 in the padding.
    """
    scores = torch.bmm(source.float(), target.float().transpose(1, 2)).masked_fill(~cells, _LOW)
    return torch.softmax(scores, dim=2) * cells, torch.softmax(scores, dim=1) * cells


def self_training_target(
    forward: Tensor,
    reverse: Tensor,
    threshold: float,
    source_words: Tensor,
    target_words: Tensor,
) -> Tensor:
    """Return the links that the model itself finds, extended to whole words.

    Two pieces are linked if their probability exceeds the threshold in both directions. Two words
    are linked if any of their pieces are; then all their pieces are linked.

    Args:
        forward: p(target | source) ``[pair, source, target]``.
        reverse: p(source | target) ``[pair, source, target]``.
        threshold: Both probabilities must exceed it.
        source_words: The word of each source piece, -1 for none ``[pair, source]``.
        target_words: The same for the target ``[pair, target]``.

    Returns:
        Booleans ``[pair, source, target]``.
    """
    linked = (forward > threshold) & (reverse > threshold)
    known = (source_words >= 0)[:, :, None] & (target_words >= 0)[:, None, :]
    rows, columns = source_words.clamp(min=0), target_words.clamp(min=0)
    height, width = int(rows.max()) + 1, int(columns.max()) + 1
    pairs = torch.arange(len(linked), device=linked.device)[:, None, None]
    flat = (pairs * height + rows[:, :, None]) * width + columns[:, None, :]
    words = torch.zeros(len(linked) * height * width, dtype=torch.bool, device=linked.device)
    words[flat[linked & known]] = True
    return words[flat] & known


def self_training_loss(
    forward: Tensor, reverse: Tensor, target: Tensor, source_lengths: Tensor, target_lengths: Tensor
) -> Tensor:
    """Return minus the mean probability of the target's links, in both directions.

    The value is that of awesome-align's program, which is twice the paper's.

    Args:
        forward: p(target | source) ``[pair, source, target]``.
        reverse: p(source | target) ``[pair, source, target]``.
        target: Links to strengthen ``[pair, source, target]``.
        source_lengths: Pieces of each source ``[pair]``.
        target_lengths: Pieces of each target ``[pair]``.

    Returns:
        Losses ``[pair]``.
    """
    sums = ((probability * target).sum((1, 2)) for probability in (forward, reverse))
    from_source, from_target = sums
    return -(from_source / source_lengths + from_target / target_lengths)


def consistency_loss(
    forward: Tensor, reverse: Tensor, source_lengths: Tensor, target_lengths: Tensor
) -> Tensor:
    """Return minus the agreement of both directions: the trace of their product.

    Args:
        forward: p(target | source) ``[pair, source, target]``.
        reverse: p(source | target) ``[pair, source, target]``.
        source_lengths: Pieces of each source ``[pair]``.
        target_lengths: Pieces of each target ``[pair]``.

    Returns:
        Losses ``[pair]``, in [-1, 0].
    """
    return -(forward * reverse).sum((1, 2)) / torch.minimum(source_lengths, target_lengths)


def parallel_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the cross entropy of telling translations from other pairs.

    Args:
        scores: Scores of no and yes ``[row, 2]``.
        labels: 1 where the sides are translations ``[row]``.

    Returns:
        Losses ``[row]``.
    """
    return torch.nn.functional.cross_entropy(scores.float(), labels, reduction="none")
