"""Tags in another syntax than the given one are noticed; text that only looks like it is not."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError
from pairweave.transforms.markup.markup import SYNTAXES
from pairweave.transforms.markup.other_syntax import SyntaxCheck


def check(syntax, *lines):
    made = SyntaxCheck("s.txt", SYNTAXES[syntax])
    for line in lines:
        made.add(line)
    return made


@pytest.mark.parametrize(
    ("syntax", "line", "named"),
    [
        ("xliff", "see <b>the</b> x", "xml"),
        ("xliff", "see <a_0>the</a_0> x", "indexed"),
        ("xliff", "one<br>two", "html"),
        ("xliff", "<B>one</b>", "html"),
        ("xliff", 'a <img src="x"> b', "html"),
        ("xliff", "a <break/> b", "xml"),
        ("indexed", 'see <g id="1">the</g><x id="2"/>', "xliff"),
        ("indexed", 'see <bx id="1"/>the<ex rid="1"/>', "xliff"),
        ("indexed", 'see <bpt id="1">{</bpt>the<ept id="1">}</ept>', "xliff"),
        ("indexed", 'see <g id="1">the</g> <b>x</b>', "xml"),
        ("indexed", "<code>x</code><br>", "html"),
    ],
)
def test_a_file_with_tags_in_another_syntax_alone_is_refused_and_the_syntax_is_named(
    syntax, line, named
):
    with pytest.raises(InputError) as caught:
        check(syntax, "plain", line, "plain").warning()
    message = str(caught.value)
    assert message.startswith("s.txt:2: ")
    assert f" {named}, not {syntax}" in message
    assert f"give --syntax {named}" in message


@pytest.mark.parametrize("syntax", ["xliff", "indexed"])
@pytest.mark.parametrize(
    "line",
    [
        "a < b and c > d",
        "usage: run <file> [<more>]",
        "cp <source> <dest>, or <link>",
        "List<String> x",
        "x <!-- remark --> y",
        "I <3 you </3",
        "&lt;b&gt;bold&lt;/b&gt;",
        "</b> alone",
    ],
)
def test_text_that_only_looks_like_tags_is_left_alone(syntax, line):
    assert check(syntax, line).warning() is None


def test_native_codes_are_tags_of_xliff():
    assert check("xliff", '<bpt id="1">&lt;b&gt;</bpt>x<ept id="1"/><ph id="2">{}</ph>').own == 3
    assert check("xliff", '<bpt id="1">&lt;b&gt;</bpt>x<ept id="1"/>').warning() is None


def test_a_few_tags_of_another_syntax_are_warned_of_once():
    lines = ['<g id="1">x</g>', "plain", "<b>y</b> <i>z</i>", "<b>w</b>"]
    assert check("xliff", *lines).warning() == (
        "s.txt:3: 3 tags in 2 of 4 lines are xml, not xliff, the first is <b>; such tags are "
        "taken for text"
    )


def test_one_line_in_a_hundred_refuses_a_file_without_tags_and_one_in_more_warns():
    with pytest.raises(InputError, match="1 of 100 lines"):
        check("xliff", "<b>y</b>", *["plain"] * 99).warning()
    assert "1 tag in 1 of 101 lines" in check("xliff", "<b>y</b>", *["plain"] * 100).warning()
    assert "2 tags in 1 of 101" in check("xliff", "<b>y</b><i/>", *["plain"] * 100).warning()


def test_tags_that_are_misread_in_two_ways_are_warned_of_apart():
    lines = ('see <x id="1"/><br>', "one<br>two")
    assert check("xml", *lines).warning() == (
        "s.txt:1: 2 tags in 2 of 2 lines are html, not xml, the first is <br>; such tags are taken "
        "for opening tags that nothing closes; give --syntax html if this is HTML, or write "
        '<br/>; 1 tag in 1 of 2 lines is xliff, not xml, the first is <x id="1"/>; such tags are '
        "read without their ids; give --syntax xliff if this is XLIFF"
    )
    assert check("xml", *lines).others == 3
    warning = check("xml", "plain", '<x id="1"/>', "<br>").warning()
    assert warning.startswith("s.txt:2: 1 tag in 1 of 3 lines is xliff")


@given(st.lists(st.sampled_from(["<b>", "</b>", "<a_0>", "</a_0>", "<x/>", "<br/>", "a "])))
def test_a_syntax_of_any_tags_is_not_warned_of_tags_that_it_reads_well(parts):
    for syntax in ("xml", "html"):
        assert check(syntax, "".join(parts)).warning() is None


@pytest.mark.parametrize(
    ("line", "number", "verb", "first"),
    [
        ("one<br>two", "1 tag", "is", "<br>"),
        ("<b>one<BR>two</b><hr>", "2 tags", "are", "<BR>"),
        ('a <img src="x"> b', "1 tag", "is", '<img src="x">'),
    ],
)
def test_void_elements_of_html_in_xml_are_warned_of(line, number, verb, first):
    assert check("xml", "plain", line).warning() == (
        f"s.txt:2: {number} in 1 of 2 lines {verb} html, not xml, the first is {first}; such tags "
        "are taken for opening tags that nothing closes; give --syntax html if this is HTML, or "
        "write <br/>"
    )
    assert check("html", line).warning() is None


@pytest.mark.parametrize(
    "line",
    [
        'see <g id="1">the</g> x',
        'a <x id="1"/> b',
        "a <ph/> b",
        'a <ph id="3" equiv="x"/> b',
        'a <bpt id="1">{</bpt>b<ept id="1">}</ept>',
        'a <bx id="1"/>b<ex rid="1"/>',
        '<mrk mid="0" mtype="seg" id="4">b</mrk>',
    ],
)
@pytest.mark.parametrize("syntax", ["xml", "html"])
def test_tags_of_xliff_in_xml_and_html_are_warned_of(syntax, line):
    said = check(syntax, "<b>plain</b>", line).warning()
    assert said.startswith("s.txt:2: ")
    assert f" xliff, not {syntax}" in said
    assert said.endswith("read without their ids; give --syntax xliff if this is XLIFF")
    assert check("xliff", line).warning() is None


@pytest.mark.parametrize(
    ("syntax", "line"),
    [
        ("xml", "a<br/>b<br></br><hr />"),
        ("xml", "cp <source> <dest>, or <link> and <input>"),
        ("xliff", "cp <SOURCE> <dest>, or <link> and <input>"),
        ("xml", '<link href="x">there</link>'),
        ("xml", '<svg><g id="a"><path d="M0"/></g></svg>'),
        ("html", '<svg><g id="a"><path d="M0"/></g></svg>'),
        ("xml", 'the <g>x</g> and <x/>, <ph>7</ph>, <mrk>, <ph keyref="product"/>'),
        ("html", "the <g>x</g> and <x/>, <ph>7</ph>, <mrk>"),
        ("html", 'only <g id="1"> opens'),
        ("html", '<a id="1">b</a><br><img id="2">'),
    ],
)
def test_what_is_no_tag_or_read_well_is_not_warned_of(syntax, line):
    assert check(syntax, line).warning() is None


@pytest.mark.parametrize("name", ["office.en-de", "office.en-fr", "gnome.en-ko", "gnome.en-fi"])
@pytest.mark.parametrize("syntax", ["xml", "html"])
def test_help_pages_have_no_tags_of_another_syntax(shared_data, name, syntax):
    with gzip.open(shared_data / "help" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["target"] for line in lines]
    assert check(syntax, *texts).warning() is None


def test_tagged_texts_have_no_tags_of_another_syntax(shared_data):
    for name in ("eurlex-dev.en", "eurlex-dev.de", "glossary-dev.en", "glossary-dev.fr"):
        texts = (shared_data / "tagged" / name).read_text(encoding="utf-8").split("\n")
        assert check("xliff", *texts).warning() is None
        for other in ("xml", "html"):
            assert f"are xliff, not {other}" in check(other, *texts).warning()
    for name in ("enfr.en.json", "enfr.fr.json"):
        texts = json.loads((shared_data / "xml" / name).read_text(encoding="utf-8"))["text"]
        assert check("xml", *texts.values()).warning() is None


@given(
    st.sampled_from(["xliff", "indexed"]),
    st.lists(
        st.sampled_from(["<g id='1'>", "</g>", "<a_0>", "</a_0>", "<x/>", "<br>", "<b>", "a"])
    ),
)
def test_the_syntax_that_is_named_reads_what_was_found(syntax, parts):
    made = check(syntax, "".join(parts))
    if made.others and not made.own:
        with pytest.raises(InputError):
            made.warning()
        again = SyntaxCheck("s.txt", SYNTAXES[made.foreign.fits[0]])
        again.add("".join(parts))
        # HTML alone reads an element of XLIFF beside one without an end, and says which it is.
        mixed = {"<g id='1'>", "</g>", "<br>"} <= set(parts)
        assert again.warning() is None or mixed
        assert again.own >= made.others
