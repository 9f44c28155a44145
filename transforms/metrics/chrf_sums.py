"""The metric chrF (Popović 2015) as sums over lines, as sacreBLEU computes it (Post 2018)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pairweave.transforms.metrics.sacrebleu_scores import References, signature_with
from pairweave.transforms.metrics.significance import LineSums

_ORDERS, _BETA = 6, 4
"""Longest n-gram, and the square of the weight of recall: the settings of chrF2."""


def chrf_sums(outputs: Sequence[str], references: References) -> LineSums:
    """Return the contribution of each line to chrF2.

    Args:
        outputs: Outputs ``[line]``.
        references: References ``[reference][line]``; None if a line has no such reference. If a
            line has several, the one that gives the line the highest score counts.
    """
    from sacrebleu.metrics.helpers import extract_all_char_ngrams

    lines = np.zeros((len(outputs), _ORDERS, 3), np.float64)
    for at, (output, golds) in enumerate(zip(outputs, zip(*references, strict=True), strict=True)):
        said = extract_all_char_ngrams(output, _ORDERS, False)  # noqa: FBT003
        choices = [
            _counts(said, extract_all_char_ngrams(gold, _ORDERS, False))  # noqa: FBT003
            for gold in golds
            if gold is not None
        ]
        lines[at] = max(choices, key=lambda counts: float(_chrf_of(counts.ravel())))
    return LineSums(lines.reshape(len(outputs), -1), _chrf_of)


def chrf_signature(references: References) -> str:
    """Return sacreBLEU's line for chrF2 with these references."""
    from sacrebleu.metrics import CHRF

    return signature_with(CHRF(), references)


def _counts(said: Sequence[Counter[str]], gold: Sequence[Counter[str]]) -> np.ndarray:
    """Count the n-grams of an output, of a reference and common to both, float64 ``[order, 3]``."""
    return np.array(
        [
            (output.total() if reference else 0, reference.total(), (output & reference).total())
            for output, reference in zip(said, gold, strict=True)
        ],
        np.float64,
    )


def _chrf_of(sums: np.ndarray) -> np.ndarray:
    """Return chrF2 in [0, 100] from summed n-gram counts (outputs, references, common) by order.

    Orders without n-grams on a side do not count, as in sacreBLEU.
    """
    output, gold, common = np.moveaxis(sums.reshape(*sums.shape[:-1], _ORDERS, 3), -1, 0)
    counted = (output > 0) & (gold > 0)
    orders = np.maximum(counted.sum(axis=-1), 1)
    precision, recall = (
        np.divide(common, side, out=np.zeros_like(common), where=counted).sum(axis=-1) / orders
        for side in (output, gold)
    )
    weighted = _BETA * precision + recall
    scores = (1 + _BETA) * precision * recall
    return 100 * np.divide(scores, weighted, out=np.zeros_like(weighted), where=weighted > 0)
