"""Markup is taken apart and put together without losing a character."""

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup import markup
from pairweave.transforms.markup.markup import (
    HTML,
    INDEXED,
    XLIFF,
    XML,
    Form,
    Kind,
    Tag,
    closes,
    find_elements,
    find_syntax,
    is_nested,
    parse_markup,
    strip_markup,
)

PIECES = st.sampled_from(
    [
        *(
            "<g id='1'>",
            "</g>",
            '<x id="2"/>',
            "<bx id='3'/>",
            "<bpt id='4'>",
            "</bpt>",
            "<ex id='3'/>",
            "<br>",
            "<b>",
            "</b>",
        ),
        *("<a_1>", "</a_1>", "<a_2/>", "<!-- n -->", "<", ">", "&lt;", " ", "é", "漢", "<1>"),
    ]
)


@given(st.lists(PIECES | st.text(max_size=3)).map("".join))
def test_what_is_taken_apart_is_put_together_again(string):
    for syntax in (XML, HTML, XLIFF, INDEXED):
        marked = parse_markup(string, syntax)
        assert str(marked) == string
        offsets = [tag.offset for tag in marked.tags]
        assert offsets == sorted(offsets)
        numbers = [
            number
            for element in find_elements(marked.tags)
            for number in (element.opening, element.closing)
            if number is not None
        ]
        assert sorted(numbers) == list(range(len(marked.tags)))


def slow_matches(string, syntax):
    """Find tags and comments by a single pattern, which looks far for each comment's end."""
    patterns = markup._TAGS_AND_CODES if syntax.codes else markup._TAGS
    return patterns.with_comments.finditer(string)


COMMENTED = st.sampled_from(
    [
        *("<!--", "-->", "<!-->", "<!--->", "--", ">", "<", "!", "a", "\n"),
        *("<b>", "</b>", "<b c='", "'>", '<b c="', '">', "<ph id='1'>", "<sub>", "</sub>", "</ph>"),
    ]
)


@given(st.lists(COMMENTED, max_size=20).map("".join), st.sampled_from([XML, HTML, XLIFF]))
@example("<!-- a --><b><!--", XML)
@example("<!-- a --><!-- b --><b><!--", XML)
def test_comments_are_those_that_a_single_pattern_finds(string, syntax):
    fast, slow = markup._matches(string, syntax), slow_matches(string, syntax)
    assert [each.regs for each in fast] == [each.regs for each in slow]


@pytest.mark.parametrize("string", ["<!---->", "a<!---->b", "<!-- a --><!---->", "<b><!----></b>"])
def test_an_empty_comment_at_the_end_is_a_comment(string):
    assert "<!---->" in [tag.raw for tag in parse_markup(string).tags]


@pytest.mark.parametrize("syntax", [XML, HTML, XLIFF])
def test_many_comments_without_an_end_take_linear_time(syntax):
    begin = "<!--" * 20_000  # half a minute if each looks for its end
    start = time.process_time()
    for string in (begin, f"<b><!-- a --><b>{begin}", f"{begin}-->{begin}"):
        assert str(parse_markup(string, syntax)) == string
    assert time.process_time() - start < 5


def slow_partners(tags):
    """Return the closing tag of each opening one that has any, by a look at each open tag."""
    partner, waiting = {}, []
    for number, tag in enumerate(tags):
        if tag.kind is Kind.OPEN:
            waiting.append(number)
        elif tag.kind is Kind.CLOSE:
            opening = next((place for place in reversed(waiting) if closes(tags[place], tag)), None)
            if opening is not None:
                waiting.remove(opening)
                partner[opening] = number
    return partner


TAGS = st.builds(
    Tag,
    st.sampled_from([Kind.OPEN, Kind.CLOSE, Kind.EMPTY]),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["", "1", "2"]),
    st.just(""),
    st.just(0),
)


OPENED = Tag(Kind.OPEN, "a", "1", "", 0)
ANY_END, OWN_END = Tag(Kind.CLOSE, "a", "", "", 0), Tag(Kind.CLOSE, "a", "1", "", 0)


@given(st.lists(TAGS, max_size=12))
@example([OPENED, ANY_END, OWN_END])
@example([OPENED, OWN_END, ANY_END])
def test_a_closing_tag_closes_the_last_open_one_that_it_can(tags):
    elements = find_elements(tags)
    pairs = {each.opening: each.closing for each in elements if each.form is Form.PAIR}
    assert pairs == slow_partners(tags)


@pytest.mark.parametrize(
    "string", ["<b>" * 20_000 + "</i>" * 20_000, "<b>" * 40_000 + "</b>" * 40_000]
)
def test_the_partners_of_many_tags_are_found_in_linear_time(string):
    tags = parse_markup(string).tags
    start = time.process_time()
    find_elements(tags)
    assert time.process_time() - start < 2


def forms(string, syntax=XML):
    marked = parse_markup(string, syntax)
    return [
        (element.form, marked.text[element.start : element.end])
        for element in find_elements(marked.tags)
    ]


def test_pairs_are_found_inside_out():
    assert forms("<b>a<b>c</b></b>") == [(Form.PAIR, "ac"), (Form.PAIR, "c")]


def test_pairs_may_cross():
    assert forms("<b>a<i>c</b>d</i>") == [(Form.PAIR, "ac"), (Form.PAIR, "cd")]
    assert not is_nested(parse_markup("<b>a<i>c</b>d</i>").tags)


