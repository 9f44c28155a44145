"""Links from the hidden states of sentence pairs, many pairs at once.

Every head takes padded batches with their lengths and works on the device, without a loop over
cells. Directed heads return links of both directions; the others return one set twice.
"""

import dataclasses
from typing import TypeAlias

import torch

from pairweave.models.encoder.encoder_config import HeadConfig
from pairweave.models.encoder.optimal_transport import plan, scaled
from pairweave.models.encoder.piece_similarity import closeness, cosine_similarity, within

Tensor: TypeAlias = torch.Tensor


@dataclasses.dataclass(frozen=True, slots=True)
class PieceLinks:
    """Links of the pieces of several pairs.

    Attributes:
        forward: Links of the forward direction, bool ``[pair, source, target]``.
        reverse: Links of the reverse direction, bool ``[pair, source, target]``.
        forward_probability: Probability of each, float32, in [0, 1].
        reverse_probability: The same for the reverse links.
    """

    forward: Tensor
    reverse: Tensor
    forward_probability: Tensor
    reverse_probability: Tensor


def extract(
    source: Tensor,
    target: Tensor,
    source_lengths: Tensor,
    target_lengths: Tensor,
    config: HeadConfig,
) -> PieceLinks:
    """Extract links from hidden states.

    Args:
        source: Vectors of the source pieces, padded ``[pair, source, hidden]``.
        target: Vectors of the target pieces, padded ``[pair, target, hidden]``.
        source_lengths: Pieces of each source, at least 1 ``[pair]``.
        target_lengths: Pieces of each target, at least 1 ``[pair]``.
        config: The head and its settings.

    Returns:
        The links. The probability is p(target | source) and p(source | target) for ``softmax``
        and ``entmax15``, the similarity for SimAlign's heads, and the plan scaled to [0, 1] for
        the transports.
    """
    rows = within(source_lengths, source.shape[1])
    columns = within(target_lengths, target.shape[1])
    cells = rows[:, :, None] & columns[:, None, :]
    source, target = source.float(), target.float()
    if config.head in ("softmax", "entmax15"):
        return _attention(source, target, cells, config)
    if config.head in ("ot", "unbalanced_ot", "partial_ot"):
        moved = scaled(plan(source, target, source_lengths, target_lengths, config), cells)
        links = (moved > config.effective_threshold) & cells
        probability = moved.float()
        return PieceLinks(links, links, probability, probability)
    similarity = cosine_similarity(source, target)
    if config.distortion:
        similarity = similarity * closeness(
            source_lengths, target_lengths, cells, config.distortion
        ).to(similarity.dtype)
    similarity = similarity.masked_fill(~cells, -1.0)
    # The cosine of a vector with itself may round to more than 1.
    probability = similarity.clamp(0.0, 1.0)
    if config.head == "match":
        links = best_matching(similarity, source_lengths, target_lengths)
        return PieceLinks(links, links, probability, probability)
    forward, reverse = row_best(similarity) & cells, column_best(similarity) & cells
    if config.head == "itermax":
        links = itermax(similarity, forward & reverse, source_lengths, target_lengths)
        return PieceLinks(links, links, probability, probability)
    return PieceLinks(forward, reverse, probability, probability)


def _attention(source: Tensor, target: Tensor, cells: Tensor, config: HeadConfig) -> PieceLinks:
    """Link pieces whose attention is above a threshold.

    The dot products are normalised in both directions (Dou and Neubig 2021, section 2.1);
    awesome-align prints the intersection.
    """
    scores = torch.bmm(source, target.transpose(1, 2)).masked_fill_(~cells, float("-inf"))
    if config.head == "softmax":
        forward, reverse = torch.softmax(scores, dim=2), torch.softmax(scores, dim=1)
    else:
        forward, reverse = entmax15(scores, dim=2), entmax15(scores, dim=1)
    # A padded row or column has nothing to normalise over and becomes NaN.
    forward, reverse = forward.masked_fill_(~cells, 0.0), reverse.masked_fill_(~cells, 0.0)
    threshold = config.effective_threshold
    return PieceLinks(forward > threshold, reverse > threshold, forward, reverse)


