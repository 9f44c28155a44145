"""Scores given with pairs: numbers in a column of the input."""

import math

import numpy as np
import pyarrow as pa

from pairweave.transforms.problems import Problem
from pairweave.transforms.rejects import Reject

SCORE = "score"
"""Name of the column among the texts of a reader."""

_MOST = float(np.finfo(np.float32).max)


def read_scores(texts: pa.StringArray, problems: dict[int, Problem]) -> pa.FloatArray:
    """Parse the numbers in cells.

    Args:
        texts: Cells ``[row]``; null or blank if a pair has no score.
        problems: By row; rows whose cell is not a number are added; a row keeps its first problem.

    Returns:
        float32 ``[row]``, null if there is no score.
    """
    scores = np.full(len(texts), np.nan)
    for row, text in enumerate(texts.to_pylist()):
        if text is None or not text.strip():
            continue
        try:
            # Python reads an id such as 12_345 as a number.
            score = math.nan if "_" in text else float(text)
        except ValueError:
            score = math.nan
        if abs(score) <= _MOST:
            scores[row] = score
        else:
            detail = f"{SCORE}: {text[:40]!r} is not a number, or is too large"
            problems.setdefault(row, Problem(Reject.WRONG_TYPE, detail))
    return pa.array(scores.astype(np.float32), from_pandas=True)
