"""Optimal transport between the pieces of sentence pairs, many pairs at once.

Source: Arase, Bao and Yokoi (2023), "Unbalanced Optimal Transport for Unbalanced Word
Alignment"; Benamou et al. (2015) and Chizat et al. (2018) for the scaling of all three problems.

Costs, masses, the weight of the entropy and the scaling of the plan are those of OTAlign, the
authors' program. Differences: OTAlign can encode both sides together and centres the vectors; here
each side is encoded separately, without centring. OTAlign solves the balanced and the partial
problem without entropy by default; here they always have it. OTAlign stops at a change of 1e-6,
this module at 1e-9. OTAlign tunes ``tau`` (`relaxation` and `moved_mass`) and the threshold on a
development set; here they have defaults.
"""

from collections.abc import Callable
from typing import TypeAlias

import torch

from pairweave.models.encoder.encoder_config import HeadConfig
from pairweave.models.encoder.piece_similarity import closeness, cosine_similarity, within

Tensor: TypeAlias = torch.Tensor

_EPSILON = 1e-10
"""Avoids division by zero when a constant matrix is scaled (as in OTAlign), and zero mass on a side
of zero vectors."""

_CHECK_EVERY = 10


def plan(
    source: Tensor,
    target: Tensor,
    source_lengths: Tensor,
    target_lengths: Tensor,
    config: HeadConfig,
) -> Tensor:
    """Return the mass that each source piece sends to each target piece.

    Args:
        source: Vectors of the source pieces, padded ``[pair, source, hidden]``.
        target: Vectors of the target pieces, padded ``[pair, target, hidden]``.
        source_lengths: Pieces of each source ``[pair]``.
        target_lengths: Pieces of each target ``[pair]``.
        config: The problem and its settings.

    Returns:
        Mass, float64, 0 in the padding ``[pair, source, target]``.
    """
    source, target = source.double(), target.double()
    rows = within(source_lengths, source.shape[1])
    columns = within(target_lengths, target.shape[1])
    cells = rows[:, :, None] & columns[:, None, :]
    cost = cost_of(source, target, source_lengths, target_lengths, cells, config)
    source_mass = _mass(source, rows, config)
    target_mass = _mass(target, columns, config)
    solve = {"ot": balanced, "unbalanced_ot": unbalanced, "partial_ot": partial}[config.head]
    return solve(cost, source_mass, target_mass, config)


def cost_of(
    source: Tensor,
    target: Tensor,
    source_lengths: Tensor,
    target_lengths: Tensor,
    cells: Tensor,
    config: HeadConfig,
) -> Tensor:
    """Return the cost of moving mass, scaled to [0, 1] in each pair, ``[pair, source, target]``.

    Cosines are mapped to [0, 1], Euclidean distances scaled and inverted; these similarities are
    lowered off the diagonal, scaled and converted to costs.
    """
    if config.cost == "cosine":
        similarity = cosine_similarity(source, target)
    else:
        distance = torch.cdist(source, target, compute_mode="donot_use_mm_for_euclid_dist")
        similarity = 1 - scaled(distance, cells)
    if config.distortion:
        near = closeness(source_lengths, target_lengths, cells, config.distortion)
        similarity = similarity * near
    return (1 - scaled(similarity, cells)).masked_fill(~cells, 0.0)


def scaled(values: Tensor, cells: Tensor) -> Tensor:
    """Scale the cells of each pair to [0, 1]; the padding becomes 0."""
    least = values.masked_fill(~cells, float("inf")).amin((1, 2), keepdim=True)
    most = values.masked_fill(~cells, float("-inf")).amax((1, 2), keepdim=True)
    return ((values - least + _EPSILON) / (most - least + _EPSILON)).masked_fill(~cells, 0.0)


