"""Comparison of two systems' outputs with tags, with significance tests."""

import dataclasses

import numpy as np

from pairweave.transforms.metrics.sacrebleu_scores import bleu_of, compare_bleu
from pairweave.transforms.metrics.significance import (
    Compared,
    LineSums,
    OfSums,
    compare,
    ratio,
    two_sums,
)
from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.metrics.tags.tag_metrics import TagScores, evaluate_tags, tagged_metric
from pairweave.transforms.metrics.tags.tag_spans import SpanConfig
from pairweave.transforms.metrics.tags.tag_texts import TagTexts
from pairweave.transforms.metrics.tags.xml_metrics import XmlConfig


def compare_tags(
    texts: TagTexts,
    baseline: TagTexts,
    config: XmlConfig,
    spans: SpanConfig,
    significance: Significance,
    *,
    name: str,
    shift: bool = False,
) -> Compared[TagScores]:
    """Measure the outputs of two systems, and test each figure (`transforms.metrics.significance`).

    BLEU with tags as words is tested by sacreBLEU itself, all others in the same way. Shares are in
    [0, 1]. Positions of tags are tested over the comparable lines of each system.

    Args:
        texts: Outputs, references and perhaps sources.
        baseline: The outputs of the other system, with the same references and sources.
        config: Settings of tags and words.
        spans: Settings of the words of a tag, for F1.
        significance: Settings of the tests.
        name: The file of the other system.
        shift: See `transforms.metrics.tags.tag_metrics.evaluate_tags`.
    """
    scores, other_scores = (
        evaluate_tags(system, config, spans, shift=shift) for system in (texts, baseline)
    )
    tested = {}
    metric = tagged_metric(config)
    for figure, (group, of_sums) in _FIGURES.items():
        if figure == "tagged BLEU" and metric is not None:
            systems = texts.hypotheses, baseline.hypotheses
            tested[figure] = compare_bleu(metric, *systems, [texts.references], significance)
        output, other = _lines(scores, figure), _lines(other_scores, figure)
        if output is None or other is None or of_sums is None:
            continue
        comparison = compare(LineSums(output, of_sums), LineSums(other, of_sums), significance)
        line = scores.signature_of(group, significance.settings)
        tested[figure] = dataclasses.replace(comparison, signature=line)
    return Compared[TagScores](scores, other_scores, name, tested, significance)


def _total(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0]


_FIGURES: dict[str, tuple[str, OfSums | None]] = {
    "BLEU": ("bleu", bleu_of),
    "XML BLEU": ("bleu", bleu_of),
    "tagged BLEU": ("tagged_bleu", None),
    "XML accuracy": ("xml", ratio),
    "XML match": ("xml", ratio),
    "tree similarity": ("xml", ratio),
    "F1": ("f1", ratio),
    "position accuracy": ("positions", ratio),
    "mean distance": ("positions", ratio),
    "failures": ("failures", _total),
}
"""The group of signatures that a figure belongs to, and its function of sums over lines."""


_OF_XML = {
    "XML accuracy": "well_formed",
    "XML match": "match",
    "tree similarity": "tree_similarity",
}
"""The field of a line that a figure is the mean of."""


def _lines(scores: TagScores, figure: str) -> np.ndarray | None:
    """Return each line's contribution to a figure, ``[line, number]``; None if not measured."""
    if figure in ("BLEU", "XML BLEU"):
        return scores.xml.bleu_counts if figure == "BLEU" else scores.xml.xml_bleu_counts
    if figure in _OF_XML:
        return two_sums([(getattr(line, _OF_XML[figure]), 1) for line in scores.xml.lines])
    if figure == "F1":
        return two_sums([(sum(line), len(line)) for line in scores.spans.lines])
    if figure in ("position accuracy", "mean distance") and scores.positions.tags:
        name = "correct" if figure == "position accuracy" else "distance"
        return two_sums([(getattr(line, name), line.tags) for line in scores.positions.lines])
    if figure == "failures" and scores.failures is not None:
        return two_sums([(line.total, 1) for line in scores.failures])
    return None
