"""Metrics of suggestions as sums over lines have the values of sacreBLEU and of the command."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from pairweave.transforms.metrics.suggestion_metrics import evaluate_suggestions
from pairweave.transforms.metrics.suggestion_sums import SUGGESTION_METRICS, measure_suggestions

SAID = ["weiße Katzen", "den roten Hund im Garten", "", "ein Haus", "der Baum", "<NULL_REP>"]
FIRST = ["weißen Katzen", "den roten Hund im Garten", "ja", "das Haus am See", "Baum", "<NULL_REP>"]
SECOND = ["weiße Katzen", None, "nein", "ein Haus am See", None, None]
GOLDS = [[FIRST], [FIRST, SECOND]]


@pytest.mark.parametrize("golds", GOLDS)
@pytest.mark.parametrize("lines", [slice(6), slice(3, 6)])
def test_values_are_those_of_sacrebleu(golds, lines):
    said, golds = SAID[lines], [gold[lines] for gold in golds]
    actual = measure_suggestions(said, golds, ("suggestion_bleu", "chrf"), "de")
    for name, metric in (("suggestion_bleu", BLEU(trg_lang="de")), ("chrf", CHRF())):
        assert actual[name].value == pytest.approx(metric.corpus_score(said, golds).score)
        assert actual[name].signature == str(metric.get_signature())
        assert f"nrefs:{len(golds) if None not in golds[-1] else 'var'}" in actual[name].signature


@pytest.mark.parametrize(("said", "gold"), [("a", "a"), ("a b", "a"), ("a", ""), ("", "a")])
def test_short_texts_are_scored_by_the_orders_that_they_have(said, gold):
    actual = measure_suggestions([said], [[gold]], ("chrf",), "de")["chrf"]
    assert actual.value == pytest.approx(CHRF().corpus_score([said], [[gold]]).score)


def test_values_are_those_of_the_command(tmp_path):
    paths = []
    for name, texts in (("said", SAID), ("one", FIRST), ("two", SECOND)):
        path = tmp_path / name
        path.write_text("".join(f"{text or ''}\n" for text in texts), encoding="utf-8")
        paths.append(str(path))
    wanted = evaluate_suggestions(paths[0], paths[1:], "de")
    actual = measure_suggestions(SAID, GOLDS[1], tuple(SUGGESTION_METRICS), "de")
    assert actual["suggestion_bleu"].value == pytest.approx(wanted.bleu)
    assert actual["suggestion_bleu"].signature == wanted.signature
    assert actual["exact_match"].value == pytest.approx(100 * wanted.exact_match)
    assert wanted.exact == 3


@pytest.mark.parametrize("language", ["zh-CN", "zho"])
def test_the_tokenizer_is_that_of_the_language(language):
    said, gold = ["我喜欢白色的猫"], [["我喜欢黑色的猫"]]
    actual = measure_suggestions(said, gold, ("suggestion_bleu",), language)["suggestion_bleu"]
    assert actual.value == pytest.approx(BLEU(trg_lang="zh").corpus_score(said, gold).score)
    assert "tok:zh" in actual.signature


def test_sums_over_some_lines_are_the_values_of_these_lines():
    whole = measure_suggestions(SAID, GOLDS[1], tuple(SUGGESTION_METRICS), "de")
    part = measure_suggestions(SAID[2:], [gold[2:] for gold in GOLDS[1]], tuple(whole), "de")
    for name, one in whole.items():
        value = one.sums.figure(one.sums.lines[2:].sum(axis=0))
        assert float(value) == pytest.approx(part[name].value), name
        both = np.stack([one.sums.lines.sum(axis=0)] * 2)
        assert one.sums.figure(both).shape == (2,)
