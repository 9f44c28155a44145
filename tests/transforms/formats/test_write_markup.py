"""Runs written as TMX and XLIFF, and read again."""

import dataclasses
import re
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.markup_rows import MarkupRow, markup_rows
from pairweave.transforms.formats.tmx import write_tmx
from pairweave.transforms.formats.xliff import write_xliff
from pairweave.transforms.formats.xliff2 import write_xliff2
from pairweave.transforms.markup.markup import HTML, INDEXED, XLIFF, parse_markup
from pairweave.transforms.markup.pair_markup import PairMarkup, pair_markup
from tests.makers.reading import corpus, read_all

WRITERS = {
    "tmx": lambda rows: write_tmx(rows, "en"),
    "xlf": write_xliff,
    "xliff": write_xliff2,
}
PIECES = {
    HTML: [
        "<b>",
        "</b>",
        "<a href='x&amp;y'>",
        "</a>",
        "<br>",
        "<i/>",
        "<ph>",
        "</ph>",
        '<x id="7"/>',
    ],
    INDEXED: ["<a_0>", "</a_0>", "<a_1>", "</a_1>", "<a_2/>", "<a_3>", "</a_4>"],
    XLIFF: [
        '<g id="1">',
        "</g>",
        "<g id=2>",
        '<x id="&nbsp;"/>',
        '<x id="2"/>',
        '<bx id="3"/>',
        '<ex id="3"/>',
        '<ph id="4"/>',
        '<ph id="5" dataRef="d1"/>',
        '<ph id="6">{0}</ph>',
        '<g id="8" p:q="r">',
        '<mrk mtype="term" mid="9">',
        '<mrk id="m1" type="term">',
        "</mrk>",
        '<pc id="10" dataRefStart="d1">',
        '<pc id="11">',
        "</pc>",
    ],
}
TEXTS = ["word", " ", "\n", "\r", "\t", "<", "&amp;", "]]>", "\u2028", "𝄞", "\u0301"]


@st.composite
def pairs_of_marked(draw):
    """Draw a pair of texts with tags, its sides never without text."""
    syntax = draw(st.sampled_from(list(PIECES)))
    piece = st.sampled_from(PIECES[syntax] + TEXTS)
    sides = ["x" + "".join(draw(st.lists(piece, max_size=10))) for _ in range(2)]
    if draw(st.booleans()):
        sides[1] = sides[0]
    return tuple(parse_markup(side, syntax) for side in sides)


def row_of(source, target, number=0):
    """Make a row from two texts with markup."""
    return MarkupRow(
        f"{number:032x}",
        1,
        ("en", "de"),
        "c&d",
        (source.text, target.text),
        pair_markup(source, target),
    )


def read(path):
    languages = {"source_lang": "en", "target_lang": "de"}
    return read_all(
        corpus(input=(str(path),), inline_tags="index", tags_differ="keep", **languages)
    )


def indexed(row):
    """Return both texts of a row with their markup as indexed tags."""
    if row["markup"] is None:
        return row["source"], row["target"]
    markup = PairMarkup.from_json(row["markup"])
    return tuple(markup.indexed(side, row[side]) for side in ("source", "target"))


@pytest.mark.parametrize("ending", WRITERS)
@given(pairs=st.lists(pairs_of_marked(), max_size=4))
def test_what_is_written_is_read_again_with_the_same_tags_in_the_same_places(
    tmp_path_factory, ending, pairs
):
    rows = [row_of(*pair, number) for number, pair in enumerate(pairs)]
    path = tmp_path_factory.mktemp("written") / f"a.{ending}"
    path.write_bytes(b"".join(WRITERS[ending](rows)))
    ET.parse(path)  # knows name spaces, as other programs do
    actual = read(path)
    assert len(actual) == len(rows)
    for row, again in zip(rows, actual, strict=True):
        assert (again["source"], again["target"]) == row.texts
        assert again["reason"] is None
        sides = zip(("source", "target"), row.texts, strict=True)
        assert indexed(again) == tuple(row.markup.indexed(side, text) for side, text in sides)


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (
            "tmx",
            'a<bpt i="1" x="5" type="b">&lt;b&gt;</bpt>c<ept i="1"/><hi type="t">d</hi><ph x="9"/>',
        ),
        ("xlf", 'a<g id="g1" ctype="bold">c</g><x id="7"/><mrk mid="2" mtype="term">d</mrk>'),
        ("xliff", 'a<pc id="p1" canDelete="no">c</pc><ph id="7"/><sc id="8"/>d<ec startRef="8"/>'),
    ],
)
def test_tags_of_the_format_itself_are_written_as_they_were(tmp_path, ending, text):
    head = {
        "tmx": '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>{0}'
        '</seg></tuv><tuv xml:lang="de"><seg>{0}</seg></tuv></tu></body></tmx>',
        "xlf": '<xliff version="1.2"><file source-language="en" target-language="de"><body>'
        "<trans-unit><source>{0}</source><target>{0}</target></trans-unit></body></file></xliff>",
        "xliff": '<xliff version="2.0" srcLang="en" trgLang="de"><file><unit><segment>'
        "<source>{0}</source><target>{0}</target></segment></unit></file></xliff>",
    }[ending].format(text)
    path = tmp_path / f"a.{ending}"
    path.write_text(head)
    (row,) = read(path)
    markup = PairMarkup.from_json(row["markup"])
    made = MarkupRow("0", 1, ("en", "de"), "c", (row["source"], row["target"]), markup)
    for name, writer in WRITERS.items():
        written = b"".join(writer([made])).decode()
        assert (written.count(text) == 2) == (name == ending)
        again = tmp_path / f"b.{name}"
        again.write_text(written)
        assert indexed(read(again)[0]) == indexed(row)


