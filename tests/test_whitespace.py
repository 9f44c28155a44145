import re

import regex
from hypothesis import given
from hypothesis import strategies as st

from tests.text_strategies import texts
from transforms.whitespace import OPENING_TAG, WHITE_SPACE, shift_whitespace, unshift_whitespace

tagged = st.lists(
    st.one_of(
        st.sampled_from(["<a_0>", "<a_1>", "</a_1>", "<a_", ">", "<", "a_0>", " ", "\u3000", "x"]),
        texts(2),
    ),
    max_size=12,
).map("".join)


def test_white_space_moves_behind_opening_tags_only():
    for text, shifted in (
        ("the <a_3>green witch</a_3> .", "the<a_3> green witch</a_3> ."),
        ("<a_0>a</a_0> <a_1><a_2>b c</a_2></a_1>", "<a_0>a</a_0><a_1><a_2> b c</a_2></a_1>"),
        ("a \u00a0<a_1>b", "a<a_1> \u00a0b"),
        ("a <a_1>\tb", "a\t<a_1> b"),
        ("a <a_1> <a_2>b", "a<a_1> <a_2> b"),
        ("a <b>b</b> < <a_12>", "a <b>b</b> < <a_12>"),
    ):
        assert shift_whitespace(text) == shifted
        assert unshift_whitespace(shifted) == text


@given(tagged)
def test_shifting_is_undone_by_unshifting_and_the_other_way_round(text):
    assert unshift_whitespace(shift_whitespace(text)) == text
    assert shift_whitespace(unshift_whitespace(text)) == text


@given(tagged)
def test_shifting_moves_nothing_but_white_space(text):
    shifted = shift_whitespace(text)
    assert re.findall(OPENING_TAG, shifted) == re.findall(OPENING_TAG, text)
    table = dict.fromkeys(map(ord, WHITE_SPACE))
    assert shifted.translate(table) == text.translate(table)
    assert sorted(shifted) == sorted(text)


def test_the_tag_is_a_parameter():
    assert shift_whitespace("a <b>c <a_1>d", "<b>") == "a<b> c <a_1>d"


def test_white_space_is_unicodes():
    everything = "".join(map(chr, range(0xD800)))
    assert set(WHITE_SPACE) == set(regex.findall(r"\p{White_Space}", everything))


def test_long_runs_of_white_space_take_linear_time():
    text = "a" + " " * 200_000 + "b <a_1>" + " " * 200_000 + "<a_2>c" + " " * 200_000
    assert unshift_whitespace(shift_whitespace(text)) == text
