"""The table of original tags: which tags are a text's own, and what is written to a file."""

import dataclasses
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import XLIFF, Form, Kind, parse_markup
from pairweave.transforms.markup.tag_table import (
    Entry,
    Mark,
    TagTable,
    find_crossing,
    indexed_tag,
    match_tags,
    number_pair,
    number_tags,
)
from pairweave.transforms.symbols.tag_coding import Coding


def written(marks):
    return "".join(indexed_tag(*mark) for mark in marks)


def pair_tables(source, target):
    return number_pair(parse_markup(source), parse_markup(target))[2:]


def test_a_text_has_its_own_tags_in_its_own_order():
    table, other = pair_tables("<b>a</b> <i>c</i><hr/>", "<i>d</i> <b>e</b><br/>")
    assert written(table.marks) == "<a_0></a_0><a_1></a_1><a_2/>"
    assert written(other.marks) == "<a_1></a_1><a_0></a_0><a_3/>"
    assert written(table.written) == written(other.written)
    assert list(other.entries) == [0, 1, 3]  # in the order of their numbers


def test_tags_beside_those_of_its_entries_are_not_the_texts_own():
    half = TagTable({0: Entry(Form.OPEN, "b", "<b>", None)}, tuple(Mark(kind, 0) for kind in Kind))
    assert half.marks == (Mark(Kind.OPEN, 0),)


def test_literals_that_are_plain_text_are_no_tags():
    table = Coding(syntax=XLIFF).encode('<a_0> <g id="1">b</g> </a_7>')[1]
    table = dataclasses.replace(table, plain=frozenset({0}))
    for marks in (table.written, table.marks):
        assert written(marks) == "<a_1></a_1><a_2/>"
    assert table.numbers == (1, 2)


def test_different_literals_of_a_pair_are_different_elements():
    one, other, table, other_table = Coding(syntax=XLIFF).encode_pair("<a_5>", "<a_6>")
    assert (one, other) == ("<a_0/>", "<a_1/>")
    assert table.literals == other_table.literals == {0: "<a_5>", 1: "<a_6>"}


@pytest.mark.parametrize(
    "text",
    [
        '<bx id="7"/>a<ex id="7"/>',
        '<sm id="7"/>a<em startRef="7"/>',
        '<sc id="7"/>a<ec startRef="7"/>',
        "<g>a</g>",
    ],
)
def test_pairs_that_were_halves_stay_halves(text):
    _, table = number_tags(parse_markup(text, XLIFF))
    assert table.halved == (frozenset() if text == "<g>a</g>" else {0})


@given(st.permutations(range(16)), st.integers(0, 8))
def test_pairs_cross_if_each_has_one_tag_inside_the_other(places, count):
    spans = {n: tuple(places[2 * n : 2 * n + 2]) for n in range(count)}
    crossing = {
        number
        for one, (start, end) in spans.items()
        for other, (other_start, other_end) in spans.items()
        if start < other_start < end < other_end
        for number in (one, other)
    }
    assert find_crossing(spans) == crossing


@pytest.mark.parametrize("text", ["<b/>" * 20_000, "<b>" * 10_000 + "</b>" * 10_000])
def test_many_tags_are_numbered_in_linear_time(text):
    marked = parse_markup(text)
    start = time.process_time()
    table = number_pair(marked, marked)[3]
    assert not table.halved
    assert time.process_time() - start < 5


def test_a_tag_that_the_table_lacks_has_no_number_whatever_its_id():
    _, table = number_tags(parse_markup('<g id="5">a</g>', XLIFF))
    marked = match_tags(parse_markup('<g id="5">a</g><x id="0"/>', XLIFF), table)
    assert [tag.key for tag in marked.tags] == ["0", "0", ""]


def test_a_table_is_written_without_what_it_does_not_have():
    _, table = number_tags(parse_markup("<b>a</b>"))
    assert set(table.to_json()) == {"order", "tags"}


def test_numbers_are_written_in_their_order():
    _, table = number_tags(parse_markup("<b>a</b>"))
    numbers = frozenset({8, 1, 16})
    table = dataclasses.replace(table, literals={1: "<a_1>"}, plain=numbers, led=numbers)
    value = json.loads(json.dumps(table.to_json()))
    assert value["plain"] == value["led"] == [1, 8, 16]


@pytest.mark.parametrize("exact", [[], ["a"], ["a", "b", "c"]])
def test_an_exact_text_without_its_partner_is_refused(exact):
    good = number_tags(parse_markup("<b>a</b>"))[1].to_json()
    with pytest.raises(ConfigError, match="exact holds a text with symbols and a text"):
        TagTable.from_json({**good, "exact": exact})


def test_a_tag_without_text_is_refused_by_its_name():
    good = number_tags(parse_markup("<b>a</b>"))[1].to_json()
    bad = {**good, "tags": [{**good["tags"][0], "closing": None}]}
    with pytest.raises(ConfigError, match="</a_0> has no text"):
        TagTable.from_json(bad)