@pytest.mark.parametrize("ending", ["xlf", "xliff"])
def test_a_prefix_that_another_document_declares_is_not_written(ending):
    marked = parse_markup('x<g id="1" p:q="r">a</g>', XLIFF)
    written = b"".join(WRITERS[ending]([row_of(marked, marked)])).decode()
    assert "<g id" not in written
    assert '&lt;g id="1" p:q="r"&gt;' in written
    ET.fromstring(written)
    marked = parse_markup('x<g id="1" p:q="r" xmlns:p="s">a</g>', XLIFF)
    written = b"".join(write_xliff([row_of(marked, marked)])).decode()
    assert 'x<g id="1" p:q="r" xmlns:p="s">a</g>' in written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x<ph id="1">{0}</ph>', 'x<ph id="1" dataRef="d1"/>'),
        ('x<ph id="1" ctype="lb"/>', 'x<ph id="1" dataRef="d1"/>'),
        ('x<ph id="7" dataRef="d9"/>', 'x<ph id="1" dataRef="d1"/>'),
        (
            'x<mrk mtype="term" mid="3">a</mrk>',
            'x<pc id="1" dataRefStart="d1" dataRefEnd="d2">a</pc>',
        ),
        (
            'x<pc id="7" dataRefStart="d8" dataRefEnd="d9">a</pc>',
            'x<pc id="1" dataRefStart="d1" dataRefEnd="d2">a</pc>',
        ),
        ('x<ph id="7" disp="dataRef=1"/>', 'x<ph id="7" disp="dataRef=1"/>'),
        ('x<mrk id="m1" type="term">a</mrk>', 'x<mrk id="m1" type="term">a</mrk>'),
    ],
)
def test_a_document_of_version_2_has_what_its_tags_name(text, expected):
    marked = parse_markup(text, XLIFF)
    written = b"".join(write_xliff2([row_of(marked, marked)])).decode()
    assert f"<segment>\n<source>{expected}</source>" in written
    elements = list(ET.fromstring(written).iter())
    names = ("dataRef", "dataRefStart", "dataRefEnd")
    named = {each.get(name) for each in elements for name in names} - {None}
    assert named == {each.get("id") for each in elements if each.tag.endswith("}data")}


def test_white_space_is_kept_by_the_unit_as_a_segment_of_version_2_has_no_such_attribute():
    marked = parse_markup("a  b")
    root = ET.fromstring(b"".join(write_xliff2([row_of(marked, marked)])))
    space = "{http://www.w3.org/XML/1998/namespace}space"
    holders = [each.tag.rpartition("}")[2] for each in root.iter() if space in each.attrib]
    assert holders == ["unit"]


@pytest.mark.parametrize("text", ['x<ph id="7" dataRef="d9"/>', 'x<mrk id="m1" type="t">a</mrk>'])
def test_a_tag_of_version_2_is_not_written_unchanged_in_version_1(text):
    marked = parse_markup(text, XLIFF)
    written = b"".join(write_xliff([row_of(marked, marked)])).decode()
    assert text not in written
    assert text[1:].partition(">")[0].replace("<", "&lt;") in written


def test_a_native_code_of_the_same_name_is_not_taken_for_one():
    marked = parse_markup("size: <ph>32 KB</ph>", HTML)
    written = b"".join(WRITERS["tmx"]([row_of(marked, marked)])).decode()
    assert '<bpt i="1" x="1">&lt;ph&gt;</bpt>32 KB<ept i="1">&lt;/ph&gt;</ept>' in written


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("tmx", 'x<bpt i="1" x="1"/>a<bpt i="2" x="2"/>b<ept i="1"/>c<ept i="2"/><ph x="3"/>'),
        ("xlf", 'x<bx id="1"/>a<bx id="2"/>b<ex id="1"/>c<ex id="2"/><x id="3"/>'),
        ("xliff", 'x<sc id="1"/>a<sc id="2"/>b<ec startRef="1"/>c<ec startRef="2"/><ph id="3"/>'),
    ],
)
def test_pairs_that_cross_are_written_as_halves(ending, expected):
    marked = parse_markup("x<a_5>a<a_1>b</a_5>c</a_1><a_0/>", INDEXED)
    assert expected in b"".join(WRITERS[ending]([row_of(marked, marked)])).decode()


