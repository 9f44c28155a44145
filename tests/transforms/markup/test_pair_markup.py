import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.markup.markup import (
    HTML,
    INDEXED,
    XLIFF,
    XML,
    find_elements,
    parse_markup,
)
from pairweave.transforms.markup.pair_markup import PairMarkup, pair_markup

PIECES = [
    *(
        "<g id='1'>",
        "</g>",
        '<g id="2">',
        "<x id='3'/>",
        "<b>",
        "</b>",
        "<br/>",
        "<i x='1'>",
        "</i>",
    ),
    *("a", " ", "ü𝄞", "<", "&lt;", "<a_0>", "<bx id='4'/>", "<ex id='4'/>"),
]
marked_texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def paired(source, target, syntax=XML):
    return pair_markup(parse_markup(source, syntax), parse_markup(target, syntax))


@given(marked_texts, marked_texts, st.sampled_from([XML, HTML, XLIFF]))
def test_texts_come_back_through_json_whatever_their_tags(source, target, syntax):
    sides = {"source": parse_markup(source, syntax), "target": parse_markup(target, syntax)}
    markup = PairMarkup.from_json(pair_markup(*sides.values()).to_json())
    for side, text in (("source", source), ("target", target)):
        assert markup.original(side, sides[side].text) == text


@given(marked_texts, marked_texts)
def test_every_element_is_there_once_and_only_like_ones_are_the_same(source, target):
    sides = [parse_markup(text, XML) for text in (source, target)]
    markup = pair_markup(*sides)
    for place, side in enumerate(("source", "target")):
        actual = [span for element in markup.elements if (span := getattr(element, side))]
        wanted = [(element.start, element.end) for element in find_elements(sides[place].tags)]
        assert sorted(actual) == sorted(wanted)
    shared = markup.shared
    assert [element.index for element in shared] == list(range(len(shared)))
    assert all((e.index is None) == (e.source is None or e.target is None) for e in markup.elements)
    # No element is left on both sides that could be one.
    alone = [element for element in markup.elements if element.index is None]
    assert markup.agrees == (not alone)


def test_an_element_that_has_its_equal_takes_no_other_one():
    markup = paired("<g>a</g>", "<g>b</g> <g id='1'>c</g>", XLIFF)
    assert [(element.source, element.target) for element in markup.shared] == [((0, 1), (0, 1))]


@given(marked_texts)
def test_a_text_agrees_with_itself_and_its_indexed_form_has_its_elements(text):
    marked = parse_markup(text, XLIFF)
    markup = pair_markup(marked, marked)
    assert markup.agrees
    assert all(element.source == element.target for element in markup.elements)
    if "<a_0>" not in text:
        indexed = parse_markup(markup.indexed("source", marked.text), INDEXED)
        assert indexed.text == marked.text
        assert [(tag.kind, tag.offset) for tag in indexed.tags] == [
            (tag.kind, tag.offset) for tag in marked.tags
        ]


@pytest.mark.parametrize(
    ("source", "target", "agrees"),
    [
        ("<b>a</b>", "<b>c</b>", True),
        ("<b>a</b>", "<i>c</i>", False),
        ("<b>a</b>", "<b/>", False),
        ("<b>a</b>", "<b>c", False),
        ("<b id='1'>a</b>", "<b id='2'>c</b>", False),
        ("<b id='1'>a</b>", "<b>c</b>", True),
        ("<b href='1'>a</b>", "<b href='2'>c</b>", True),
        ("<b i='1'>a</b>", "<b i='2'>c</b>", True),
        ("<b n='x > y' id='1'>a</b>", "<b id='2'>c</b>", False),
        ("<b>a</b><b>c</b>", "<b>d</b>", False),
        ("", "", True),
    ],
)
def test_sides_agree_if_each_element_of_one_is_one_of_the_other(source, target, agrees):
    assert paired(source, target).agrees == agrees
    assert paired(target, source).agrees == agrees


def test_an_attribute_inside_a_native_code_identifies_no_element():
    codes = [f'<ph x="{x}" id="{x}">{{<sub>a</sub> id="{x}"}}</ph>' for x in "12"]
    assert not paired(*codes, XLIFF).agrees
    codes = [f'<ph id="1">{{<sub id="{number}">a</sub> id="{number}"}}</ph>' for number in "12"]
    assert paired(*codes, XLIFF).agrees


def test_many_tags_are_matched_in_linear_time():
    tags = "<b/>" * 20_000
    start = time.process_time()
    assert paired(tags, tags).agrees
    assert time.process_time() - start < 5


def test_identifiers_beat_order_and_order_serves_without():
    markup = paired(
        "<b id='1'>a</b><b id='2'>b</b><b>c</b>", "<b>C</b><b id='2'>B</b><b id='1'>A</b>"
    )
    assert [(e.index, e.source, e.target) for e in markup.elements] == [
        (0, (0, 1), (2, 3)),
        (1, (1, 2), (1, 2)),
        (2, (2, 3), (0, 1)),
    ]


@pytest.mark.parametrize("name", ["x", "id", "rid", "mid", "startRef"])
def test_each_identifier_beats_order(name):
    markup = paired(f'<t {name}="1"/>a<t {name}="2"/>', f'<t {name}="2"/>A<t {name}="1"/>')
    assert [element.target for element in markup.elements] == [(1, 1), (0, 0)]


def test_the_identifier_of_tmx_for_both_sides_beats_that_of_one():
    markup = paired(
        '<ph x="1" id="7"/>a<ph x="2" id="8"/>', '<ph x="2" id="7"/>A<ph x="1" id="8"/>'
    )
    assert [element.target for element in markup.elements] == [(1, 1), (0, 0)]


def test_indexed_tags_are_matched_by_their_numbers():
    markup = paired("<a_7>a</a_7><a_2/>", "<a_2/><a_7>b</a_7>", INDEXED)
    assert markup.agrees
    assert markup.indexed("target", "b") == "<a_1/><a_0>b</a_0>"
    assert not paired("<a_1/>", "<a_2/>", INDEXED).agrees


def test_elements_of_one_side_alone_get_no_new_number():
    markup = paired("<i>a</i><b>c</b><br/>", "<br/><b>d</b>").renumbered([7, 3])
    assert [element.index for element in markup.elements] == [None, 7, 3]
    assert markup.indexed("source", "ac") == "a<a_7>c</a_7><a_3/>"


def test_elements_of_the_target_alone_are_numbered_after_those_of_the_source():
    markup = paired("<b>a</b>", "<i>A</i><b>B</b>")
    assert [tag.element for tag in markup.target] == [1, 1, 0, 0]
    assert markup.indexed("target", "AB") == "A<a_0>B</a_0>"


@pytest.mark.parametrize("line", ["", "{}", '{"elements": [{}], "source": [], "target": []}', "[]"])
def test_what_is_no_markup_is_an_error(line):
    with pytest.raises(WorkerError, match="the column markup holds"):
        PairMarkup.from_json(line)
