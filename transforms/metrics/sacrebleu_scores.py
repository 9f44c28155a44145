"""BLEU as sacreBLEU computes and tests it (Post 2018)."""

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pairweave.transforms.metrics.significance import Tested
from pairweave.transforms.metrics.significance_options import Significance

TOKENIZERS = ("13a", "intl", "char", "zh")
ORDERS = 4
COUNTS = 2 * ORDERS + 2
"""Counts of a line for BLEU: hits and n-grams by order, output words, reference words."""

_SEED = "SACREBLEU_SEED"
References = Sequence[Sequence[str | None]]


@dataclasses.dataclass(frozen=True, slots=True)
class SacreBleu:
    """BLEU of a system.

    Attributes:
        score: BLEU, in [0, 100].
        precisions: Precisions of 1-grams to 4-grams, in [0, 100].
        brevity_penalty: Factor for output that is too short, in [0, 1].
        hypothesis_tokens: Tokens of the outputs.
        reference_tokens: Tokens of the references; if a line has several, of the one closest in
            length.
        signature: sacreBLEU's line that names everything that determines the score.
    """

    score: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    hypothesis_tokens: int
    reference_tokens: int
    signature: str


def metric_of(**settings: Any) -> Any:  # noqa: ANN401 - as sacreBLEU names and types them
    """Return a ``sacrebleu.metrics.BLEU``.

    sacreBLEU is imported on first use: this takes longer than most commands.
    """
    from sacrebleu.metrics import BLEU

    return BLEU(**settings)


def count_ngrams(hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return the counts of each line for BLEU.

    Args:
        hypotheses: Outputs, with words separated by white space ``[line]``.
        references: References, in the same form.

    Returns:
        int64 ``[line, COUNTS]``.
    """
    metric = metric_of(tokenize="none", smooth_method="none", force=True, effective_order=True)
    scores = (
        metric.sentence_score(output, [reference])
        for output, reference in zip(hypotheses, references, strict=True)
    )
    counts = [[*score.counts, *score.totals, score.sys_len, score.ref_len] for score in scores]
    return np.array(counts, np.int64).reshape(-1, COUNTS)


def bleu_of(counts: np.ndarray) -> np.ndarray:
    """Return unsmoothed BLEU in [0, 100] of summed counts.

    Args:
        counts: Sums of `count_ngrams`, whole numbers of any type ``[..., COUNTS]``.

    Returns:
        float64 ``[...]``.

    >>> float(bleu_of(count_ngrams(["a b c d e"], ["a b c d f"]).sum(axis=0)).round(2))
    66.87
    """
    compute = metric_of().compute_bleu
    scores = [
        compute(row[:ORDERS], row[ORDERS : 2 * ORDERS], row[-2], row[-1]).score
        for row in counts.reshape(-1, COUNTS).astype(np.int64).tolist()
    ]
    return np.array(scores, np.float64).reshape(counts.shape[:-1])


def score_bleu(metric: Any, outputs: Sequence[str], references: References) -> SacreBleu:  # noqa: ANN401
    """Return BLEU of outputs.

    Args:
        metric: A ``sacrebleu.metrics.BLEU``.
        outputs: Outputs ``[line]``.
        references: References ``[reference][line]``; None if a line has no such reference.
    """
    bleu = metric.corpus_score(outputs, references)
    return SacreBleu(
        bleu.score,
        tuple(bleu.precisions),
        bleu.bp,
        bleu.sys_len,
        bleu.ref_len,
        str(metric.get_signature()),
    )


def signature_with(metric: Any, references: References) -> str:  # noqa: ANN401
    """Return the signature of a sacreBLEU metric, which includes the number of references.

    Args:
        metric: A metric, which is changed: its number of references is that of the last score.
        references: References ``[reference][line]``; None if a line has no such reference.
    """
    shape = [[None if text is None else "a" for text in texts] for texts in references]
    metric.corpus_score(["a"] * len(shape[0]), shape)
    return str(metric.get_signature())


def compare_bleu(
    metric: Any,  # noqa: ANN401
    outputs: Sequence[str],
    baseline: Sequence[str],
    references: References,
    config: Significance,
) -> Tested:
    """Test BLEU of two systems by sacreBLEU's own tests.

    If both have the same BLEU, the result is set here: there is no sign of a difference.

    Args:
        metric: A ``sacrebleu.metrics.BLEU``.
        outputs: Outputs ``[line]``.
        baseline: Outputs of the other system.
        references: References ``[reference][line]``.
        config: How the tests draw.
    """
    from sacrebleu.significance import PairedTest

    systems = [("baseline", baseline), ("output", outputs)]
    results, signatures = {}, {}
    with _seeded(config.seed):
        for kind, samples in (("bs", config.resamples), ("ar", config.trials)):
            test = PairedTest(systems, {"BLEU": metric}, references, kind, samples)
            lines, scores = test()
            results[kind], signatures[kind] = scores["BLEU"], lines["BLEU"]
    other, one = results["bs"]
    equal = one.score == other.score
    signature = signatures["ar"]
    signature.update("bs", config.resamples)
    return Tested(
        one.score,
        other.score,
        float(one.mean),
        float(one.ci),
        float(other.mean),
        float(other.ci),
        1.0 if equal else one.p_value,
        1.0 if equal else results["ar"][1].p_value,
        str(signature),
    )


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Set sacreBLEU's seed, which it reads only from the environment."""
    before = os.environ.get(_SEED)
    os.environ[_SEED] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SEED]
        else:
            os.environ[_SEED] = before
