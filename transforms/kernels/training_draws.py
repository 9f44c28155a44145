"""Random draws of fine-tuning: the order of pairs, and which pieces are masked."""

import numba
import numpy as np

from pairweave.transforms.kernels.sampling import (
    STEP_MASK,
    STEP_MASK_KIND,
    STEP_MASK_PIECE,
    below,
    draw,
    unit_interval,
)

POSITION_BITS = 20
"""The low bits of a counter hold a position, the others distinguish passes."""


@numba.njit(nogil=True, cache=True)
def draw_each(
    run_seed: np.uint64, pair_keys: np.ndarray, step: np.uint64, counter: np.uint64
) -> np.ndarray:
    """Return one draw for each pair, uint64 ``[pair]``."""
    bits = np.empty(len(pair_keys), dtype=np.uint64)
    for pair in range(len(pair_keys)):
        bits[pair] = draw(run_seed, pair_keys[pair], step, counter)
    return bits


@numba.njit(nogil=True, cache=True)
def mask_pieces(
    ids: np.ndarray,
    offsets: np.ndarray,
    pair_keys: np.ndarray,
    run_seed: np.uint64,
    counter: np.uint64,
    share: float,
    mask: int,
    others: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Choose pieces to be predicted and mask them (Devlin et al. 2019, section 3.1).

    Of the chosen, 80 % become the mask, 10 % another piece, and 10 % are left unchanged.

    Args:
        ids: Pieces of several sequences, int64 ``[piece]``.
        offsets: Start of each sequence's pieces, int64 ``[sequence + 1]``.
        pair_keys: Key of each sequence's draws, uint64 ``[sequence]``.
        run_seed: The run's seed.
        counter: Distinguishes passes over the same pair.
        share: Probability that a piece is chosen.
        mask: The mask piece.
        others: Pieces that may replace another, int64.

    Returns:
        The pieces as the model sees them, and which were chosen, bool ``[piece]``.
    """
    hidden = ids.copy()
    chosen = np.zeros(len(ids), dtype=np.bool_)
    base = np.uint64(counter) << np.uint64(POSITION_BITS)
    for sequence in range(len(offsets) - 1):
        key = pair_keys[sequence]
        for piece in range(offsets[sequence], offsets[sequence + 1]):
            place = base + np.uint64(piece - offsets[sequence])
            if unit_interval(draw(run_seed, key, STEP_MASK, place)) >= share:
                continue
            chosen[piece] = True
            kind = unit_interval(draw(run_seed, key, STEP_MASK_KIND, place))
            if kind < 0.8:
                hidden[piece] = mask
            elif kind < 0.9:
                bits = draw(run_seed, key, STEP_MASK_PIECE, place)
                hidden[piece] = others[below(bits, np.int64(len(others)))]
    return hidden, chosen
