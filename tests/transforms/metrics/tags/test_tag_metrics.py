import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.pipelines import cli
from pairweave.pipelines.command_line import subcommands
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.markup.markup import HTML, INDEXED, XLIFF, XML, parse_markup
from pairweave.transforms.metrics.tags.tag_failures import Failures, count_failures, find_failures
from pairweave.transforms.metrics.tags.tag_metrics import evaluate_tags
from pairweave.transforms.metrics.tags.tag_positions import (
    PositionLine,
    compare_positions,
    score_positions,
)
from pairweave.transforms.metrics.tags.tag_spans import SpanConfig, score_spans, shift_tags
from pairweave.transforms.metrics.tags.tag_texts import TagTexts, read_texts
from pairweave.transforms.metrics.tags.xml_metrics import XmlConfig
from tests.makers import runs
from tests.oracles import slow_tag_metrics

NO_BLEU = XmlConfig("xml", None)
TAGS = ["<b>", "</b>", "<i>", "</i>", "<x/>"]
XLIFF_TAGS = ['<g id="1">', '<g id="2">', "</g>", '<x id="3"/>', '<x id="4"/>', '<bx id="5"/>']

words = st.lists(st.sampled_from(["ka", "lo", "mi"]), max_size=6)


@st.composite
def marked(draw, tags=TAGS, text=None):
    """Words between single blanks, with tags that part none of them."""
    chosen = draw(words) if text is None else text
    parts = []
    for place in range(len(chosen) + 1):
        before = draw(st.lists(st.sampled_from(tags), max_size=2))
        after = draw(st.lists(st.sampled_from(tags), max_size=1)) if place < len(chosen) else []
        blank = " " if 0 < place < len(chosen) else ""
        parts.append(blank + "".join(before) + "".join(chosen[place : place + 1]) + "".join(after))
    return "".join(parts)


@st.composite
def same_text(draw):
    chosen = draw(words)
    tags = draw(st.lists(st.sampled_from(TAGS), max_size=4))
    result = []
    for _ in range(2):
        order = draw(st.permutations(tags))
        text = " ".join(chosen)
        places = sorted(draw(st.integers(0, len(text))) for _ in order)
        built, done = "", 0
        for tag, place in zip(order, places, strict=True):
            built += text[done:place] + tag
            done = place
        result.append(built + text[done:])
    return result


@given(marked(), marked())
def test_f1_is_that_of_its_definition(one, other):
    hypothesis, reference = parse_markup(one), parse_markup(other)
    (line,) = score_spans([hypothesis], [reference]).lines
    assert list(line) == pytest.approx(slow_tag_metrics.span_f1s(hypothesis, reference))


@given(same_text())
def test_positions_are_compared_as_defined(texts):
    hypothesis, reference = map(parse_markup, texts)
    actual = compare_positions(hypothesis, reference)
    slow = slow_tag_metrics.positions(hypothesis, reference)
    assert (actual.tags, actual.correct, actual.distance) == (slow or (0, 0, 0))
    assert actual.comparable == (slow is not None)


@given(marked(XLIFF_TAGS), marked(XLIFF_TAGS))
def test_changed_dropped_and_added_tags_are_counted_as_defined(one, other):
    hypothesis, source = parse_markup(one, XLIFF), parse_markup(other, XLIFF)
    actual = find_failures(hypothesis, source, XLIFF)
    slow = slow_tag_metrics.failures(hypothesis, source)
    assert (actual.changed_id, actual.dropped, actual.added) == slow
    assert actual.mutilated == 0


@given(marked(XLIFF_TAGS))
def test_a_text_has_no_failure_against_itself(text):
    line = parse_markup(text, XLIFF)
    assert find_failures(line, line, XLIFF) == Failures()
    assert score_spans([line], [line]).f1 in (0.0, 1.0)
    assert compare_positions(line, line).distance == 0


