"""Runs written as PO, LXM and HTML fragments, and read again."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.markup_rows import MarkupRow
from pairweave.transforms.export.markup_texts import misread
from pairweave.transforms.formats.html import write_html
from pairweave.transforms.formats.lxm import write_lxm
from pairweave.transforms.formats.po import write_po
from pairweave.transforms.markup.markup import HTML, INDEXED, XML, parse_markup
from pairweave.transforms.markup.pair_markup import PairMarkup
from tests.makers.reading import corpus, read_all
from tests.transforms.formats.test_write_markup import indexed, pairs_of_marked, row_of

READ = {"inline_tags": "index", "tags_differ": "keep"}


def write(form, rows, directory):
    """Write rows; return the input that reads them."""
    if form == "lxm":
        paths = [directory / f"{side}.json" for side in ("source", "target")]
        for path, data in zip(paths, zip(*write_lxm(rows), strict=True), strict=True):
            path.write_bytes(b"".join(data))
        source, target = map(str, paths)
        return corpus(format="lxm", source_input=(source,), target_input=(target,), **READ)
    path = directory / {"po": "a.po", "html": "a.jsonl"}[form]
    path.write_bytes(b"".join({"po": write_po, "html": write_html}[form](rows)))
    return corpus(input=(str(path),), inline_syntax="html", **READ)


SYNTAX = {"po": HTML, "lxm": XML, "html": HTML}


@pytest.mark.parametrize("form", SYNTAX)
@given(pairs=st.lists(pairs_of_marked(), max_size=4))
def test_what_is_written_is_read_again_with_the_same_tags(tmp_path_factory, form, pairs):
    rows = [row_of(*pair, number) for number, pair in enumerate(pairs)]
    rows = [row for row in rows if misread(row, SYNTAX[form]) is None]
    actual = read_all(write(form, rows, tmp_path_factory.mktemp("written")))
    assert len(actual) == len(rows)
    for row, again in zip(rows, actual, strict=True):
        assert again["reason"] is None
        assert (again["source"], again["target"]) == row.texts
        sides = zip(("source", "target"), row.texts, strict=True)
        assert indexed(again) == tuple(row.markup.indexed(side, text) for side, text in sides)


@given(pair=pairs_of_marked())
def test_a_row_is_unfit_if_and_only_if_its_texts_are_read_otherwise(pair):
    row = row_of(*pair)
    for syntax in (HTML, XML):
        again = row_of(*(parse_markup(str(side), syntax) for side in pair))
        told = [row.markup.indexed(side, text) for side, text in sides_of(row)]
        read = [again.markup.indexed(side, text) for side, text in sides_of(again)]
        if misread(row, syntax) is None:
            assert again.texts == row.texts
            assert read == told
        if again.texts != row.texts:
            assert misread(row, syntax) is not None


def sides_of(row):
    return zip(("source", "target"), row.texts, strict=True)


@pytest.mark.parametrize(
    ("text", "syntax", "fits"),
    [
        ("a < b & c", INDEXED, True),
        ("a <b>c</b>", INDEXED, False),
        ("a <a_0>c</a_0> <a_1/>", INDEXED, True),
        ("a <b>c</b><br>", HTML, True),
    ],
)
def test_text_that_looks_like_a_tag_fits_no_text_format(text, syntax, fits):
    marked = parse_markup(text, syntax)
    assert (misread(row_of(marked, marked), HTML) is None) == fits


def test_native_codes_are_written_as_the_tags_that_they_hold(tmp_path):
    path = tmp_path / "a.tmx"
    codes = '<bpt i="1" x="1">&lt;b&gt;</bpt>c<ept i="1">&lt;/b&gt;</ept> <ph x="2">&lt;br&gt;</ph>'
    path.write_text(
        '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>a '
        f'{codes}</seg></tuv><tuv xml:lang="de"><seg>b {codes}</seg></tuv></tu></body></tmx>'
    )
    (row,) = read_all(corpus(input=(str(path),), **READ))
    markup = PairMarkup.from_json(row["markup"])
    made = MarkupRow("0", 1, ("en", "de"), "c", (row["source"], row["target"]), markup)
    assert misread(made, HTML) is None
    assert json.loads(b"".join(write_html([made])))["source"] == "a <b>c</b> <br>"


def test_a_void_tag_of_html_is_read_otherwise_as_xml():
    marked = parse_markup("a<br>b", HTML)
    told = misread(row_of(marked, marked), XML)
    assert told == "the tag '<br>' in the source would be read differently as xml"


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('\n\t"\\'))


@given(st.lists(st.tuples(texts, texts), max_size=5))
def test_a_catalogue_is_read_by_polib_as_it_is_meant(tmp_path_factory, pairs):
    polib = pytest.importorskip("polib", reason="needs polib, a reader of catalogues")
    pairs = [("x" + one, "y" + other) for one, other in pairs]
    rows = [
        row_of(parse_markup(one, INDEXED), parse_markup(other, INDEXED), number)
        for number, (one, other) in enumerate(pairs)
    ]
    path = tmp_path_factory.mktemp("po") / "a.po"
    path.write_bytes(b"".join(write_po(rows)))
    actual = polib.pofile(str(path), encoding="utf-8")
    assert [(entry.msgid, entry.msgstr) for entry in actual] == pairs
    assert [entry.msgctxt for entry in actual] == [row.name for row in rows]
    assert actual.metadata["Language"] == ("de" if rows else "und")


@given(st.lists(st.tuples(texts, texts), max_size=5))
def test_a_catalogue_is_read_by_babel_as_it_is_meant(pairs):
    pofile = pytest.importorskip("babel.messages.pofile", reason="needs Babel")
    pairs = [("x" + one, "y" + other) for one, other in pairs]
    rows = [
        row_of(parse_markup(one, INDEXED), parse_markup(other, INDEXED), number)
        for number, (one, other) in enumerate(pairs)
    ]
    lines = b"".join(write_po(rows)).split(b"\n")
    actual = pofile.read_po([line + b"\n" for line in lines])
    assert [(message.id, message.string) for message in actual if message.id] == pairs


def test_a_catalogue_by_hand():
    source = parse_markup('see <b>"page"</b>\nor\\not', HTML)
    target = parse_markup("siehe <b>Seite</b>", HTML)
    written = b"".join(write_po([row_of(source, target)])).decode()
    head, message = written.split("\n\n")
    assert head.startswith('msgid ""\nmsgstr ""\n"Project-Id-Version: pairweave ')
    assert '\n"Content-Type: text/plain; charset=UTF-8\\n"\n' in head
    assert message == (
        '#. c&d\nmsgctxt "00000000000000000000000000000000-1"\n'
        'msgid ""\n"see <b>\\"page\\"</b>\\n"\n"or\\\\not"\n'
        'msgstr "siehe <b>Seite</b>"\n'
    )


def test_lxm_files_by_hand():
    marked = parse_markup("<b>é</b> &amp;", XML)
    for data, side, lang in zip(
        zip(*write_lxm([row_of(marked, marked)]), strict=True),
        ("source", "target"),
        ("en", "de"),
        strict=True,
    ):
        assert json.loads(b"".join(data)) == {
            "lang": lang,
            "type": side,
            "text": {f"{0:032x}-1": "<b>é</b> &amp;"},
        }


@pytest.mark.parametrize("writer", [write_po, write_lxm])
def test_a_file_has_one_pair_of_languages(writer):
    marked = parse_markup("x")
    rows = [row_of(marked, marked), dataclasses.replace(row_of(marked, marked), langs=("en", "fr"))]
    with pytest.raises(ConfigError, match="is en to fr, earlier pairs are en to de"):
        list(writer(rows))
