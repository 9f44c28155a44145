"""Tags become symbols and come back, with the white space before them moved or not."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.marked_texts import SYNTAXES, marked_texts, representations
from transforms.markup import INDEXED, XLIFF, XML, Marked, parse_markup
from transforms.tag_coding import Coding, shift_tags
from transforms.tag_repair import Repairs
from transforms.whitespace import WHITE_SPACE, shift_whitespace


def test_white_space_moves_behind_opening_symbols():
    coding = Coding(whitespace_shift=True)
    string, table = coding.encode("the <b>green <i>witch</i></b> <br/>.")
    assert string == "the<a_0> green<a_1> witch</a_1></a_0> <a_2/>."
    assert coding.decode("la<a_0> bruja<a_1> verde</a_1></a_0> <a_2/>.", table) == (
        "la <b>bruja <i>verde</i></b> <br/>.",
        Repairs(),
    )


TAGS = [f"<a_{n}>" for n in range(3)] + [f"</a_{n}>" for n in range(3)]
SHIFTED = st.lists(st.sampled_from([*TAGS, " ", "\u3000", "\t", "x", "<", "yz"]), max_size=14)


@given(SHIFTED.map("".join))
def test_shifting_tags_is_shifting_white_space(string):
    assert str(shift_tags(parse_markup(string, INDEXED))) == shift_whitespace(string)


@given(marked_texts(), st.sampled_from(SYNTAXES))
def test_shifting_twice_changes_nothing_and_moves_only_white_space(string, syntax):
    marked = parse_markup(string, syntax)
    shifted = shift_tags(marked)
    assert shift_tags(shifted) == marked
    assert [tag.raw for tag in shifted.tags] == [tag.raw for tag in marked.tags]
    table = dict.fromkeys(map(ord, WHITE_SPACE))
    assert shifted.text.translate(table) == marked.text.translate(table)


@given(marked_texts(), marked_texts(), st.sampled_from(SYNTAXES), st.booleans())
def test_encoding_is_undone_by_decoding(source, target, syntax, shift):
    for representation in representations(syntax):
        coding = Coding(representation, syntax, shift)
        string, table = coding.encode(source)
        assert coding.decode(string, table) == (source, Repairs())
        one, other, one_table, other_table = coding.encode_pair(source, target)
        assert coding.decode(one, one_table) == (source, Repairs())
        assert coding.decode(other, other_table) == (target, Repairs())
        assert one_table.entries == table.entries


def test_all_real_documents_are_encoded_and_decoded(shared_data):
    lines = [
        (XLIFF, line)
        for path in sorted((shared_data / "tagged").glob("*-dev.*"))
        for line in path.read_text(encoding="utf-8").split("\n")
    ]
    for path in sorted((shared_data / "xml").glob("*.json")):
        texts = json.loads(path.read_text(encoding="utf-8"))["text"].values()
        lines += [(XML, text) for text in texts]
    assert len(lines) > 12_000
    for syntax, line in lines:
        for shift in (False, True):
            coding = Coding(syntax=syntax, whitespace_shift=shift)
            string, table = coding.encode(line)
            assert coding.decode(string, table) == (line, Repairs())
            assert shift_tags(shift_tags(parse_markup(line, syntax))) == parse_markup(line, syntax)


def test_text_without_tags_stays_as_it_is():
    string, table = Coding().encode("a < b")
    assert (string, table.entries, table.order) == ("a < b", {}, ())
    assert shift_tags(Marked("a b", ())) == Marked("a b", ())