@given(marked())
def test_a_shift_loses_no_tag_and_no_text(text):
    line = parse_markup(text)
    (moved,) = shift_tags([line])
    assert moved.text == line.text
    assert [tag.raw for tag in moved.tags] == [tag.raw for tag in line.tags]
    offsets = [tag.offset for tag in moved.tags]
    assert offsets == sorted(offsets)
    assert parse_markup(str(moved)) == moved
    assert all(
        new <= max(old.offset, *offsets) for new, old in zip(offsets, line.tags, strict=True)
    )


def f1s(hypothesis, reference):
    return score_spans([parse_markup(hypothesis)], [parse_markup(reference)]).lines[0]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "scores"),
    [
        ("the <b>red house</b>", "the <b>red house</b>", [1]),
        ("the <b>red</b> house", "the <b>red house</b>", [2 / 3]),
        ("<b>the red</b> house", "the <b>red house</b>", [1 / 2]),
        ("the red house", "the <b>red house</b>", [0]),
        ("the <i>red</i> house", "the red house", []),
        ("<b>a</b> c <b>d</b>", "<b>a</b> c <b>d</b>", [1]),
        ("<b>foot</b><b>ball</b>", "<b>football</b>", [1]),
        ("<b>a</b> c d", "<b>a</b> c <b>d</b>", [2 / 3]),
        ("<b>a <b>c</b></b>", "<b>a c</b>", [1]),
        ("<b></b>", "a<b></b>", [1]),
        ("<b>x</b>", "x<b></b>", [0]),
        ("<i>a</i> <b>c</b>", "<b>c</b> <i>b</i>", [1, 0]),
        ("l'<b>ami</b>", "l'<b>ami</b>", [1]),
        ("<b>a</b>", "a<b/>", []),
        ("<b>The.</b>", "<b>the</b>", [0]),
    ],
)
def test_f1_of_words_in_tags(hypothesis, reference, scores):
    assert list(f1s(hypothesis, reference)) == pytest.approx(scores)


def test_f1_is_averaged_over_tags_not_lines():
    scores = score_spans(
        [parse_markup(text) for text in ("<b>a</b> <i>c</i>", "<b>x</b>", "no")],
        [parse_markup(text) for text in ("<b>a</b> <i>c</i>", "<b>y</b>", "no")],
    )
    assert (scores.f1, scores.tags) == (pytest.approx(2 / 3), 3)


@pytest.mark.parametrize(
    ("text", "shifted"),
    [
        ("click <b>the red</b> button", "<b>click the</b> red button"),
        ("click <b>the</b> button", "<b>click</b> the button"),
        ("<b>click</b> the", "<b></b>click the"),
        ("a b <x/>c", "a <x/>b c"),
        ("a b c<x/>", "a b <x/>c"),
        ("", ""),
        ("<b></b>", "<b></b>"),
    ],
)
def test_a_shift_moves_tags_by_one_word(text, shifted):
    assert str(shift_tags([parse_markup(text)])[0]) == shifted


@pytest.mark.parametrize(
    ("hypothesis", "reference", "line"),
    [
        ("a <b>cd</b>", "a <b>cd</b>", PositionLine(2, 2, 0, True)),
        ("a <b>cd</b>", "<b>a cd</b>", PositionLine(2, 1, 2, True)),
        ("<x/><x/>ab", "<x/>ab<x/>", PositionLine(2, 1, 2, True)),
        ("<x/>ab<x/>", "<x/><x/>ab", PositionLine(2, 1, 0, True)),
        ("a <b>c</b>", "a <i>c</i>", PositionLine(0, 0, 0, False)),
        ("a <b>d</b>", "a <b>c</b>", PositionLine(0, 0, 0, False)),
        ("a", "a", PositionLine(0, 0, 0, True)),
    ],
)
def test_places_of_tags(hypothesis, reference, line):
    assert compare_positions(parse_markup(hypothesis), parse_markup(reference)) == line


def test_position_figures_are_over_the_lines_that_compare():
    texts = ["a <b>cd</b>", "<b>a</b>", "b"]
    others = ["<b>a cd</b>", "<b>b</b>", "b"]
    scores = score_positions(*([parse_markup(text) for text in side] for side in (texts, others)))
    assert (scores.accuracy, scores.mean_distance, scores.incomparable) == (0.5, 1.0, 1)
    assert score_positions([], []).accuracy is None


