"""Notices about the languages of a run: rules that reject most, and sides that look exchanged."""

import json
from collections import Counter

import pytest

from pairweave.pipelines import cli
from pairweave.transforms.output.receipt_sums import no_sums
from pairweave.transforms.report.exchanged_languages import (
    MIN_PAIRS,
    MIN_WORDS,
    WORDS,
    exchanged_notices,
)
from pairweave.transforms.report.rejected_languages import RATIO_ADVICE, language_notices
from tests.makers import corpora

ENGLISH = "It was <a_1>not</a_1> the end of a long day that they had to be in."
TEXTS = {
    "en": ENGLISH,
    "de": "Das war nicht das Ende von einem langen Tag, und sie <a_1>ist</a_1> auch da.",
    "fr": "La fin de la longue journée, et il ne va pas dans les rues pour une fois.",
    "ru": "Это был не конец <a_1>длинного</a_1> дня.",
    "zh": "这不是<a_1>漫长</a_1>一天的结束。",
    "nl": "Het was niet het einde van een lange dag en zij zijn er ook.",
}


def rows(source, target, texts=None, number=MIN_PAIRS):
    """Return rows that say they are of two languages, with texts of these or of others."""
    first, second = texts or (source, target)
    row = {"source_lang": source, "target_lang": target}
    return [{**row, "source": TEXTS[first], "target": TEXTS[second]}] * number


PAIRS = [("en", "de"), ("de", "en-GB"), ("fr", "en"), ("nl", "de"), ("en", "ru"), ("zh-Hans", "en")]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_exchanged_sides_are_told_and_right_ones_are_not(source, target):
    texts = [language.partition("-")[0] for language in (source, target)]
    assert exchanged_notices(rows(source, target, texts)) == []
    (notice,) = exchanged_notices(rows(source, target, texts[::-1]))
    assert notice.startswith(f"{source} to {target}: in a sample of {MIN_PAIRS} pairs the sources")
    assert exchanged_notices(rows(source, target, texts[::-1], MIN_PAIRS - 1)) == []


def test_one_side_of_another_language_alone_says_nothing():
    assert exchanged_notices(rows("en", "de", ("de", "de"))) == []
    assert exchanged_notices(rows("en", "cy", ("de", "en"))) == []


def test_each_pair_of_languages_is_looked_at_alone():
    actual = exchanged_notices([*rows("en", "de"), *rows("en", "fr", ("fr", "en"))])
    assert [notice.partition(":")[0] for notice in actual] == ["en to fr"]


def test_a_suggestion_has_its_target_in_the_masked_text():
    some = [
        {**row, "masked": row.pop("target")} for row in map(dict, rows("en", "de", ("de", "en")))
    ]
    assert len(exchanged_notices(some)) == 1


def test_frequent_words_are_of_different_languages():
    assert all(len(words) > 12 for words in WORDS.values())
    close = {
        (one, other)
        for one, words in WORDS.items()
        for other, others in WORDS.items()
        if one < other and len(words - others) < MIN_WORDS
    }
    assert close == {("da", "no")}


CORPORA = {
    name: {"source_lang": "en", "target_lang": target}
    for name, target in (("a", "zh"), ("b", "zh"), ("c", "de"))
}
INPUTS = [{"name": f"{name}.tsv", "corpus": name, "role": "pairs"} for name in "abc"]


def sums(kept, rejected):
    """Return sums of receipts with so many pairs by corpus."""
    result = no_sums(0)
    result.kept_by_corpus.update(Counter(kept))
    result.rejected.update({(name, "screen", reason): n for (name, reason), n in rejected.items()})
    return result


def test_a_rule_that_rejects_most_of_two_languages_is_named_with_advice():
    actual = sums(
        {"a": 10, "b": 10, "c": 90},
        {("a", "length_ratio"): 5, ("b", "length_ratio"): 20, ("c", "length_ratio"): 9},
    )
    said = (
        f"en to zh: most pairs were rejected by one rule, 25 of 45 as length_ratio; {RATIO_ADVICE}"
    )
    assert language_notices(CORPORA, INPUTS, actual) == [said]
    # A single file has a notice of its own.
    assert language_notices(CORPORA, INPUTS[1:], actual) == []


@pytest.mark.parametrize(("rejected", "notices"), [(30, 0), (31, 1)])
def test_more_than_half_must_be_rejected_by_one_rule(rejected, notices):
    actual = sums(
        {"a": 30 - rejected // 2, "b": 30 - (rejected + 1) // 2}, {("b", "duplicate"): rejected}
    )
    assert len(language_notices(CORPORA, INPUTS, actual)) == notices


def test_few_pairs_say_nothing():
    assert language_notices(CORPORA, INPUTS, sums({}, {("a", "too_long"): MIN_PAIRS - 1})) == []


def test_a_run_tells_exchanged_files_on_the_terminal_and_in_the_report(tmp_path, capsys):
    corpora.write_corpus(tmp_path, 60)
    command = ["align", "--source_input", tmp_path / "corpus.de", "--target_input"]
    command += [tmp_path / "corpus.en", "--source_lang", "en", "--target_lang", "de"]
    command += ["--aligner", "hmm", "--workers", "1", "--output", tmp_path / "out"]
    assert cli.main(list(map(str, command))) == 0
    said = capsys.readouterr().out
    (notice,) = [
        notice
        for notice in json.loads((tmp_path / "out/_manifest.json").read_text())["notices"]
        if "look like" in notice
    ]
    assert f"notice: {notice}" in said
    assert notice in (tmp_path / "out/report.html").read_text()
