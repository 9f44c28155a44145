"""HTML entities and C1 controls: kept, decoded, or a reason to reject."""

import html
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.markup.pair_markup import PairMarkup
from pairweave.transforms.reading.damaged_characters import decode_entities, with_c1, with_entity
from tests.makers import runs
from tests.makers.reading import moses, pair_id, pairs, read_all, reasons, single

APOSTROPHE = ("don&#39;t &amp; won&#x27;t", "nicht &quot;so&quot;")


def read(tmp_path, rows, **fields):
    """Read pairs from a file of tab-separated text."""
    (tmp_path / "a.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    return read_all(single(tmp_path / "a.tsv", **fields))


def read_marked(tmp_path, source, target, **fields):
    (row,) = read(tmp_path, [(source, target)], inline_syntax="html", **fields)
    return row


def test_entities_are_kept_unless_something_else_is_asked_for(tmp_path):
    assert pairs(read(tmp_path, [APOSTROPHE])) == [APOSTROPHE]


def test_entities_are_decoded_and_the_id_is_that_of_the_text_as_kept(tmp_path):
    (row,) = read(tmp_path, [APOSTROPHE], html_entities="decode")
    assert (row["source"], row["target"]) == ("don't & won't", 'nicht "so"')
    assert row["id"] == pair_id("en", "de", "don't & won't", 'nicht "so"')
    (same,) = read(tmp_path, [("don't & won't", 'nicht "so"')], html_entities="decode")
    assert same["id"] == row["id"]


def test_entities_turn_a_pair_away_where_that_is_asked_for(tmp_path):
    rows = read(tmp_path, [APOSTROPHE, ("AT&T; R&D &c;", "und &amp Co")], html_entities="reject")
    assert reasons(rows) == ["html_entity", None]
    assert rows[0]["detail"] == "source: &#39; at character 3"
    assert rows[0]["source"] == APOSTROPHE[0]


@pytest.mark.parametrize("inline_tags", ["index", "strip"])
def test_entities_between_tags_turn_a_pair_away_too(tmp_path, inline_tags):
    texts = ("I <b>don&#39;t</b>", "ich <b>nicht</b>")
    for source, target in (texts, texts[::-1]):
        row = read_marked(tmp_path, source, target, inline_tags=inline_tags, html_entities="reject")
        assert row["reason"] == "html_entity"


def test_translations_are_decoded_like_sources(tmp_path):
    for name, text in (("en", "a"), ("de", "b"), ("mt", "c&#39;s &lt;3")):
        (tmp_path / name).write_text(f"{text}\n")
    files = [tmp_path / name for name in ("en", "de", "mt")]
    (row,) = read_all(moses(*files, html_entities="decode"))
    assert row["translation"] == "c's <3"


def test_what_is_decoded_once_is_not_decoded_again():
    assert decode_entities("&amp;quot; &amp;amp;") == "&quot; &amp;"


def test_a_number_of_windows_1252_and_one_of_unicode_give_the_same_character():
    assert decode_entities("&#147;&#8220;&#x93;&ldquo;") == "““““"


@given(st.sampled_from(["amp", "lt", "nbsp", "eacute", "hellip", "NotEqualTilde"]), st.text())
def test_named_entities_are_those_of_html(name, around):
    around = around.replace("&", "")
    text = f"{around}&{name};{around}"
    assert decode_entities(text) == html.unescape(text)


@pytest.mark.parametrize("text", ["a&#10;b", "a&#0;b", "a&#x1B;b", "a&#xD800;b", "a&#9999999;b"])
def test_entities_of_what_is_no_text_reject_the_pair(tmp_path, text):
    rows = read(tmp_path, [(text, "x"), ("a", "b")], html_entities="decode")
    assert reasons(rows) == ["control_char", None]
    assert rows[0]["detail"].endswith("at character 1, from an HTML entity")
    assert rows[0]["source"] == text


def test_a_line_break_may_come_into_being_where_a_format_can_carry_it(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"source": "a&#10;b", "target": "c"}) + "\n")
    (row,) = read_all(single(tmp_path / "a.jsonl", html_entities="decode"))
    assert row["source"] == "a\nb"


