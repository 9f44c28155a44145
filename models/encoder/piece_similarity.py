"""Similarities of the pieces of sentence pairs, used by all heads."""

from typing import TypeAlias

import torch

Tensor: TypeAlias = torch.Tensor


def within(lengths: Tensor, width: int) -> Tensor:
    """Return the mask of pieces, bool ``[pair, width]``."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]


def padded(units: Tensor, starts: Tensor, width: int) -> Tensor:
    """Gather the vectors of some pairs, ``[pair, width, hidden]``; the padding is arbitrary."""
    places = starts[:, None] + torch.arange(width, device=units.device)
    return units[places.clamp(max=len(units) - 1)]


def cosines(source: Tensor, target: Tensor) -> Tensor:
    """Return cosines, ``[pair, source, target]``."""
    source = torch.nn.functional.normalize(source, dim=2, eps=1e-12)
    target = torch.nn.functional.normalize(target, dim=2, eps=1e-12)
    return torch.bmm(source, target.transpose(1, 2))


def cosine_similarity(source: Tensor, target: Tensor) -> Tensor:
    """Return cosines moved to [0, 1], ``[pair, source, target]``."""
    return (cosines(source, target) + 1) / 2


def closeness(
    source_lengths: Tensor, target_lengths: Tensor, cells: Tensor, distortion: float
) -> Tensor:
    """Return how near each cell is to the diagonal, float64 ``[pair, source, target]``.

    It is ``1 - distortion * (i / (m - 1) - j / (n - 1)) ** 2`` for sides of ``m`` and ``n``
    pieces (Jalili Sabet et al. 2020, section 3.2), and 1 where a side has a single piece.
    """
    device = cells.device
    source_spans = (source_lengths - 1).clamp(min=1).double()[:, None]
    target_spans = (target_lengths - 1).clamp(min=1).double()[:, None]
    rows = torch.arange(cells.shape[1], device=device).double() / source_spans
    columns = torch.arange(cells.shape[2], device=device).double() / target_spans
    near = 1 - (columns[:, None, :] - rows[:, :, None]) ** 2 * distortion
    short = (source_lengths < 2) | (target_lengths < 2)
    return torch.where(short[:, None, None], 1.0, near)
