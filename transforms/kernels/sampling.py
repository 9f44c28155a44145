"""Counter-based random numbers: the same arguments always give the same bits.

A draw depends only on the run's seed, the pair, the step and a counter: not on the worker, the
shard, the order of pairs or the time.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer

STEP_FIT_SAMPLE = np.uint64(1)
STEP_MIX = np.uint64(2)
STEP_TAG_COUNT = np.uint64(3)
STEP_TAG_PHRASES = np.uint64(4)
STEP_TAG_INDICES = np.uint64(5)
STEP_PREVIEW = np.uint64(6)
STEP_MASK_COUNT = np.uint64(7)
STEP_MASK_START = np.uint64(8)
STEP_MASK_LENGTH = np.uint64(9)
STEP_MASK_PLACE = np.uint64(10)
STEP_HINT = np.uint64(11)
STEP_TAG_FORMS = np.uint64(12)
STEP_TAG_SPLITS = np.uint64(13)
STEP_TAG_SHAPES = np.uint64(14)
STEP_FRAGMENTS = np.uint64(15)
STEP_TAG_NAMES = np.uint64(16)
STEP_TAG_IDS = np.uint64(17)
STEP_TRAINING_ORDER = np.uint64(32)
STEP_NEGATIVE = np.uint64(33)
STEP_DROPOUT = np.uint64(34)
STEP_MASK = np.uint64(35)
STEP_MASK_KIND = np.uint64(36)
STEP_MASK_PIECE = np.uint64(37)
STEP_EXPORT = np.uint64(38)
STEP_EPOCH = np.uint64(39)
STEP_STREAM_SHARDS = np.uint64(40)
STEP_STREAM_PAIRS = np.uint64(41)
STEP_STREAM_ROWS = np.uint64(42)


@numba.njit(nogil=True, cache=True)
def mix64(value: np.uint64) -> np.uint64:
    """Scramble 64 bits (the finalizer of SplitMix64; Steele, Lea and Flood 2014)."""
    value = np.uint64(value)
    value ^= value >> np.uint64(30)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(27)
    value *= np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(31)
    return value


@numba.njit(nogil=True, cache=True)
def mix_all(values: np.ndarray) -> np.ndarray:
    """Scramble each of several values as `mix64` does, uint64."""
    mixed = np.empty_like(values)
    for at in range(len(values)):
        mixed[at] = mix64(values[at])
    return mixed


@numba.njit(nogil=True, cache=True)
def draw(
    run_seed: np.uint64, pair_key: np.uint64, step: np.uint64, counter: np.uint64
) -> np.uint64:
    """Return 64 random bits; the same arguments always give the same bits."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    state = mix64(np.uint64(run_seed) + golden)
    state = mix64((state ^ np.uint64(pair_key)) + golden)
    state = mix64((state ^ np.uint64(step)) + golden)
    return mix64((state ^ np.uint64(counter)) + golden)


@numba.njit(nogil=True, cache=True)
def row_counter(variant: Integer, attempt: Integer, number: Integer) -> np.uint64:
    """Return the counter of a draw for a variant of a pair, unique among the draws of a step."""
    return (
        (np.uint64(variant) << np.uint64(48))
        | (np.uint64(attempt) << np.uint64(40))
        | np.uint64(number)
    )


@numba.njit(nogil=True, cache=True)
def below(bits: np.uint64, limit: np.int64) -> np.int64:
    """Map 64 random bits to 0 .. limit - 1.

    Takes the high bits by multiplication (Lemire 2019); the bias is under limit / 2**32.
    """
    return np.int64(((bits >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@numba.njit(nogil=True, cache=True)
def unit_interval(bits: np.uint64) -> np.float64:
    """Map 64 random bits to [0, 1), in steps of 2**-53."""
    return np.float64(bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@numba.njit(nogil=True, cache=True)
def picked(
    run_seed: np.uint64, pair_keys: np.ndarray, step: np.uint64, share: np.float64
) -> np.ndarray:
    """Select a share of the pairs; a smaller share selects a subset of a larger one.

    Args:
        run_seed: The run's seed.
        pair_keys: Keys of the pairs, uint64 ``[pair]``.
        step: The step that draws.
        share: Wanted share, in [0, 1].

    Returns:
        Booleans ``[pair]``.
    """
    return units(run_seed, pair_keys, step) < share


@numba.njit(nogil=True, cache=True)
def units(run_seed: np.uint64, pair_keys: np.ndarray, step: np.uint64) -> np.ndarray:
    """Return one draw of each pair, in [0, 1), float64 ``[pair]``; `picked` compares them."""
    draws = np.empty(len(pair_keys), dtype=np.float64)
    for pair in range(len(pair_keys)):
        draws[pair] = unit_interval(draw(run_seed, pair_keys[pair], step, np.uint64(0)))
    return draws


@numba.njit(nogil=True, cache=True)
def draws(run_seed: np.uint64, pair_keys: np.ndarray, step: np.uint64) -> np.ndarray:
    """Return the bits that `picked` compares with a share, uint64 ``[pair]``."""
    bits = np.empty(len(pair_keys), dtype=np.uint64)
    for pair in range(len(pair_keys)):
        bits[pair] = draw(run_seed, pair_keys[pair], step, np.uint64(0))
    return bits


@numba.njit(nogil=True, cache=True)
def row_draws(
    run_seed: np.uint64, pair_keys: np.ndarray, step: np.uint64, counters: np.ndarray
) -> np.ndarray:
    """Return 64 random bits for each row, distinguished by counters, uint64 ``[row]``."""
    bits = np.empty(len(pair_keys), dtype=np.uint64)
    for row in range(len(pair_keys)):
        bits[row] = draw(run_seed, pair_keys[row], step, counters[row])
    return bits
