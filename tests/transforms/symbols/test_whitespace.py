import re

import regex
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.indexed_tag import JOB_TAG
from pairweave.transforms.symbols.whitespace import (
    WHITE_SPACE,
    shift_whitespace,
    unshift_whitespace,
)
from tests.makers.text_strategies import texts

tagged = st.lists(
    st.one_of(
        st.sampled_from(["<a_0>", "<a_1>", "</a_1>", "<a_", ">", "<", "a_0>", " ", "\u3000", "x"]),
        texts(2),
    ),
    max_size=12,
).map("".join)


def test_white_space_moves_behind_tags_before_a_word():
    for text, shifted in (
        ("the <a_3>green witch</a_3> .", "the<a_3> green witch</a_3> ."),
        ("x <a_1><a_2>b c</a_2></a_1>", "x<a_1><a_2> b c</a_2></a_1>"),
        ("a</a_0> <a_1>b", "a</a_0><a_1> b"),
        ("a \u00a0<a_1>b", "a<a_1> \u00a0b"),
        ("<a_0>The</a_0> witch", "<a_0> The</a_0> witch"),
        (" <a_0>The", "<a_0>  The"),
        ("(<a_0>the", "(<a_0>the"),
        ("a <b>b</b> < <a_12>", "a <b>b</b> < <a_12>"),
        ("witch</a_0>.", "witch</a_0>."),
        ("a </a_0>", "a </a_0>"),
    ):
        assert shift_whitespace(text) == shifted
        assert unshift_whitespace(shifted) == text


def test_white_space_that_a_model_left_before_a_tag_stays_there():
    for text, mended in (
        ("die <a_0>grüne</a_0> Hexe", "die <a_0>grüne</a_0> Hexe"),
        ("die <a_0> grüne</a_0> Hexe", "die <a_0>grüne</a_0> Hexe"),
        ("<a_0>Welt</a_0>", "<a_0>Welt</a_0>"),
        ("<a_0> Welt</a_0>", "<a_0>Welt</a_0>"),
        ("die<a_0> <a_1>grüne", "die <a_0><a_1>grüne"),
        ("die</a_0><a_1> grüne", "die</a_0> <a_1>grüne"),
        ("die</a_0> <a_1>grüne", "die</a_0> <a_1>grüne"),
        ("Drücken <a_0/> um", "Drücken <a_0/> um"),
    ):
        assert unshift_whitespace(text) == mended


def test_self_closing_tags_keep_the_word_behind_them_whole():
    assert shift_whitespace("see <a_1/>page") == "see<a_1/> page"
    assert shift_whitespace("see <a_1/> page") == "see <a_1/> page"
    assert shift_whitespace("the <a_0></a_0>witch") == "the<a_0></a_0> witch"


def test_white_space_inside_a_run_of_tags_moves_behind_all_of_them():
    for run in ("<a_0> <a_1><a_2>", "<a_0><a_1> <a_2>", "<a_0/> <a_1></a_1><a_2>"):
        assert shift_whitespace(f"see{run}page") == f"see{run.replace(' ', '')} page"


@given(tagged)
def test_shifting_moves_nothing_but_white_space(text):
    shifted = shift_whitespace(text)
    actual = [match[0] for match in re.finditer(JOB_TAG, text)]
    assert [match[0] for match in re.finditer(JOB_TAG, shifted)] == actual
    table = dict.fromkeys(map(ord, WHITE_SPACE))
    assert shifted.translate(table) == text.translate(table)
    assert len(shifted) - len(text) in (0, 1)


@given(tagged)
def test_no_word_stands_directly_behind_tags_that_white_space_precedes(text):
    shifted = shift_whitespace(text)
    tag = re.sub(r"\(\?P<[a-z]+>", "(?:", JOB_TAG)
    assert not re.search(rf"(?:^|[{WHITE_SPACE}])(?:{tag})+(?!{tag})[^{WHITE_SPACE}]", shifted)


def test_the_tag_is_a_parameter():
    tag = "<(?P<close>/)?b(?P<empty>/)?>"
    assert shift_whitespace("a <b>c <a_1>d", tag) == "a<b> c <a_1>d"


def test_white_space_is_unicodes():
    everything = "".join(map(chr, range(0xD800)))
    assert set(WHITE_SPACE) == set(regex.findall(r"\p{White_Space}", everything))


def test_long_runs_of_white_space_take_linear_time():
    text = "a" + " " * 200_000 + "b <a_1>" + " " * 200_000 + "<a_2>c" + " " * 200_000
    shifted = shift_whitespace(text)
    assert len(shifted) == len(text)
    assert unshift_whitespace(shifted).split() == ["a", "b", "<a_1><a_2>c"]
