"""Metrics of translations with tags, each as sums over lines, so that any of them can be tested.

They are the metrics of ``evaluate tags`` (`tag_metrics`) and chrF. Shares are percentages.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pairweave.transforms.markup.markup import INDEXED, parse_markup, strip_markup
from pairweave.transforms.metrics.sacrebleu_scores import bleu_of
from pairweave.transforms.metrics.significance import LineSums, ratio
from pairweave.transforms.metrics.tags.tag_metrics import TagScores, evaluate_tags, version
from pairweave.transforms.metrics.tags.tag_spans import SpanConfig, score_spans
from pairweave.transforms.metrics.tags.tag_texts import TagTexts
from pairweave.transforms.metrics.tags.xml_metrics import XmlConfig
from pairweave.transforms.output.signature_line import signature

CONFIG = XmlConfig("indexed")
"""Translations are compared with the symbols of tags in them, as the model writes them."""

_SQUAD = SpanConfig("squad")

_CHRF_ORDERS, _CHRF_BETA = 6, 4
"""Longest n-gram, and the square of the weight of recall: the settings of chrF2."""


@dataclasses.dataclass(frozen=True, slots=True)
class Metric:
    """A metric.

    Attributes:
        title: Its name for a reader.
        needs_tags: Whether it is measured on test sets with tags alone.
        higher_is_better: Whether a higher value is better.
    """

    title: str
    needs_tags: bool = True
    higher_is_better: bool = True


METRICS: Mapping[str, Metric] = {
    "bleu": Metric("BLEU", needs_tags=False),
    "chrf": Metric("chrF", needs_tags=False),
    "xml_bleu": Metric("XML BLEU"),
    "xml_accuracy": Metric("XML accuracy, %"),
    "xml_match": Metric("XML match, %"),
    "f1": Metric("tag F1, %"),
    "f1_squad": Metric("tag F1 (SQuAD's words), %"),
    "failures": Metric("failures per 100 tags", higher_is_better=False),
}
"""The metrics by their names in the configuration."""


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """A metric of some translations.

    Attributes:
        sums: The contribution of each line, and the function of the sums.
        signature: The line that names everything that determines the value.
    """

    sums: LineSums
    signature: str

    @property
    def value(self) -> float:
        """Return the value of all lines."""
        return float(self.sums.figure(self.sums.lines.sum(axis=0)))


def measure(
    hypotheses: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str],
    metrics: Sequence[str],
    name: str,
) -> dict[str, Measured]:
    """Measure translations whose tags are indexed (``<a_0>``).

    Args:
        hypotheses: Translations ``[line]``; at least one.
        references: Human translations.
        sources: The texts that were translated.
        metrics: Names of `METRICS`; metrics of tags are left out if no reference has a tag.
        name: The test set, for messages.

    Raises:
        InputError: A reference's tags are broken.
    """
    scores = evaluate_tags(
        TagTexts(tuple(hypotheses), tuple(references), tuple(sources), name), CONFIG
    )
    tagged = any(parse_markup(reference, INDEXED).tags for reference in references)
    measured = {}
    for metric in metrics:
        if tagged or not METRICS[metric].needs_tags:
            measured[metric] = _MEASURES[metric](scores, hypotheses, references, sources)
    return measured


_Texts = Sequence[str]


def _percentage(sums: np.ndarray) -> np.ndarray:
    return 100 * ratio(sums)


def _pairs(rows: Sequence[tuple[float, float]]) -> np.ndarray:
    return np.array(rows, np.float64).reshape(-1, 2)


def _bleu(scores: TagScores, *_: _Texts) -> Measured:
    assert scores.xml.bleu_counts is not None
    return Measured(LineSums(scores.xml.bleu_counts, bleu_of), scores.signature_of("bleu"))


def _xml_bleu(scores: TagScores, *_: _Texts) -> Measured:
    assert scores.xml.xml_bleu_counts is not None
    return Measured(LineSums(scores.xml.xml_bleu_counts, bleu_of), scores.signature_of("bleu"))


def _chrf(_scores: TagScores, hypotheses: _Texts, references: _Texts, _sources: _Texts) -> Measured:
    """Measure chrF (Popović 2015) without tags, as sacreBLEU does."""
    from sacrebleu.metrics import CHRF
    from sacrebleu.metrics.helpers import extract_all_char_ngrams

    metric: Any = CHRF()
    metric.corpus_score(["a"], [["a"]])  # the signature has the number of references
    lines = np.zeros((len(references), _CHRF_ORDERS, 3), np.float64)
    for at, texts in enumerate(zip(hypotheses, references, strict=True)):
        output_ngrams, gold_ngrams = (
            extract_all_char_ngrams(strip_markup(text, INDEXED), _CHRF_ORDERS, False)  # noqa: FBT003
            for text in texts
        )
        for order, (output, reference) in enumerate(zip(output_ngrams, gold_ngrams, strict=True)):
            total = output.total() if reference else 0
            lines[at, order] = total, reference.total(), (output & reference).total()
    sums = LineSums(lines.reshape(len(references), -1), _chrf_of)
    return Measured(sums, f"chrf|tags:off|{metric.get_signature()}")


def _chrf_of(sums: np.ndarray) -> np.ndarray:
    """Return chrF2 in [0, 100] of summed n-grams: of outputs, of references and common, by order.

    Orders without n-grams on a side do not count, as in sacreBLEU.
    """
    output, gold, common = np.moveaxis(sums.reshape(*sums.shape[:-1], _CHRF_ORDERS, 3), -1, 0)
    counted = (output > 0) & (gold > 0)
    orders = np.maximum(counted.sum(axis=-1), 1)
    precision, recall = (
        np.divide(common, side, out=np.zeros_like(common), where=counted).sum(axis=-1) / orders
        for side in (output, gold)
    )
    weighted = _CHRF_BETA * precision + recall
    scores = (1 + _CHRF_BETA) * precision * recall
    return 100 * np.divide(scores, weighted, out=np.zeros_like(weighted), where=weighted > 0)


def _xml_share(field: str) -> Callable[..., Measured]:
    def measured(scores: TagScores, *_: _Texts) -> Measured:
        lines = _pairs([(getattr(line, field), 1) for line in scores.xml.lines])
        return Measured(LineSums(lines, _percentage), scores.signature_of("xml"))

    return measured


def _f1(scores: TagScores, *_: _Texts) -> Measured:
    lines = _pairs([(sum(line), len(line)) for line in scores.spans.lines])
    return Measured(LineSums(lines, _percentage), scores.signature_of("f1"))


def _f1_squad(
    _scores: TagScores, hypotheses: _Texts, references: _Texts, _sources: _Texts
) -> Measured:
    outputs, gold = (
        [parse_markup(line, INDEXED) for line in side] for side in (hypotheses, references)
    )
    spans = score_spans(outputs, gold, None, _SQUAD)
    lines = _pairs([(sum(line), len(line)) for line in spans.lines])
    settings = {"metric": "f1", "tags": CONFIG.rule, "average": "tag", **_SQUAD.settings}
    return Measured(LineSums(lines, _percentage), signature(settings, version("pairweave")))


def _failures(
    scores: TagScores, _hypotheses: _Texts, _references: _Texts, sources: _Texts
) -> Measured:
    assert scores.failures is not None
    tags = [len(parse_markup(source, INDEXED).tags) for source in sources]
    failed = [line.total for line in scores.failures]
    lines = _pairs(list(zip(failed, tags, strict=True)))
    return Measured(LineSums(lines, _percentage), scores.signature_of("failures"))


_MEASURES: Mapping[str, Callable[..., Measured]] = {
    "bleu": _bleu,
    "chrf": _chrf,
    "xml_bleu": _xml_bleu,
    "xml_accuracy": _xml_share("well_formed"),
    "xml_match": _xml_share("match"),
    "f1": _f1,
    "f1_squad": _f1_squad,
    "failures": _failures,
}
