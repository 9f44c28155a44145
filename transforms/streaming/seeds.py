"""Seeds that are derived from another seed and a number."""

import numpy as np

from pairweave.transforms.kernels import sampling


def derived(seed: int | np.uint64, step: np.uint64, number: int) -> np.uint64:
    """Return the seed for a numbered part of a seed's draws."""
    mixed = sampling.draw(np.uint64(seed), np.uint64(number), step, np.uint64(0))
    return np.uint64(mixed)


def pass_seed(seed: int, number: int) -> int:
    """Return the seed of a pass; the first pass has the run's seed, and so the tags of ``augment``.

    >>> pass_seed(7, 0), pass_seed(7, 1) == pass_seed(7, 2)
    (7, False)
    """
    # The seeds of configurations are below 2**63.
    return seed if number == 0 else int(derived(seed, sampling.STEP_EPOCH, number) >> np.uint64(1))


def random_order(keys: np.ndarray, seed: np.uint64, step: np.uint64) -> np.ndarray:
    """Return the places of keys, uint64 ``[key]``, in random order; equal keys stay in order."""
    return np.argsort(sampling.draws(seed, keys, step), kind="stable")
