"""Metrics of suggestions as sums over lines, so that any of them can be tested.

They are those of ``evaluate suggestions`` (`suggestion_metrics`) and chrF.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.metrics.chrf_sums import chrf_signature, chrf_sums
from pairweave.transforms.metrics.measured import Measured, Metric
from pairweave.transforms.metrics.sacrebleu_scores import (
    COUNTS,
    ORDERS,
    References,
    metric_of,
    signature_with,
)
from pairweave.transforms.metrics.significance import LineSums, percentage
from pairweave.transforms.metrics.suggestion_metrics import exact_sums, suggestion_metric
from pairweave.transforms.output.signature_line import signature

SUGGESTION_METRICS: Mapping[str, Metric] = {
    "suggestion_bleu": Metric("BLEU", needs_tags=False),
    "chrf": Metric("chrF", needs_tags=False),
    "exact_match": Metric("exact match, %", needs_tags=False),
}
"""The metrics, by their names in the configuration of ``ablate``."""


def measure_suggestions(
    suggestions: Sequence[str], golds: References, metrics: Sequence[str], target_lang: str
) -> dict[str, Measured]:
    """Measure suggestions.

    Args:
        suggestions: Suggestions ``[line]``; at least one.
        golds: Reference suggestions ``[reference][line]``; None if a line has no such reference.
        metrics: Names of `SUGGESTION_METRICS`.
        target_lang: BCP 47 tag of all.

    Raises:
        ConfigError: A package that sacreBLEU needs for the language is not installed.
    """
    return {name: _MEASURES[name](suggestions, golds, target_lang) for name in metrics}


def _bleu(suggestions: Sequence[str], golds: References, target_lang: str) -> Measured:
    counts = np.zeros((len(suggestions), COUNTS), np.float64)
    one = suggestion_metric(target_lang, effective_order=True)  # this has no effect on counts
    for at, (output, texts) in enumerate(zip(suggestions, zip(*golds, strict=True), strict=True)):
        score = one.sentence_score(output, [text for text in texts if text is not None])
        counts[at] = [*score.counts, *score.totals, score.sys_len, score.ref_len]
    return Measured(
        LineSums(counts, _bleu_of), signature_with(suggestion_metric(target_lang), golds)
    )


def _bleu_of(counts: np.ndarray) -> np.ndarray:
    """Return BLEU in [0, 100] of summed counts, smoothed like sacreBLEU's corpus score.

    Few suggestions have four words, so small sets may have no 4-gram in common with the gold.
    """
    compute = metric_of().compute_bleu
    scores = [
        compute(row[:ORDERS], row[ORDERS : 2 * ORDERS], row[-2], row[-1], smooth_method="exp").score
        for row in counts.reshape(-1, COUNTS).astype(np.int64).tolist()
    ]
    return np.array(scores, np.float64).reshape(counts.shape[:-1])


def _chrf(suggestions: Sequence[str], golds: References, _target_lang: str) -> Measured:
    return Measured(chrf_sums(suggestions, golds), chrf_signature(golds))


def _exact_match(suggestions: Sequence[str], golds: References, _target_lang: str) -> Measured:
    lines = exact_sums(suggestions, golds)
    settings = {"metric": "exact_match", "nrefs": len(golds)}
    return Measured(LineSums(lines, percentage), signature(settings, version_of()))


_MEASURES: Mapping[str, Callable[[Sequence[str], References, str], Measured]] = {
    "suggestion_bleu": _bleu,
    "chrf": _chrf,
    "exact_match": _exact_match,
}