def test_each_figure_is_given_under_its_own_name():
    texts = TagTexts(
        ("a <b>cd</b>", "x <i>y</i> z", "<i>a", "b"),
        ("<b>a cd</b>", "x y <i>z</i>", "<i>b</i>", "b"),
        None,
        "references",
        "de",
    )
    scores = evaluate_tags(texts, XmlConfig("xml", "whitespace"), shift=True)
    actual = scores.as_dict()
    assert actual["lines"] == 4
    assert (actual["xml_accuracy"], actual["xml_match"]) == (0.75, 0.75)
    assert (actual["bleu"], actual["xml_bleu"]) == (scores.xml.bleu, scores.xml.xml_bleu)
    assert (actual["f1"], actual["f1_tags"]) == (scores.spans.f1, 3)
    assert actual["position_tags"] == 4
    assert actual["position_accuracy"] == 0.25
    assert actual["mean_distance"] == 1.5
    assert actual["incomparable_lines"] == 1
    assert actual["shifted_f1"] == scores.shifted[1].f1
    assert actual["shifted_xml_bleu"] == scores.shifted[0].xml_bleu
    assert "failures" not in actual


SOURCE = 'a <g id="1">b <g id="2">c</g></g> <x id="3"/> d'


@pytest.mark.parametrize(
    ("output", "failures"),
    [
        (SOURCE, {}),
        ('<x id="3"/> d <g id="1"><g id="2">c</g> b</g> a', {}),
        (SOURCE.replace("2", "4"), {"changed_id": 1}),
        (SOURCE.replace("3", "9").replace("2", "4"), {"changed_id": 2}),
        (SOURCE.replace('<x id="3"/>', '<x id="1"/>'), {"changed_id": 1}),
        (SOURCE.replace('<x id="3"/>', ""), {"dropped": 1}),
        ("a b c d", {"dropped": 5}),
        (SOURCE.replace("<x", "<ph"), {"dropped": 1, "added": 1}),
        (SOURCE + "</g>", {"added": 1}),
        (SOURCE + '<x id="3"/>', {"added": 1}),
        (SOURCE.replace('<x id="3"/>', 'id="3"/>'), {"mutilated": 1}),
        (SOURCE.replace('<x id="3"/>', '<x id="3"'), {"mutilated": 1}),
        (SOURCE.replace('<x id="3"/>', 'x id="3"/>'), {"mutilated": 1}),
        (SOURCE.replace('<x id="3"/>', '< x id = "3" / >'), {"mutilated": 1}),
        (SOURCE.replace('<x id="3"/>', '<xx id="3"/>'), {"mutilated": 1}),
        (SOURCE.replace('<x id="3"/>', 'id="3"'), {"mutilated": 1}),
        (SOURCE + ' id="7">', {"mutilated": 1}),
        ('a <g id="1">b</g> <g id="2">c</g> <x id="3"/> d', {"badly_nested": 1}),
        ('a <g id="2">b <g id="1">c</g></g> <x id="3"/> d', {"badly_nested": 2}),
        ('a <g id="1">b <g id="2">c</g> <x id="3"/> d</g>', {"badly_nested": 1}),
        ('a </g></g> <g id="1"><g id="2"> <x id="3"/> d', {"badly_nested": 2}),
    ],
)
def test_each_failure_is_told_from_the_others(output, failures):
    actual = find_failures(parse_markup(output, XLIFF), parse_markup(SOURCE, XLIFF), XLIFF)
    assert actual == Failures(**failures)