@pytest.mark.parametrize(
    ("ending", "expected"),
    [("xlf", 'x<g id="1">a</g>'), ("xliff", 'x<pc id="1">a</pc>')],
)
def test_pairs_that_nest_are_written_as_elements(ending, expected):
    marked = parse_markup("x<a_5>a</a_5>", INDEXED)
    assert expected in b"".join(WRITERS[ending]([row_of(marked, marked)])).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<b>x", '<it id="1" pos="open">&lt;b&gt;</it>x'),
        ("x</b>", 'x<it id="1" pos="close">&lt;/b&gt;</it>'),
    ],
)
def test_half_a_pair_is_isolated(text, expected):
    marked = parse_markup(text, HTML)
    document = b"".join(write_xliff([row_of(marked, marked)])).decode()
    assert f"<source>{expected}</source>" in document


def test_consecutive_rows_of_a_corpus_and_its_languages_are_in_one_file():
    marked = parse_markup("x", HTML)
    rows = [row_of(marked, marked, number) for number in range(4)]
    rows[2] = dataclasses.replace(rows[2], langs=("en", "fr"))
    rows[3] = dataclasses.replace(rows[3], langs=("en", "fr"), corpus="e")
    document = b"".join(write_xliff(rows))
    assert [document.count(tag) for tag in (b"<file ", b"</file>", b"<trans-unit")] == [3, 3, 4]


def test_nested_native_codes_keep_the_closing_code_of_their_own():
    marked = parse_markup("x<b>a<i>b</i>c</b><u>d</u>", HTML)
    written = b"".join(write_xliff2([row_of(marked, marked)])).decode()
    codes = dict(re.findall(r'<data id="([^"]+)">([^<]*)</data>', written))
    pairs = re.findall(r'<pc id="[0-9]+" dataRefStart="([^"]+)" dataRefEnd="([^"]+)"', written)
    assert {(codes[start], codes[end]) for start, end in pairs} == {
        (f"&lt;{name}&gt;", f"&lt;/{name}&gt;") for name in "biu"
    }


def test_a_unit_of_a_memory_names_its_row_and_its_corpus():
    marked = parse_markup("x", HTML)
    written = b"".join(WRITERS["tmx"]([row_of(marked, marked, 7)])).decode()
    assert f'<tu tuid="{7:032x}-1">\n<prop type="x-corpus">c&amp;d</prop>\n' in written


@pytest.mark.parametrize("ending", WRITERS)
def test_no_rows_are_a_document_all_the_same(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    document = b"".join(WRITERS[ending]([]))
    path.write_bytes(document)
    assert ending == "tmx" or len(ET.fromstring(document)) == 1  # XLIFF requires a file
    assert read(path) == []


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("character", ["\x01", "\ufffe", "\uffff"])
def test_a_character_that_xml_cannot_carry_is_an_error_that_names_the_pair(ending, character):
    marked = parse_markup(f"x{character}")
    with pytest.raises(ConfigError, match=rf"pair 0+: the source contains U\+{ord(character):04X}"):
        list(WRITERS[ending]([row_of(marked, marked)]))


def test_a_version_2_document_has_one_pair_of_languages():
    marked = parse_markup("x")
    rows = [row_of(marked, marked), dataclasses.replace(row_of(marked, marked), langs=("en", "fr"))]
    with pytest.raises(ConfigError, match="is en to fr, those before en to de"):
        list(write_xliff2(rows))
    assert b"".join(write_xliff(rows)).count(b"<file ") == 2


def tagged_batch():
    tags = {"index": 4, "form": "pair", "source_start": 2, "source_end": 5}
    row = {
        "id": "0" * 32,
        "source_lang": "en",
        "target_lang": "de",
        "corpus": "c",
        "variant": 1,
        "kind": "tagged",
        "source": "a<a_4> dog</a_4>",
        "target": "ein<a_4> Hund</a_4>",
        "tags": [{**tags, "target_start": 4, "target_end": 8}],
    }
    plain = {
        **row,
        "variant": 0,
        "kind": "plain",
        "source": "a dog",
        "target": "ein Hund",
        "tags": [],
    }
    return pa.RecordBatch.from_pylist([plain, row], schema=schemas.TAGGED)


def test_rows_are_chosen_by_kind_and_white_space_is_put_back():
    (row,) = markup_rows([tagged_batch()], shifted=True)
    assert row.texts == ("a dog", "ein Hund")
    assert row.markup.elements[0].source == (2, 5)
    assert row.markup.elements[0].target == (4, 8)
    (plain,) = markup_rows([tagged_batch()], "plain")
    assert plain.markup.elements == ()
    assert [row.name[-2:] for row in markup_rows([tagged_batch()], "all")] == ["-0", "-1"]
