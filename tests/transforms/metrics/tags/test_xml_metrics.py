import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.metrics.sacrebleu_scores import bleu_of, count_ngrams
from pairweave.transforms.metrics.tags.xml_metrics import (
    XmlConfig,
    find_structure,
    score_xml,
    split_at_tags,
)
from tests.makers import lxm_outputs
from tests.oracles import slow_tag_metrics

GOLDEN = Path(__file__).parents[3] / "golden" / "lxm" / "scores.json"
NO_BLEU = XmlConfig("xml", None)

lines = st.lists(st.text("abc ", max_size=12), min_size=1, max_size=5)
pieces = st.sampled_from(
    [
        *("<a>", "</a>", "<b>", "</b>", "<a/>", '<b c="d">', "x", " ", "&amp;", "&", "<", "é"),
        *("<!--c-->", "<?p q?>", "<n:a>", "]]>", "<![CDATA[<a>]]>", "&#10;", "\x0b", "</ROOT>"),
    ]
)
texts = st.lists(pieces, max_size=8).map("".join)


@pytest.mark.parametrize("case", json.loads(GOLDEN.read_text()), ids=lambda case: case["lines"])
def test_spoilt_outputs_score_as_by_the_script_of_the_corpus(shared_data, case):
    pytest.importorskip("sacremoses", reason="needs the extra `evaluate`")
    path = shared_data / "xml" / "enfr.fr.json"
    references, outputs = lxm_outputs.spoilt_corpus(path, case["lines"])
    actual = json.dumps(list(outputs.values())).encode()
    assert hashlib.sha256(actual).hexdigest() == case["outputs_sha256"]
    scores = score_xml(
        list(outputs.values()),
        list(references.values()),
        XmlConfig("lxm", "moses", "fr"),
        "references",
    )
    assert scores.accuracy * 100 == pytest.approx(case["xml_accuracy"], abs=1e-9)
    assert scores.match * 100 == pytest.approx(case["xml_match"], abs=1e-9)
    assert round(scores.bleu, 2) == case["bleu"]
    assert round(scores.xml_bleu, 2) == case["xml_bleu"]


def test_the_spoilt_outputs_that_are_scored_are_more_than_200(shared_data):
    most = max(case["lines"] for case in json.loads(GOLDEN.read_text()))
    path = shared_data / "xml" / "enfr.fr.json"
    references, outputs = lxm_outputs.spoilt_corpus(path, most)
    assert sum(outputs[key] != references[key] for key in references) > 200


@given(st.tuples(lines, lines))
def test_bleu_is_that_of_its_definition(sides):
    size = min(map(len, sides))
    actual, wanted = (side[:size] for side in sides)
    counts = count_ngrams(actual, wanted)
    assert counts.tolist() == [
        slow_tag_metrics.bleu_counts(*pair) for pair in zip(actual, wanted, strict=True)
    ]
    bleu = float(bleu_of(counts.sum(axis=0)))
    assert bleu == pytest.approx(slow_tag_metrics.bleu(actual, wanted))


@given(st.lists(st.tuples(st.text("ab ", max_size=30), st.text("ab ", max_size=30)), min_size=1))
def test_bleu_of_summed_lines_is_that_of_the_corpus(pairs):
    actual, wanted = map(list, zip(*pairs, strict=True))
    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    sums = count_ngrams(actual, wanted).sum(axis=0)
    corpus = metric.corpus_score(actual, [wanted]).score
    assert bleu_of(np.stack([sums, sums * 0.0])).tolist() == [pytest.approx(corpus), 0.0]


@given(texts, texts)
def test_xml_structure_is_that_of_a_tree(one, other):
    actual = [find_structure(text, "xml") for text in (one, other)]
    same = None if None in actual else actual[0] == actual[1]
    special = "<!--" in one + other or "<?" in one + other
    if not special:
        assert same == slow_tag_metrics.same_structure(one, other)


@given(texts, texts)
def test_xml_structure_is_that_of_lxml(one, other):
    etree = pytest.importorskip("lxml.etree", reason="needs lxml, the parser of the script")

    def shape(element):
        return [element.tag, [shape(child) for child in element.iterchildren()]]

    shapes = []
    for text in (one, other):
        try:
            shapes.append(shape(etree.fromstring(f"<ROOT>{text}</ROOT>")))
        except (etree.XMLSyntaxError, ValueError):
            shapes.append(None)
    actual = [find_structure(text, "lxm") for text in (one, other)]
    assert [item is None for item in actual] == [item is None for item in shapes]
    assert (actual[0] == actual[1]) == (shapes[0] == shapes[1])