@pytest.mark.parametrize(
    ("output", "source", "syntax", "failures"),
    [
        ("<a_0>x</a_0>", "<a_0>x</a_0>", INDEXED, {}),
        ("<a_3>x</a_3>", "<a_0>x</a_0>", INDEXED, {"changed_id": 2}),
        ("<a_0>x</a_0", "<a_0>x</a_0>", INDEXED, {"mutilated": 1}),
        ("a_0> x < / a_0 >", "<a_0>x</a_0>", INDEXED, {"mutilated": 2}),
        ("pa_0 x", "x", INDEXED, {}),
        ("a_0", "a_0", INDEXED, {}),
        ("<a_0><a_1>x</a_0></a_1>", "<a_0><a_1>x</a_1></a_0>", INDEXED, {"badly_nested": 1}),
        ("<a_0><a_1>x</a_0></a_1>", "<a_0><a_1>x</a_0></a_1>", INDEXED, {}),
        ("<ph>a ph></ph>", "<ph>a</ph>", XML, {"mutilated": 1}),
        ("a < b and c > d", "a < b et c > d", XML, {}),
        ("ph> a </ph>", "<ph>a</ph>", XML, {"mutilated": 1}),
        ("x<br>y", "x<br>y", HTML, {}),
        ("x y", "x<br>y", HTML, {"dropped": 1}),
    ],
)
def test_failures_follow_the_syntax(output, source, syntax, failures):
    actual = find_failures(parse_markup(output, syntax), parse_markup(source, syntax), syntax)
    assert actual == Failures(**failures)


def test_pieces_are_looked_for_in_time_that_grows_with_the_text():
    source = parse_markup("<g>x</g>", XLIFF)
    for text in ("<" * 200_000, "g" * 200_000, 'id="' * 50_000, "<g " * 60_000, "=" * 200_000):
        find_failures(parse_markup(f"{text} <", XLIFF), source, XLIFF)


@pytest.mark.parametrize(("name", "most"), [("eurlex", 7), ("glossary", 0)])
@pytest.mark.parametrize("language", ["de", "fr", "hu"])
def test_real_references_have_hardly_a_failure(shared_data, name, language, most):
    sides = []
    for tag in (language, "en"):
        lines = (shared_data / "tagged" / f"{name}-dev.{tag}").read_text("utf-8").split("\n")[:-1]
        sides.append([parse_markup(line, XLIFF) for line in lines])
    actual = sum(count_failures(*sides, XLIFF), Failures())
    assert actual.total <= most
    assert actual.changed_id == actual.mutilated == 0


def test_the_shift_of_real_tags_halves_f1(shared_data):
    document = json.loads((shared_data / "xml" / "enfr.fr.json").read_text("utf-8"))
    lines = [parse_markup(text) for text in document["text"].values()]
    assert score_spans(lines, lines, "fr").f1 == 1
    assert 0.3 < score_spans(shift_tags(lines, "fr"), lines, "fr").f1 < 0.6


def test_all_figures_are_given_with_their_signatures():
    texts = TagTexts(("<b>a</b> c d e",), ("<b>a</b> c d e",), ("<b>x</b> y",), "r")
    scores = evaluate_tags(texts, XmlConfig("xml", "whitespace"), shift=True)
    actual = json.loads(scores.render().split("\n")[-1])
    assert actual["bleu"] == pytest.approx(100)
    assert (actual["xml_match"], actual["f1"], actual["position_accuracy"]) == (1, 1, 1)
    assert actual["failures"]["total"] == 0
    assert actual["shifted_f1"] < actual["f1"]
    assert set(actual["signatures"]) == {
        *("bleu", "f1", "failures", "positions", "tagged_bleu", "xml"),
    }
    for line in actual["signatures"].values():
        assert f"  {line}" in scores.render()
    assert "tok:whitespace" in actual["signatures"]["bleu"]
    assert "tok:moses-fr" in _signature(XmlConfig("lxm", "moses", "fr"))


def _signature(config):
    pytest.importorskip("sacremoses", reason="needs the extra `evaluate`")
    return evaluate_tags(TagTexts(("a",), ("a",), None, "r"), config).signatures["bleu"]