def entmax15(scores: Tensor, dim: int) -> Tensor:
    """Normalise scores to a sparse distribution (1.5-entmax; Peters et al. 2019, algorithm 2).

    The result is ``max(scores / 2 - tau, 0) ** 2`` with the ``tau`` that makes it sum to 1. A
    score of minus infinity gets 0.

    Args:
        scores: Any scores, at least one of them finite along ``dim``.
        dim: Dimension that sums to 1.
    """
    halves = (scores - scores.amax(dim, keepdim=True)) / 2
    # Scores 2 below the best one get 0, so -4 is equivalent to minus infinity and keeps the running
    # sums finite.
    ordered = halves.clamp(min=-4.0).sort(dim=dim, descending=True).values
    shape = [1] * scores.dim()
    shape[dim] = -1
    count = torch.arange(1, scores.shape[dim] + 1, device=scores.device, dtype=scores.dtype).view(
        shape
    )
    mean = ordered.cumsum(dim) / count
    square = (ordered * ordered).cumsum(dim) / count
    spread = count * (square - mean * mean)
    tau = mean - ((1 - spread) / count).clamp(min=0).sqrt()
    support = (tau <= ordered).sum(dim, keepdim=True).clamp(min=1)
    return (halves - tau.gather(dim, support - 1)).clamp(min=0) ** 2


def row_best(similarity: Tensor) -> Tensor:
    """Mark the first best cell of each row."""
    best = first_best(similarity, 2)
    return torch.zeros_like(similarity, dtype=torch.bool).scatter_(2, best, True)  # noqa: FBT003


def column_best(similarity: Tensor) -> Tensor:
    """Mark the first best cell of each column."""
    best = first_best(similarity, 1)
    return torch.zeros_like(similarity, dtype=torch.bool).scatter_(1, best, True)  # noqa: FBT003


def first_best(similarity: Tensor, dim: int) -> Tensor:
    """Return the first index of the maximum along a dimension, which is kept with size 1.

    `torch.argmax` does not define which of several maxima it returns, and devices differ.
    """
    places = torch.arange(similarity.shape[dim], device=similarity.device)
    places = places.view([-1 if axis == dim else 1 for axis in range(similarity.dim())])
    greatest = similarity == similarity.amax(dim, keepdim=True)
    return places.where(greatest, similarity.shape[dim]).amin(dim, keepdim=True)


def itermax(
    similarity: Tensor,
    links: Tensor,
    source_lengths: Tensor,
    target_lengths: Tensor,
    rounds: int = 2,
    discount: float = 0.9,
) -> Tensor:
    """Add mutual best links of unlinked pieces (Itermax; Jalili Sabet et al. 2020).

    A round multiplies the similarity of cells with one linked side by ``discount``, sets that of
    cells with two to 0, and adds the cells that are then the best of their row and column. Pairs
    with a side of at most two pieces, or without unlinked pieces on a side, are not changed, as in
    SimAlign's program.

    Args:
        similarity: Similarities in [0, 1], -1 in the padding ``[pair, source, target]``.
        links: Mutual best links, which are the first round.
        source_lengths: Pieces of each source ``[pair]``.
        target_lengths: Pieces of each target ``[pair]``.
        rounds: Total number of rounds (2 in SimAlign).
        discount: ``alpha`` of the paper (0.9 in SimAlign).
    """
    rows = within(source_lengths, similarity.shape[1])
    columns = within(target_lengths, similarity.shape[2])
    cells = rows[:, :, None] & columns[:, None, :]
    active = torch.minimum(source_lengths, target_lengths) > 2
    for _ in range(rounds - 1):
        free_rows = ~links.any(2) & rows
        free_columns = ~links.any(1) & columns
        active = active & free_rows.any(1) & free_columns.any(1)
        one = free_rows[:, :, None] | free_columns[:, None, :]
        both = free_rows[:, :, None] & free_columns[:, None, :]
        weight = torch.where(both, 1.0, torch.where(one, discount, 0.0)).to(similarity.dtype)
        lowered = torch.where(cells, similarity * weight, -1.0)
        new = row_best(lowered) & column_best(lowered) & one & cells & active[:, None, None]
        active = active & (new & ~links).flatten(1).any(1)
        links = links | new
    return links


def best_matching(similarity: Tensor, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
    """Link pieces one to one with the maximum sum of similarities (Match; same paper).

    Solved exactly on the CPU, pair by pair, by SciPy's shortest augmenting paths
    (Crouse 2016).

    Args:
        similarity: Similarities, with arbitrary padding ``[pair, source, target]``.
        source_lengths: Pieces of each source ``[pair]``.
        target_lengths: Pieces of each target ``[pair]``.
    """
    from scipy.optimize import linear_sum_assignment

    values = similarity.cpu().double().numpy()
    links = torch.zeros(similarity.shape, dtype=torch.bool)
    marks = links.numpy()
    sizes = zip(source_lengths.tolist(), target_lengths.tolist(), strict=True)
    for pair, (sources, targets) in enumerate(sizes):
        matched = linear_sum_assignment(values[pair, :sources, :targets], maximize=True)
        marks[pair][matched] = True
    return links.to(similarity.device)