@pytest.mark.parametrize(
    ("text", "rule", "structure"),
    [
        ("a<br>b", "html", ("br", "/")),
        ("a<br>b", "xml", None),
        ("<a_1>R&D</a_1>", "indexed", ("a_1", "/")),
        ("<a_1>R&D</a_1>", "xml", None),
        ("<a_1>x</a_2>", "indexed", None),
        ('<bx id="1"/>a<ex id="1"/>', "xliff", ("bx", "/", "ex", "/")),
        ("\ud800", "xml", None),
    ],
)
def test_structure_follows_the_syntax(text, rule, structure):
    assert find_structure(text, rule) == structure


@pytest.mark.parametrize(
    ("text", "rule", "stretches"),
    [
        ("a <ph>b</ph>", "lxm", ["a ", "b", ""]),
        ("a <ph/><x>b</x>", "lxm", ["a <ph/><x>b</x>"]),
        ("a <ph/><x>b</x>", "xml", ["a ", "", "b", ""]),
        ("&amp;lt;<b>&lt;&gt;</b>", "lxm", ["<", "<>", ""]),
        ("&amp;<a_1>", "indexed", ["&amp;", ""]),
        ("", "lxm", [""]),
    ],
)
def test_stretches_between_tags(text, rule, stretches):
    assert split_at_tags(text, rule) == stretches


def test_outputs_of_other_structure_count_as_empty_in_xml_bleu_alone():
    config = XmlConfig("xml", "whitespace")
    right = "a b c <i>d e f g h</i>"
    scores = score_xml([right, "a b c d e f g h"], [right, right], config, "r")
    assert scores.bleu == pytest.approx(100)
    # All of 8 words found in one line, nothing in the other: the brevity penalty is exp(1 - 16/8).
    assert scores.xml_bleu == pytest.approx(100 / 2.718281828459045)
    assert (scores.accuracy, scores.match) == (1.0, 0.5)


def test_an_empty_element_may_be_written_as_two_tags():
    scores = score_xml(["a<i></i>"], ["a<i/>"], XmlConfig("xml", "whitespace"), "r")
    assert scores.match == 1
    assert scores.xml_bleu == 0


def test_a_broken_reference_is_named():
    with pytest.raises(InputError, match=r"refs.*reference 2.*bad_reference"):
        score_xml(["a", "b"], ["a", "<b>"], NO_BLEU, "refs")


@pytest.mark.parametrize(
    ("reference", "rule", "message"),
    [
        ("ü&nbsp;b", "xml", "is not well-formed XML (undefined entity at character 2)"),
        ("a & b", "xliff", "is not well-formed XML (not well-formed (invalid token) at"),
        ("<x:b>a</x:b>", "xml", "is not well-formed XML (unbound prefix at character 1)"),
        ("\ud800", "xml", "is not well-formed XML, so"),
        ("<b>", "html", "has tags that do not nest"),
    ],
)
def test_what_is_wrong_with_a_reference_is_told(reference, rule, message):
    with pytest.raises(InputError, match=re.escape(message)):
        score_xml(["a"], [reference], XmlConfig(rule, None), "refs")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rule": "sgml"}, "sgml"),
        ({"words": "moses"}, "target_lang"),
        ({"words": "moses", "language": "ja"}, "KyTea"),
        ({"words": "kytea"}, "kytea"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        XmlConfig(**settings)


NAMES = (
    "ph xref uicontrol b codeph parmname i title menucascade varname userinput filepath term "
    "systemoutput cite li ul p note indexterm u fn"
)


def test_the_22_names_of_the_corpus_are_tags_and_others_are_words():
    assert len(set(NAMES.split())) == 22
    for name in NAMES.split():
        assert split_at_tags(f"a <{name}>b</{name}> c", "lxm") == ["a ", "b", " c"], name
        assert split_at_tags(f"a <x{name}>b", "lxm") == [f"a <x{name}>b"]
