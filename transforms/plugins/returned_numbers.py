"""Reads the numbers that a plugin returns: one for each pair, or tuples of them."""

import numbers
from collections.abc import Sequence

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
    _require_numbers(values, noun, "for a pair")
    try:
        with np.errstate(over="ignore"):  # the caller decides about infinity
            return values.astype(np.float32)
    except OverflowError:
        raise ValueError(f"returned {noun} that are too large") from None


def returned_tuples(
    returned: Sequence[Sequence[object]], width: int, noun: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tuples of numbers that a plugin returned for several pairs or texts.

    Args:
        returned: Any number of tuples for each pair or text.
        width: The numbers in a tuple.
        noun: The word for the tuples, in the plural.

    Returns:
        The number of tuples for each, int64, and all tuples, float64 ``[tuple, width]``; None
        becomes NaN.

    Raises:
        ValueError: They are not tuples of ``width`` numbers; the message says what they are.
    """
    sizes = np.array([len(part) for part in returned], np.int64)
    tuples = [one for part in returned for one in part]
    if not tuples:
        return sizes, np.zeros((0, width))
    expected = f"returned {noun} that are not {width} numbers each"
    try:
        values = np.asarray(tuples)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(expected) from error
    if values.shape != (len(tuples), width):
        raise ValueError(expected)
    _require_numbers(values.ravel(), noun, f"among {noun}")
    try:
        return sizes, values.astype(np.float64)
    except OverflowError:
        raise ValueError(f"returned {noun} with numbers that are too large") from None


def _require_numbers(values: np.ndarray, noun: str, place: str) -> None:
    """Check that values are real numbers, or None among objects.

    Raises:
        ValueError: One is not.
    """
    if values.dtype.kind == "O":
        wrong = next((each for each in values if not _is_number(each)), None)
        if wrong is not None:
            raise ValueError(f"returned {_kind(wrong)} {place}")
    elif values.dtype.kind not in "biuf":
        raise ValueError(f"returned {noun} of the type {values.dtype}")


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, numbers.Number) and not isinstance(value, complex))


def _kind(value: object) -> str:
    return "one number" if _is_number(value) and value is not None else f"{type(value).__name__}"
