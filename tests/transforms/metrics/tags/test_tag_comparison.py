"""Two systems' outputs with tags, compared figure by figure on hand-made lines."""

import pytest
from sacrebleu.metrics import BLEU

from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.metrics.tags.tag_comparison import compare_tags
from pairweave.transforms.metrics.tags.tag_metrics import evaluate_tags
from pairweave.transforms.metrics.tags.tag_spans import SpanConfig
from pairweave.transforms.metrics.tags.tag_texts import TagTexts
from pairweave.transforms.metrics.tags.xml_metrics import XmlConfig

CONFIG = XmlConfig("xml", "13a")
SPANS = SpanConfig()
DRAWS = Significance(resamples=50, trials=50, seed=3)

REFERENCES = (
    "a <b> small </b> house by the sea",
    "the <i> old </i> man and the boat",
    "we <b> drink </b> cold water today",
)
GOOD = (REFERENCES[0], "the <i> old man </i> and the boat", REFERENCES[2])
BAD = ("a <b> small house by the sea", "the old man and <i> the </i> ship", REFERENCES[2])


def texts(hypotheses):
    return TagTexts(tuple(hypotheses), REFERENCES, REFERENCES, "references.txt")


def compared(config=CONFIG):
    return compare_tags(texts(GOOD), texts(BAD), config, SPANS, DRAWS, name="bad.txt")


def test_scores_are_those_of_each_system_alone():
    actual = compared()
    assert actual.scores.as_dict() == evaluate_tags(texts(GOOD), CONFIG, SPANS).as_dict()
    assert actual.baseline.as_dict() == evaluate_tags(texts(BAD), CONFIG, SPANS).as_dict()
    assert (actual.name, actual.config) == ("bad.txt", DRAWS)


def test_tagged_bleu_is_that_of_sacrebleu_with_tags_as_words():
    tested = compared().tested["tagged BLEU"]
    metric = BLEU(tokenize="13a", force=True)
    assert tested.score == pytest.approx(metric.corpus_score(GOOD, [REFERENCES]).score)
    assert tested.baseline == pytest.approx(metric.corpus_score(BAD, [REFERENCES]).score)
    assert "tok:13a" in tested.signature


def test_without_bleu_no_bleu_is_tested():
    assert set(compared(XmlConfig("xml", None)).tested) == {
        *("XML accuracy", "XML match", "tree similarity", "F1"),
        *("position accuracy", "mean distance", "failures"),
    }


def test_every_figure_is_tested_with_its_value_of_both_systems():
    actual = compared()
    scores = [actual.scores, actual.baseline]
    expected = {
        "BLEU": [each.xml.bleu for each in scores],
        "XML BLEU": [each.xml.xml_bleu for each in scores],
        "XML accuracy": [1.0, 2 / 3],
        "XML match": [1.0, 2 / 3],
        "tree similarity": [1.0, 2 / 3],
        "failures": [sum(line.total for line in each.failures) for each in scores],
    }
    for figure, (score, baseline) in expected.items():
        tested = actual.tested[figure]
        assert (tested.score, tested.baseline) == pytest.approx((score, baseline)), figure
        assert tested.score != tested.baseline
    assert {"F1", "position accuracy", "mean distance", "tagged BLEU"} <= set(actual.tested)


def test_every_signature_names_the_draws():
    for figure, tested in compared().tested.items():
        assert "seed:3" in tested.signature or "rs:3" in tested.signature, (
            figure
        )  # ours, sacreBLEU's


def test_other_draws_change_no_score():
    other = compare_tags(
        *(texts(GOOD), texts(BAD), CONFIG, SPANS),
        Significance(resamples=50, trials=50, seed=4),
        name="bad.txt",
    )
    for figure, tested in compared().tested.items():
        assert (tested.score, tested.baseline) == (
            other.tested[figure].score,
            other.tested[figure].baseline,
        )