MARKED = ("a &lt;i&gt; <b>c&#39;s</b> &amp;x", "ein &lt;i&gt; <b>c&#39;s</b> da")


def test_decoding_makes_no_tag_where_tags_are_kept_beside_the_pair(tmp_path):
    row = read_marked(tmp_path, *MARKED, inline_tags="index", html_entities="decode")
    assert (row["source"], row["target"]) == ("a <i> c's &x", "ein <i> c's da")
    markup = PairMarkup.from_json(row["markup"])
    assert markup.indexed("source", row["source"]) == "a <i> <a_0>c's</a_0> &x"
    assert len(markup.elements) == 1
    clean = ("a <i> <b>c's</b> &x", "ein <i> <b>c's</b> da")
    assert row["id"] == pair_id("en", "de", *clean)


def test_decoding_makes_no_tag_where_tags_are_taken_out(tmp_path):
    row = read_marked(tmp_path, *MARKED, inline_tags="strip", html_entities="decode")
    assert (row["source"], row["target"]) == ("a <i> c's &x", "ein <i> c's da")
    bare = read_marked(tmp_path, "a &lt;b&gt;", "b", inline_tags="reject", html_entities="decode")
    assert (bare["reason"], bare["source"]) == (None, "a <b>")


def test_where_tags_stay_in_the_text_a_pair_is_rejected_that_decoding_gives_a_tag(tmp_path):
    row = read_marked(tmp_path, "a &lt;b&gt; c", "d", html_entities="decode")
    assert row["reason"] == "html_entity"
    assert "its &lt; would decode to html tags; give --inline_tags" in row["detail"]
    row = read_marked(tmp_path, "<b>1 &lt; 2</b>", "d", html_entities="decode")
    assert (row["reason"], row["source"]) == (None, "<b>1 < 2</b>")


def test_texts_of_xml_that_were_escaped_twice_are_decoded_between_their_tags(tmp_path):
    side = "<tuv xml:lang='{}'><seg>it&amp;#39;s <bpt i='1'/>&amp;lt;x<ept i='1'/></seg></tuv>"
    (tmp_path / "a.tmx").write_text(
        "<tmx version='1.4'><header/><body><tu>"
        + side.format("en") + side.format("de") + "</tu></body></tmx>"
    )  # fmt: skip
    fields = {"html_entities": "decode", "inline_tags": "index"}
    (row,) = read_all(single(tmp_path / "a.tmx", **fields))
    assert row["source"] == "it's <x"
    assert PairMarkup.from_json(row["markup"]).indexed("source", row["source"]) == (
        "it's <a_0><x</a_0>"
    )
    (raw,) = read_all(single(tmp_path / "a.tmx", **{**fields, "inline_tags": "raw"}))
    assert raw["source"].startswith("it's <bpt")
    assert "&lt;x" in raw["source"]


C1 = ("he said \x93yes\x94", "er sagte")


@pytest.mark.parametrize(
    ("rule", "reason", "source"),
    [
        ("keep", None, C1[0]),
        ("mend", None, "he said “yes”"),
        ("reject", "control_char", C1[0]),
    ],
)
def test_c1_controls_are_kept_mended_or_a_reason_to_reject(tmp_path, rule, reason, source):
    (row,) = read(tmp_path, [C1], c1_controls=rule)
    assert (row["reason"], row["source"]) == (reason, source)
    assert row["detail"] == ("source: U+0093 at character 8" if reason else None)


def test_a_c1_control_that_windows_1252_does_not_know_is_rejected_when_others_are_mended(tmp_path):
    rows = read(tmp_path, [("a\x80\x81", "b")], c1_controls="mend")
    assert reasons(rows) == ["control_char"]
    assert rows[0]["detail"] == "source: U+0081 at character 2, not a character of windows-1252"


