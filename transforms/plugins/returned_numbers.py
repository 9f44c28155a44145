"""Reads the numbers that a plugin returns, one for each pair."""

import numbers

import numpy as np


def returned_numbers(returned: object, count: int, noun: str) -> np.ndarray:
    """Return what a plugin returned as float32 ``[pair]``; None becomes NaN.

    Args:
        returned: A sequence or an array of numbers.
        count: The number of pairs.
        noun: The word for the numbers, in the plural.

    Raises:
        ValueError: It is not ``count`` numbers; the message says what it is.
    """
    try:
        values = np.asarray(returned)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"returned no array of numbers: {' '.join(str(error).split())}") from error
    if not values.shape:
        raise ValueError(f"returned {_kind(returned)} for {count} pairs")
    if values.shape != (count,):
        shape = "x".join(map(str, values.shape))
        raise ValueError(f"returned {shape} {noun} for {count} pairs")
    if values.dtype.kind == "O":
        wrong = next((each for each in values if not _is_number(each)), None)
        if wrong is not None:
            raise ValueError(f"returned {_kind(wrong)} for a pair")
    elif values.dtype.kind not in "biuf":
        raise ValueError(f"returned {noun} of the type {values.dtype}")
    try:
        with np.errstate(over="ignore"):  # the caller decides about infinity
            return values.astype(np.float32)
    except OverflowError:
        raise ValueError(f"returned {noun} that are too large") from None


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, numbers.Number) and not isinstance(value, complex))


def _kind(value: object) -> str:
    return "one number" if _is_number(value) and value is not None else f"{type(value).__name__}"
