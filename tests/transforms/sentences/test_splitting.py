import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.sentences.splitting import Splitting, split_lines
from pairweave.transforms.text.sentence_splitter import installed_name
from tests.makers.text_strategies import texts

pytestmark = pytest.mark.skipif(
    installed_name() is None, reason="needs the extra split: pip install 'pairweave[split]'"
)


def cut(kind, lines, paragraphs, language="en", whole=()):
    splitting = Splitting(kind, installed_name())
    return split_lines(lines, np.array(paragraphs), frozenset(whole), splitting, language)


def test_a_line_is_a_paragraph_that_is_cut():
    actual = cut("lines", [" One. Two.", "Three"], [0, 0])
    assert actual.texts == ["One.", "Two.", "Three"]
    assert (actual.lines, actual.paragraphs) == ([0, 0, 1], [0, 0, 1])
    assert actual.spaced == [True, True, True]


def test_lines_up_to_a_blank_one_are_joined():
    lines = ["One is", "long. Two is ", "", "three. Four.", "Five."]
    actual = cut("paragraphs", lines, [0, 0, 0, 0, 1], whole=[2])
    assert actual.texts == ["One is long.", "Two is", "", "three.", "Four.", "Five."]
    assert actual.lines == [0, 1, 2, 3, 3, 4]
    assert actual.paragraphs == [0, 0, 0, 0, 0, 1]


def test_lines_of_chinese_are_joined_without_a_space_and_others_with_one():
    actual = cut("paragraphs", ["我们去", "学校。他说", "OK", "then"], [0] * 4, "zh")
    assert actual.texts == ["我们去学校。", "他说 OK then"]
    assert actual.spaced == [True, False]


def test_lines_of_korean_are_joined_with_a_space():
    actual = cut("paragraphs", ["나는 학교에", "갔다."], [0, 0], "ko")
    assert actual.texts == ["나는 학교에 갔다."]


@given(
    st.lists(st.tuples(texts(), st.booleans()), min_size=1),
    st.sampled_from(["lines", "paragraphs"]),
)
def test_no_character_is_lost_but_white_space(lines, kind):
    named = [("".join(text.split("\n")) or "x", begins) for text, begins in lines]
    named = [(text if text.strip() else "x", begins) for text, begins in named]
    made = cut(kind, [text for text, _ in named], np.cumsum([begins for _, begins in named]))
    assert "".join("".join(made.texts).split()) == "".join("".join(t for t, _ in named).split())
    assert made.lines == sorted(made.lines)
    assert made.paragraphs == sorted(made.paragraphs)
    for text, line in zip(made.texts, made.lines, strict=True):
        assert named[line][0].strip().startswith(text[:1]) or text[:1] in named[line][0]