def test_each_line_is_told_apart():
    texts = TagTexts(("<b>a</b>", "<b>c"), ("<b>a</b>", "<b>c</b>"), ("<b>x</b>", "<b>y</b>"), "r")
    rows = [json.loads(row) for row in evaluate_tags(texts, NO_BLEU).render_lines().splitlines()]
    assert [row["line"] for row in rows] == [1, 2]
    assert [row["well_formed"] for row in rows] == [True, False]
    assert [row["failures"]["dropped"] for row in rows] == [0, 1]


def test_tokenized_lines_are_scored_without_a_warning_to_detokenize_them(caplog):
    lines = ("ka <b> lo </b> .",) * 120
    texts = TagTexts(lines, lines, None, "r")
    assert evaluate_tags(texts, XmlConfig("xml", "whitespace")).tagged.score == pytest.approx(100)
    assert not caplog.messages


def test_no_line_is_refused():
    with pytest.raises(ConfigError, match="no line"):
        evaluate_tags(TagTexts((), (), None, "r"), NO_BLEU)


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def lxm(**changes):
    return json.dumps({"lang": "fr", "type": "target", "text": {"1": "<b>a</b>"}, **changes})


def test_text_is_read_line_by_line(written):
    texts = read_texts(written("h", "a\u2028b\r\nc"), written("r", "d\ne\n"), None)
    assert texts.hypotheses == ("a\u2028b", "c")
    assert texts.sources is None


def test_json_is_read_by_id(written):
    hypothesis = written("h.json", lxm(text={"2": "x", "1": "y"}))
    reference = written("r.json", lxm(text={"1": "a", "2": "b"}))
    source = written("s.json", lxm(lang="en", text={"1": "s", "2": "t"}))
    texts = read_texts(hypothesis, reference, source)
    assert (texts.hypotheses, texts.sources, texts.language) == (("y", "x"), ("s", "t"), "fr")


@pytest.mark.parametrize(
    ("hypothesis", "reference", "code"),
    [
        (("h", "a\n"), ("r", "a\nb\n"), "line_count_mismatch"),
        (("h", b"\xff\n"), ("r", "a\n"), "invalid_utf8"),
        (("h", "a\n"), ("r.json", lxm()), "mixed_formats"),
        (("h.json", "{"), ("r.json", lxm()), "invalid_json"),
        (("h.json", "[]"), ("r.json", lxm()), "wrong_type"),
        (("h.json", lxm(text={"1": 2})), ("r.json", lxm()), "wrong_type"),
        (("h.json", lxm(text=[])), ("r.json", lxm()), "missing_field"),
        (("h.json", lxm()[:-2] + ', "1": ""}}'), ("r.json", lxm()), "duplicate_key"),
        (("h.json", lxm(lang=1)), ("r.json", lxm(lang=1)), "wrong_type"),
        (("h.json", "[" * 100_000), ("r.json", lxm()), "json_too_deep"),
        (("h.json", lxm(text={})), ("r.json", lxm()), "id_mismatch"),
        (("h.json", lxm(text={"1": "a", "9": "b"})), ("r.json", lxm()), "id_mismatch"),
        (("h.json", lxm(lang="de")), ("r.json", lxm()), "language_mismatch"),
    ],
)
def test_files_that_do_not_fit_are_refused(written, hypothesis, reference, code):
    with pytest.raises(InputError) as caught:
        read_texts(written(*hypothesis), written(*reference), None)
    assert caught.value.code == code


@pytest.mark.parametrize("name", ["lines.jsonl", "lines.jsonl.gz"])
def test_the_command_prints_all_and_writes_what_each_line_says(written, tmp_path, capsys, name):
    text = written("h", '<g id="1">a</g>\n')
    lines = tmp_path / name
    arguments = ["tags", text, text, "--source", text, "--syntax", "xliff", "--bleu_words", "off"]
    assert subcommands.run("evaluate", [*arguments, "--lines", str(lines), "--tag_shift"]) == 0
    actual = json.loads(capsys.readouterr().out.strip().split("\n")[-1])
    assert (actual["lines"], actual["bleu"], actual["f1"]) == (1, None, 1)
    data = lines.read_bytes()
    assert json.loads(gzip.decompress(data) if name.endswith(".gz") else data)["f1"] == [1]