def test_tags_nest_if_every_tag_has_its_partner():
    assert is_nested(parse_markup('<g id="1">a<g id="2">b</g></g><x id="3"/>', XLIFF).tags)
    assert not is_nested(parse_markup("<b>a").tags)
    assert not is_nested(parse_markup("a</b>").tags)
    assert not is_nested(parse_markup('<bx id="1"/><bx id="2"/><ex id="1"/>', XLIFF).tags)


def test_half_pairs_are_elements_by_themselves():
    assert forms("a</b>c<i>d") == [(Form.CLOSE, ""), (Form.OPEN, "")]


def test_xliff_opens_and_closes_with_empty_tags():
    assert forms('<bx id="1"/>a<x id="9"/>b<ex rid="1" id="2"/>', XLIFF) == [
        (Form.PAIR, "ab"),
        (Form.SELF_CLOSING, ""),
    ]
    assert forms('<bx id="1"/>ab<ex id="2"/>', XLIFF) == [(Form.OPEN, ""), (Form.CLOSE, "")]


def test_a_native_code_of_xliff_or_tmx_is_one_tag_with_its_content():
    bold = '<bpt id="1">&lt;b&gt;</bpt>', '<ept id="1">&lt;/b&gt;</ept>'
    code = '<ph id="2" ctype="x">a <sub>b</sub> c</ph>'
    marked = parse_markup(f"x {bold[0]}y{bold[1]} {code}", XLIFF)
    assert marked.text == "x y "
    assert [tag.raw for tag in marked.tags] == [*bold, code]
    assert forms(
        '<bpt i="1" x="1">{</bpt>a<bpt i="2"/>b<ept i="1">}</ept>c<ept i="2"/>', XLIFF
    ) == [
        (Form.PAIR, "ab"),
        (Form.PAIR, "bc"),
    ]


def test_an_isolated_tag_matches_no_other():
    assert forms('<it id="1" pos="open">[</it>a<it id="1" pos="close"/>b<it id="1"/>', XLIFF) == [
        (Form.OPEN, ""),
        (Form.CLOSE, ""),
        (Form.SELF_CLOSING, ""),
    ]


def test_without_an_id_or_an_end_no_element_is_a_native_code():
    assert forms("<ph>32 KB</ph>", XLIFF) == [(Form.PAIR, "32 KB")]
    assert forms('<ph id="1">32 <g id="2">KB</g>', XLIFF) == [(Form.OPEN, ""), (Form.PAIR, "KB")]


def test_elements_of_html_are_no_annotations_of_xliff():
    assert forms("<em>a</em> <sm>b</sm>", XLIFF) == []
    assert forms('<sm id="1"/>a<em startRef="1"/>', XLIFF) == [(Form.PAIR, "a")]


def test_a_native_code_of_tmx_is_one_tag():
    assert forms('<hi x="1">a<ut x="2">{b}</ut></hi>', XLIFF) == [
        (Form.PAIR, "a"),
        (Form.SELF_CLOSING, ""),
    ]


def test_html_has_tags_that_never_close():
    assert forms("a<br>b<IMG src=x>c", HTML) == [(Form.SELF_CLOSING, "")] * 2
    assert forms("a<br>b") == [(Form.OPEN, "")]


def test_indexed_tags_pair_by_their_number():
    assert forms("<a_1>x<a_2/></a_1></a_3>", INDEXED) == [
        (Form.PAIR, "x"),
        (Form.SELF_CLOSING, ""),
        (Form.CLOSE, ""),
    ]


def test_a_greater_sign_in_an_attribute_ends_no_tag():
    marked = parse_markup('<a title="x > y">z</a>')
    assert (marked.text, marked.tags[0].kind) == ("z", Kind.OPEN)


def test_attributes_of_html_need_neither_quotes_nor_spaces_between_them():
    for tag in ("<a href=/page?id=5&n=6>", '<a href="x"title="y">', "<a href='x'id=y>", "<a b=c=>"):
        marked = parse_markup(f"{tag}z</a>", HTML)
        assert [found.raw for found in marked.tags] == [tag, "</a>"]


def test_names_of_xml_begin_with_any_letter_and_those_of_html_with_an_ascii_one():
    string = "<Übung art='1'>x<名前/></Übung>"
    assert forms(string) == [(Form.PAIR, "x"), (Form.SELF_CLOSING, "")]
    assert forms(string, HTML) == []
    assert forms("<aé>x</aé>", HTML) == [(Form.PAIR, "x")]
    assert forms("<_a>x</_a>") == [(Form.PAIR, "x")]
    assert forms("<_a>x</_a><_b/>", HTML) == []


def test_what_is_no_tag_is_text():
    assert strip_markup("1 < 2 <3> <g id=1>x</g>", XLIFF) == "1 < 2 <3> x"
    assert strip_markup("<u>x</u>", XLIFF) == "<u>x</u>"
    assert strip_markup("<!-- n --><x/>", XLIFF) == "<!-- n -->"


def test_an_unknown_syntax_is_refused():
    with pytest.raises(ConfigError, match="unknown syntax 'sgml'; choose from html, indexed"):
        find_syntax("sgml")


def test_real_documents_come_back_exactly(shared_data):
    lines = [
        line
        for path in sorted((shared_data / "tagged").glob("*-dev.*"))
        for line in path.read_text(encoding="utf-8").split("\n")
    ]
    for path in sorted((shared_data / "xml").glob("*.json")):
        lines += json.loads(path.read_text(encoding="utf-8"))["text"].values()
    tagged = 0
    for line in lines:
        for syntax in (XML, XLIFF):
            marked = parse_markup(line, syntax)
            assert str(marked) == line
            tagged += len(marked.tags)
    assert tagged > 20_000
