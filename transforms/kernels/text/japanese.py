"""Hiragana, and the particles that Japanese writes with one of them."""

import numba

from pairweave.transforms.kernels.integers import Integer

_HIRAGANA, _LAST_HIRAGANA = 0x3041, 0x309F

WO = 0x3092
"""The particle wo, which begins no word."""

_PARTICLES = (0x304C, 0x3067, 0x3068, 0x306B, 0x306E, 0x306F, 0x3078, 0x3082, WO)


@numba.njit(nogil=True, cache=True)
def is_hiragana(point: Integer) -> bool:
    """Tell whether a code point is in the block Hiragana."""
    return bool(_HIRAGANA <= point <= _LAST_HIRAGANA)


@numba.njit(nogil=True, cache=True)
def is_particle(point: Integer) -> bool:
    """Tell whether a letter is one of the particles ga, de, to, ni, no, ha, he, mo and wo."""
    for one in _PARTICLES:  # noqa: SIM110 - Numba has no any() of a generator
        if point == one:
            return True
    return False
