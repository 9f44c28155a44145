"""Metrics of translations with tags are sums over lines with the values of `evaluate tags`."""

import pytest
import sacrebleu

from pairweave.transforms.markup.markup import INDEXED, strip_markup
from pairweave.transforms.metrics.tags.tag_metrics import evaluate_tags
from pairweave.transforms.metrics.tags.tag_texts import TagTexts
from pairweave.transforms.metrics.tags.translation_metrics import CONFIG, METRICS, measure

SOURCES = ["see <a_0>page nine</a_0> now", "the <a_0/> end of it", "plain text here", "x"]
REFERENCES = [
    "siehe jetzt <a_0>Seite neun</a_0> da",
    "das <a_0/> Ende davon ist",
    "einfacher Text hier und jetzt",
    "x",
]
OUTPUTS = [
    "siehe jetzt <a_0>Seite</a_0> neun da",
    "das Ende davon ist",
    "einfacher Text da und jetzt",
    "",
]


def test_values_are_those_of_evaluate_tags():
    actual = measure(OUTPUTS, REFERENCES, SOURCES, tuple(METRICS), "test")
    texts = TagTexts(tuple(OUTPUTS), tuple(REFERENCES), tuple(SOURCES), "test")
    wanted = evaluate_tags(texts, CONFIG)
    values = {name: one.value for name, one in actual.items()}
    assert values["bleu"] == pytest.approx(wanted.xml.bleu)
    assert values["xml_bleu"] == pytest.approx(wanted.xml.xml_bleu)
    assert values["xml_accuracy"] == pytest.approx(100 * wanted.xml.accuracy)
    assert values["xml_match"] == pytest.approx(100 * wanted.xml.match)
    assert values["tree_similarity"] == pytest.approx(100 * wanted.xml.tree_similarity)
    assert values["f1"] == pytest.approx(100 * wanted.spans.f1)
    assert values["failures"] == pytest.approx(100 * wanted.failed.total / 3)
    assert 0 < values["f1_squad"] < 100


@pytest.mark.parametrize("outputs", [OUTPUTS, REFERENCES, ["y"] * 4, [""] * 4])
def test_chrf_is_that_of_sacrebleu(outputs):
    actual = measure(outputs, REFERENCES, SOURCES, ["chrf"], "test")["chrf"]
    plain = [[strip_markup(line, INDEXED) for line in side] for side in (outputs, REFERENCES)]
    assert actual.value == pytest.approx(sacrebleu.corpus_chrf(plain[0], [plain[1]]).score)
    assert "nrefs:1" in actual.signature


def test_a_test_set_without_tags_has_no_metrics_of_tags():
    actual = measure(["ein Text"], ["ein Text"], ["a text"], tuple(METRICS), "news")
    assert set(actual) == {"bleu", "chrf"}