def test_the_command_takes_the_language_of_json(written, capsys):
    pytest.importorskip("sacremoses", reason="needs the extra `evaluate`")
    text = written("h.json", lxm())
    assert subcommands.run("evaluate", ["tags", text, text]) == 0
    actual = json.loads(capsys.readouterr().out.strip().split("\n")[-1])
    assert "tok:moses-fr" in actual["signatures"]["bleu"]
    assert "tags:lxm" in actual["signatures"]["xml"]


def test_what_is_wrong_is_said_without_a_trace(written, capsys):
    text = written("h", "<b>a\n")
    assert cli.main(["evaluate", "tags", text, text, "--bleu_words", "off"]) == cli.MEND
    assert "bad_reference" in capsys.readouterr().err


SQUAD = SpanConfig(words="squad")
COVERING = SpanConfig(same_name="covering")


def f1_of(hypothesis, reference, config):
    (line,) = score_spans(
        [parse_markup(hypothesis)], [parse_markup(reference)], "en", config
    ).lines  # fmt: skip
    return line


def test_squad_s_words_know_no_case_punctuation_and_articles():
    pair = "<b>The U.S.-based  house,</b> a", "<b>us-based House</b>"
    assert f1_of(*pair, SQUAD) == (pytest.approx(1.0),)
    (unicode,) = f1_of(*pair, SpanConfig())
    assert unicode < 0.7
    # us, house of three and of two words: precision 2/3, recall 1.
    assert f1_of("<b>us house big</b>", "<b>the US house</b>", SQUAD) == (pytest.approx(0.8),)


def test_spans_of_nothing_but_what_squad_takes_out_agree_with_each_other_alone():
    assert f1_of("<b>the</b> x", "the <b>,</b> x", SQUAD) == (1.0,)
    assert f1_of("<b>the</b> x", "the , <b>x</b>", SQUAD) == (0.0,)


def test_pairs_of_one_name_may_count_as_one_span_that_covers_what_lies_between():
    hypothesis, reference = "<b>a</b> c d <b>e</b>", "<b>a c</b> d <b>e</b>"
    # Merged: a, e of a, c, e. Covering: both hold a, c, d, e.
    assert f1_of(hypothesis, reference, SpanConfig()) == (pytest.approx(0.8),)
    assert f1_of(hypothesis, reference, COVERING) == (1.0,)
    (single,) = f1_of("<b>a</b> c d e", reference, COVERING)
    assert single == pytest.approx(2 * 1 / 5)


def test_the_signature_of_f1_names_words_and_the_reading_of_equal_names():
    texts = TagTexts(("<b>a</b>",), ("<b>a</b>",), None, "r")

    def signature(config):
        return evaluate_tags(texts, NO_BLEU, config).signatures["f1"]

    assert "case:mixed|" in signature(SpanConfig())
    assert "same_name:merged|tags:xml|" in signature(SpanConfig())
    assert signature(SpanConfig()).endswith("|words:unicode")
    assert "case:lc|" in signature(SQUAD)
    assert signature(SQUAD).endswith("|words:squad")
    assert "same_name:covering|" in signature(COVERING)
    in_french = evaluate_tags(texts, XmlConfig("xml", None, "fr")).signatures["f1"]
    assert "|lang:fr|" in in_french


def test_words_and_readings_of_f1_are_options(tmp_path):
    (tmp_path / "out").write_text("<b>The house</b> x <b>y</b>\n")
    (tmp_path / "ref").write_text("<b>house x y</b>\n")
    command = ("evaluate", "tags", "out", "ref", "--bleu_words", "off")

    def f1(*more):
        out = runs.run_well_here(*command, *more, cwd=tmp_path)
        return json.loads(out.splitlines()[-1])["f1"]

    assert f1() == pytest.approx(4 / 6)
    assert f1("--f1_words", "squad") == pytest.approx(0.8)
    assert f1("--f1_same_name", "covering") == pytest.approx(6 / 7)
    assert f1("--f1_words", "squad", "--f1_same_name", "covering") == 1
