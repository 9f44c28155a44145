"""Metrics of translations with tags, each as sums over lines, so that any of them can be tested.

They are the metrics of ``evaluate tags`` (`tag_metrics`) and chrF. Shares are percentages.
"""

from collections.abc import Callable, Mapping, Sequence

from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.markup.markup import INDEXED, parse_markup, strip_markup
from pairweave.transforms.metrics.chrf_sums import chrf_signature, chrf_sums
from pairweave.transforms.metrics.measured import Measured, Metric
from pairweave.transforms.metrics.sacrebleu_scores import bleu_of
from pairweave.transforms.metrics.significance import LineSums, percentage, two_sums
from pairweave.transforms.metrics.tags.tag_metrics import TagScores, evaluate_tags
from pairweave.transforms.metrics.tags.tag_spans import SpanConfig, score_spans
from pairweave.transforms.metrics.tags.tag_texts import TagTexts
from pairweave.transforms.metrics.tags.xml_metrics import XmlConfig
from pairweave.transforms.output.signature_line import signature

CONFIG = XmlConfig("indexed")
"""The form of translations: with the symbols of tags, as the model writes them."""

_SQUAD = SpanConfig("squad")

METRICS: Mapping[str, Metric] = {
    "bleu": Metric("BLEU", needs_tags=False),
    "chrf": Metric("chrF", needs_tags=False),
    "xml_bleu": Metric("XML BLEU"),
    "xml_accuracy": Metric("XML accuracy, %"),
    "xml_match": Metric("XML match, %"),
    "tree_similarity": Metric("tree similarity, %"),
    "f1": Metric("tag F1, %"),
    "f1_squad": Metric("tag F1 (SQuAD's words), %"),
    "failures": Metric("failures per 100 tags", higher_is_better=False),
}
"""The metrics by their names in the configuration."""


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


def _bleu(scores: TagScores, *_: _Texts) -> Measured:
    assert scores.xml.bleu_counts is not None
    return Measured(LineSums(scores.xml.bleu_counts, bleu_of), scores.signature_of("bleu"))


def _xml_bleu(scores: TagScores, *_: _Texts) -> Measured:
    assert scores.xml.xml_bleu_counts is not None
    return Measured(LineSums(scores.xml.xml_bleu_counts, bleu_of), scores.signature_of("bleu"))


def _chrf(_scores: TagScores, hypotheses: _Texts, references: _Texts, _sources: _Texts) -> Measured:
    """Measure chrF (Popović 2015) without tags, as sacreBLEU does."""
    outputs, golds = (
        [strip_markup(text, INDEXED) for text in side] for side in (hypotheses, references)
    )
    return Measured(chrf_sums(outputs, [golds]), f"chrf|tags:off|{chrf_signature([golds])}")


def _xml_share(field: str) -> Callable[..., Measured]:
    def measured(scores: TagScores, *_: _Texts) -> Measured:
        lines = two_sums([(getattr(line, field), 1) for line in scores.xml.lines])
        return Measured(LineSums(lines, percentage), scores.signature_of("xml"))

    return measured


def _f1(scores: TagScores, *_: _Texts) -> Measured:
    lines = two_sums([(sum(line), len(line)) for line in scores.spans.lines])
    return Measured(LineSums(lines, percentage), scores.signature_of("f1"))


def _f1_squad(
    _scores: TagScores, hypotheses: _Texts, references: _Texts, _sources: _Texts
) -> Measured:
    outputs, gold = (
        [parse_markup(line, INDEXED) for line in side] for side in (hypotheses, references)
    )
    spans = score_spans(outputs, gold, None, _SQUAD)
    lines = two_sums([(sum(line), len(line)) for line in spans.lines])
    settings = {"metric": "f1", "tags": CONFIG.rule, "average": "tag", **_SQUAD.settings}
    return Measured(LineSums(lines, percentage), signature(settings, version_of()))


def _failures(
    scores: TagScores, _hypotheses: _Texts, _references: _Texts, sources: _Texts
) -> Measured:
    assert scores.failures is not None
    tags = [len(parse_markup(source, INDEXED).tags) for source in sources]
    failed = [line.total for line in scores.failures]
    lines = two_sums(list(zip(failed, tags, strict=True)))
    return Measured(LineSums(lines, percentage), scores.signature_of("failures"))


_MEASURES: Mapping[str, Callable[..., Measured]] = {
    "bleu": _bleu,
    "chrf": _chrf,
    "xml_bleu": _xml_bleu,
    "xml_accuracy": _xml_share("well_formed"),
    "xml_match": _xml_share("match"),
    "tree_similarity": _xml_share("tree_similarity"),
    "f1": _f1,
    "f1_squad": _f1_squad,
    "failures": _failures,
}