def balanced(cost: Tensor, source: Tensor, target: Tensor, config: HeadConfig) -> Tensor:
    """Move all mass, both sides scaled to 1 (Cuturi 2013).

    Args:
        cost: Costs in [0, 1] ``[pair, source, target]``.
        source: Mass of the source pieces, 0 in the padding ``[pair, source]``.
        target: Mass of the target pieces, 0 in the padding ``[pair, target]``.
        config: Regularization, rounds and tolerance.
    """
    source = source / source.sum(1, keepdim=True)
    target = target / target.sum(1, keepdim=True)
    kernel = torch.exp(-cost / config.regularization)

    def turn(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        sent = _divide(target, _columns(kernel, state[0]))
        return _divide(source, _rows(kernel, sent)), sent

    scale, sent = _iterate(turn, (torch.ones_like(source), torch.ones_like(target)), config)
    return scale[:, :, None] * kernel * sent[:, None, :]


def unbalanced(cost: Tensor, source: Tensor, target: Tensor, config: HeadConfig) -> Tensor:
    """Move mass, with a Kullback-Leibler cost for mass left over or created.

    The entropy is taken against the product of the two masses, as in POT since its version 0.9.
    Arguments are those of `balanced`.
    """
    kernel = torch.exp(-cost / config.regularization) * source[:, :, None] * target[:, None, :]
    power = config.relaxation / (config.relaxation + config.regularization)
    # If one side has more mass, its scaling grows and the other's shrinks by the same factor, which
    # cancels in the plan: the ratio of the masses to a power that grows with relaxation over
    # regularization. Scaling both sides to the same mass removes the factor before it overflows.
    lean = (target.sum(1, keepdim=True) / source.sum(1, keepdim=True)).sqrt()
    from_source, to_target = source * lean, target / lean

    def turn(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        scale = _divide(from_source, _rows(kernel, state[1])) ** power
        return scale, _divide(to_target, _columns(kernel, scale)) ** power

    scale, sent = _iterate(turn, (torch.ones_like(source), torch.ones_like(target)), config)
    return scale[:, :, None] * kernel * sent[:, None, :]


def partial(cost: Tensor, source: Tensor, target: Tensor, config: HeadConfig) -> Tensor:
    """Move a share of the lighter side's mass, and no more from any piece than it has.

    Dykstra's projections onto the three constraints (Benamou et al. 2015, section 5) only scale
    rows, columns and the whole, so three scalings replace the matrices of the original.
    Arguments are those of `balanced`.
    """
    kernel = torch.exp(-cost / config.regularization)
    kernel = kernel * ((source > 0)[:, :, None] & (target > 0)[:, None, :])
    moved = config.moved_mass * torch.minimum(source.sum(1), target.sum(1))
    start = (moved / kernel.sum((1, 2)))[:, None]

    def turn(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        _, columns, whole = state
        rows = _divide(source, _rows(kernel, columns) * whole).clamp(max=1)
        columns = _divide(target, _columns(kernel, rows) * whole).clamp(max=1)
        total = (rows * _rows(kernel, columns)).sum(1, keepdim=True)
        return rows, columns, moved[:, None] / total

    ones = torch.ones_like(source), torch.ones_like(target)
    rows, columns, whole = _iterate(turn, (*ones, start), config)
    return whole[:, :, None] * rows[:, :, None] * kernel * columns[:, None, :]


def _mass(vectors: Tensor, real: Tensor, config: HeadConfig) -> Tensor:
    """Return the mass of each piece: 1, or the length of its vector; 0 in the padding."""
    mass = torch.ones_like(vectors[:, :, 0])
    if config.mass == "norm":
        mass = vectors.norm(dim=2).clamp(min=_EPSILON)
    return mass.masked_fill(~real, 0.0)


def _rows(kernel: Tensor, columns: Tensor) -> Tensor:
    """Multiply matrices by vectors, ``[pair, source]``."""
    return torch.bmm(kernel, columns[:, :, None])[:, :, 0]


def _columns(kernel: Tensor, rows: Tensor) -> Tensor:
    """Multiply transposed matrices by vectors, ``[pair, target]``."""
    return torch.bmm(rows[:, None, :], kernel)[:, 0, :]


def _divide(mass: Tensor, by: Tensor) -> Tensor:
    """Divide cells with mass; the padding stays 0."""
    return torch.where(mass > 0, mass / by.where(mass > 0, 1.0), 0.0)


def _iterate(
    turn: Callable[[tuple[Tensor, ...]], tuple[Tensor, ...]],
    state: tuple[Tensor, ...],
    config: HeadConfig,
) -> tuple[Tensor, ...]:
    """Repeat a round until every pair has converged; a converged pair no longer changes.

    Otherwise the number of rounds for a pair would depend on the other pairs.
    """
    active = torch.ones(len(state[0]), dtype=torch.bool, device=state[0].device)
    for done in range(1, config.max_iterations + 1):
        new = turn(state)
        new = tuple(
            torch.where(active[:, None], after, before)
            for after, before in zip(new, state, strict=True)
        )
        if done % _CHECK_EVERY == 0:
            moving = torch.zeros_like(active)
            for after, before in zip(new, state, strict=True):
                step = (after - before).abs().amax(1)
                moving |= step > config.tolerance * after.abs().amax(1).clamp(min=1e-300)
            active &= moving
            if not bool(active.any()):
                return new
        state = new
    return state
