"""Languages of short texts, which show none by themselves."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms.inspection.language_look import language_findings
from pairweave.transforms.report.exchanged_languages import WORDS

LABELS = {
    "en": (["Open the", "Save this", "Share a", "Print the"], ["file", "folder", "page and"]),
    "de": (["Die", "Eine", "Nicht mit", "Auf der"], ["Datei", "Mappe", "Seite und"]),
    "cy": (["Agor", "Cadw", "Rhannu", "Argraffu"], ["ffeil", "ffolder", "tudalen"]),
}
"""Openings and ends of labels, none with three frequent words."""


def labels(language, count=400):
    pairs = itertools.cycle(itertools.product(*LABELS[language]))
    return [f"{' '.join(pair)} {number}" for number, pair in zip(range(count), pairs, strict=False)]


def findings(source, target, languages):
    lines = list(range(1, len(source) + 1))
    sample = pa.table({"source": source, "target": target, "line": lines})
    return [
        (finding.kind, finding.option)
        for finding in language_findings(("a.s", "a.t"), sample, languages)
    ]


def test_labels_show_their_language_together():
    source, target = labels("en"), labels("de")
    assert findings(source, target, ("en", "de")) == []
    ((kind, _),) = findings(target, source, ("en", "de"))
    assert kind == "exchanged_languages"
    assert findings(source, target, ("en", "fr")) == [("other_language", "--target_lang de")]


@pytest.mark.parametrize("count", [20, 100])
def test_a_few_labels_show_no_language(count):
    assert findings(labels("de", count), labels("en", count), ("en", "de")) == []


def test_english_is_told_from_languages_whose_frequent_words_are_not_known():
    source, target = labels("en"), labels("cy")
    assert findings(source, target, ("en", "cy")) == []
    assert findings(target, source, ("en", "cy")) == [("other_language", "--target_lang en")]


@pytest.mark.parametrize("language", ["en-GB", "eng", "eng-Latn", "sco", "mul", "zxx", "qaa"])
def test_english_may_be_given_by_any_code_and_as_no_single_language(language):
    assert findings(labels("en"), labels("de"), (language, "deu")) == []


def test_codes_of_three_letters_are_those_of_two():
    source, target = labels("en"), labels("de")
    ((kind, _),) = findings(target, source, ("eng", "deu"))
    assert kind == "exchanged_languages"
    assert findings(source, target, ("eng", "fra")) == [("other_language", "--target_lang de")]


@pytest.mark.parametrize("languages", [("en", "en-GB"), ("eng", "en-US")])
def test_two_variants_of_a_language_are_no_single_one(languages):
    others = [f"{label}!" for label in labels("en")]
    assert findings(labels("en"), others, languages) == []
    ((kind, _),) = findings(labels("en"), others, ("en", "und"))
    assert kind == "one_language"


def test_danish_and_norwegian_are_not_told_apart():
    texts = ["det er en bok som jeg har til deg", "og den er ikke for dem"] * 20
    assert findings(texts, texts[1:] + texts[:1], ("da", "nb")) == []


@pytest.mark.parametrize("language", sorted(WORDS))
def test_text_in_each_language_is_known_by_its_frequent_words(language):
    same = {"da": "no"}.get(language, language)
    draws = np.random.default_rng(1)
    words = sorted(WORDS[language])
    lines = [" ".join(draws.permutation(words)[:10]) for _ in range(100)]
    other = "cs" if language != "cs" else "tr"
    ((kind, option),) = findings(lines, labels("cy", 100), (other, "und"))
    assert (kind, option) == ("other_language", f"--source_lang {same}")


def test_a_script_that_few_texts_show_is_not_that_of_a_side():
    source = ["42", "Привет всем", "7", "%", "x2"] * 80
    assert findings(source, labels("en"), ("en", "en")) == []


def test_labels_with_hardly_a_frequent_word_are_judged_in_larger_groups():
    words = ["the", "of", "and", "is"]
    source = [f"{words[n // 8 % 4] if n % 8 == 0 else 'button'} {n}" for n in range(960)]
    assert findings(source, labels("cy", 960), ("de", "cy")) == [
        ("other_language", "--source_lang en")
    ]