@given(st.lists(st.none() | st.text("a\x7f\x80\x9f\xa0é中&;#39lt", max_size=9), max_size=9))
def test_the_quick_search_for_characters_is_the_slow_one(texts):
    column = pa.array(["x\x93&lt;", *texts], pa.string())[1:]
    slow = [text is not None and any("\x80" <= c <= "\x9f" for c in text) for text in texts]
    assert with_c1(column).tolist() == slow
    decodes = [text is not None and decode_entities(text) != text for text in texts]
    assert with_entity(column).tolist() == decodes


@pytest.fixture
def corpus(tmp_path):
    lines = [f"word {'x' * n}" for n in range(400)]
    (tmp_path / "en").write_text("".join(f"{line}\n" for line in lines))
    lines[3] += " \x93"
    (tmp_path / "de").write_text("".join(f"{line}\n" for line in lines))
    lines[7:10] = ["it&#39;s", "&quot;a&quot;", "R&amp;D"]
    (tmp_path / "mt").write_text("".join(f"{line}\n" for line in lines))
    sides = ("--source_input", "en", "--target_input", "de", "--translation_input", "mt")
    return ("suggest", *sides, "--methods", "random", "--workers", "1", "--max_token_chars", "999")


def notices(tmp_path, name):
    """Return what a run says of characters."""
    every = json.loads((tmp_path / name / "_manifest.json").read_text())["notices"]
    return [one for one in every if one.endswith(("[html_entities]", "[c1_controls]"))]


def test_a_run_says_what_it_passes_on(corpus, tmp_path):
    told = runs.run_well_here(*corpus, "--output", "kept", cwd=tmp_path)
    assert notices(tmp_path, "kept") == [
        "de: C1 control characters (U+0080 to U+009F), usually from text in another encoding, "
        "are kept in 1 of 400 targets; --c1_controls mend reads them as windows-1252, reject "
        "rejects the pairs [c1_controls]",
        "mt: C1 control characters (U+0080 to U+009F), usually from text in another encoding, "
        "are kept in 1 of 400 translations; --c1_controls mend reads them as windows-1252, reject "
        "rejects the pairs [c1_controls]",
        "mt: HTML entities such as &#39; are kept in 3 of 400 translations; --html_entities decode "
        "turns them into characters, reject rejects the pairs [html_entities]",
    ]
    assert "notice: mt: HTML entities such as &#39; are kept in 3 of 400 translations" in told
    mend = ("--html_entities", "decode", "--c1_controls", "mend")
    runs.run_well_here(*corpus, *mend, "--output", "mended", cwd=tmp_path)
    assert notices(tmp_path, "mended") == []
    plan = json.loads((tmp_path / "mended" / "_plan.json").read_text())
    (reading,) = plan["reading"]
    assert (reading["html_entities"], reading["c1_controls"]) == ("decode", "mend")
    turned = ("--html_entities", "reject", "--c1_controls", "reject")
    runs.run_well_here(*corpus, *turned, "--output", "turned", cwd=tmp_path)
    assert notices(tmp_path, "turned") == []
    manifest = json.loads((tmp_path / "turned" / "_manifest.json").read_text())
    assert manifest["rejected"]["html_entity"] == 3
    assert manifest["rejected"]["control_char"] == 1
    assert manifest["rows"]["read"] == manifest["rows"]["kept"] + manifest["rows"]["rejected"]


def test_a_few_entities_in_a_large_column_are_not_worth_a_word(corpus, tmp_path):
    lines = (tmp_path / "mt").read_text().split("\n")
    lines[8:10] = ["a", "b"]
    (tmp_path / "mt").write_text("\n".join(lines))
    runs.run_well_here(*corpus, "--output", "few", cwd=tmp_path)
    assert not any("html_entities" in notice for notice in notices(tmp_path, "few"))


def test_a_run_into_the_directory_of_one_that_read_otherwise_is_refused(corpus, tmp_path):
    runs.run_well_here(*corpus, "--output", "one", cwd=tmp_path)
    again = (*corpus, "--html_entities", "decode", "--output", "one")
    assert runs.run_here(*again, cwd=tmp_path)[0] == 2
