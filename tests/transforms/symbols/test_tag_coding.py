"""Tags are encoded as symbols and decoded, with or without the white-space shift."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.markup.markup import INDEXED, XLIFF, XML, Marked, parse_markup
from pairweave.transforms.markup.tag_table import TagTable
from pairweave.transforms.symbols.tag_coding import Coding, shift_tags
from pairweave.transforms.symbols.tag_repair import Repairs
from pairweave.transforms.symbols.whitespace import shift_whitespace
from tests.makers.marked_texts import SYNTAXES, marked_texts, representations


def test_white_space_moves_behind_opening_symbols():
    coding = Coding(whitespace_shift=True)
    string, table = coding.encode("the <b>green <i>witch</i></b> <br/>.")
    assert string == "the<a_0> green<a_1> witch</a_1></a_0><a_2/> ."
    assert coding.decode("la<a_0> bruja<a_1> verde</a_1></a_0><a_2/> .", table) == (
        "la <b>bruja <i>verde</i></b> <br/>.",
        Repairs(),
    )


TAGS = [f"<a_{n}>" for n in range(3)] + [f"</a_{n}>" for n in range(3)]
SHIFTED = st.lists(st.sampled_from([*TAGS, " ", "\u3000", "\t", "x", "<", "yz"]), max_size=14)


@given(SHIFTED.map("".join))
def test_shifting_tags_is_shifting_white_space(string):
    assert str(shift_tags(parse_markup(string, INDEXED))[0]) == shift_whitespace(string)


def test_decoding_mends_whatever_of_the_shift_a_model_left_undone():
    coding = Coding(whitespace_shift=True)
    _, table = coding.encode("the <b>green</b> witch")
    for string, text, spaces in (
        ("die<a_0> grüne</a_0> Hexe", "die <b>grüne</b> Hexe", 0),
        ("die <a_0>grüne</a_0> Hexe", "die <b>grüne</b> Hexe", 1),
        ("die <a_0> grüne</a_0> Hexe", "die <b>grüne</b> Hexe", 1),
        ("<a_0> Grüne</a_0> Hexe", "<b>Grüne</b> Hexe", 0),
        ("<a_0>Grüne</a_0> Hexe", "<b>Grüne</b> Hexe", 1),
        ("(<a_0>grüne</a_0>) Hexe", "(<b>grüne</b>) Hexe", 0),
    ):
        assert coding.decode(string, table) == (text, Repairs(spaces=spaces))


def test_a_self_closing_tag_stands_where_its_source_had_it():
    coding = Coding(whitespace_shift=True)
    for source, symbols, target, text in (
        ("see <br/>page", "see<a_0/> page", "siehe<a_0/> Seite", "siehe <br/>Seite"),
        ("see<br/> page", "see<a_0/> page", "siehe<a_0/> Seite", "siehe<br/> Seite"),
        ("see <br/> page", "see <a_0/> page", "siehe <a_0/> Seite", "siehe <br/> Seite"),
        ("<br/> Page", "<a_0/> Page", "<a_0/> Seite", "<br/> Seite"),
        ("<br/>Page", "<a_0/> Page", "<a_0/> Seite", "<br/>Seite"),
    ):
        string, table = coding.encode(source)
        assert string == symbols
        read = TagTable.from_json(table.to_json())
        assert coding.decode(target, read) == (text, Repairs())


@given(marked_texts(), marked_texts(), st.sampled_from(SYNTAXES), st.booleans())
def test_encoding_is_undone_by_decoding(source, target, syntax, shift):
    for representation in representations(syntax):
        coding = Coding(representation, syntax, shift)
        string, table = coding.encode(source)
        assert coding.decode(string, TagTable.from_json(table.to_json())) == (source, Repairs())
        one, other, one_table, other_table = coding.encode_pair(source, target)
        assert coding.decode(one, one_table) == (source, Repairs())
        assert coding.decode(other, other_table) == (target, Repairs())
        assert one_table.entries == table.entries


def real_lines(shared_data):
    """Return every line of the real documents, and its syntax."""
    lines = [
        (XLIFF, line)
        for path in sorted((shared_data / "tagged").glob("*-dev.*"))
        for line in path.read_text(encoding="utf-8").split("\n")
    ]
    for path in sorted((shared_data / "xml").glob("*.json")):
        texts = json.loads(path.read_text(encoding="utf-8"))["text"].values()
        lines += [(XML, text) for text in texts]
    return lines


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 25])
def test_real_documents_are_encoded_and_decoded(shared_data, step):
    lines = real_lines(shared_data)
    assert len(lines) > 12_000
    for syntax, line in lines[::step]:
        for shift in (False, True):
            coding = Coding(syntax=syntax, whitespace_shift=shift)
            string, table = coding.encode(line)
            assert coding.decode(string, table) == (line, Repairs())


def test_text_without_tags_stays_as_it_is():
    string, table = Coding().encode("a < b")
    assert (string, table.entries, table.order) == ("a < b", {}, ())
    assert shift_tags(Marked("a b", ())) == (Marked("a b", ()), frozenset())
