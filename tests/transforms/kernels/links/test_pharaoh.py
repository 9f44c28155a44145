import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.links import pharaoh
from tests.makers.links import flat, unflat

pairs = st.lists(st.lists(st.tuples(st.integers(0, 32766), st.integers(0, 32766)), max_size=6))


def parse(text, *, possible=False):
    data = np.frombuffer(text.encode(), np.uint8)
    offsets, source, target, marks, bad = pharaoh.parse(data, int(possible))
    return unflat(offsets, source, target), marks.tolist(), bad


def write(links):
    return pharaoh.format_links(*flat(links), 1)[0].tobytes().decode()


@given(links=pairs)
def test_links_survive_writing_and_reading(links):
    assert parse(write(links)) == (links, [False] * sum(map(len, links)), -1)


@given(links=pairs)
def test_text_is_what_python_would_write(links):
    assert write(links) == "".join(" ".join(f"{i}-{j}" for i, j in pair) + "\n" for pair in links)


@given(links=pairs)
def test_starts_cut_the_text_into_pairs(links):
    text, starts = pharaoh.format_links(*flat(links), 0)
    actual = [text[a:b].tobytes().decode() for a, b in itertools.pairwise(starts)]
    assert actual == write(links).splitlines()


@given(
    phrases=st.lists(
        st.lists(st.tuples(*[st.integers(0, 32766), st.integers(1, 32767)] * 2), max_size=5)
    )
)
def test_phrases_are_written_with_their_ends_included(phrases):
    offsets = np.cumsum([0, *map(len, phrases)], dtype=np.int64)
    flat_phrases = [phrase for pair in phrases for phrase in pair]
    columns = np.array(flat_phrases, np.int16).reshape(-1, 4).T
    text = pharaoh.format_phrases(offsets, *(np.ascontiguousarray(side) for side in columns))
    assert text.tobytes().decode() == "".join(
        " ".join(f"{a}-{b - 1}:{c}-{d - 1}" for a, b, c, d in pair) + "\n" for pair in phrases
    )


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("", []),
        ("\n", [[]]),
        ("\n\n", [[], []]),
        ("0-1", [[(0, 1)]]),
        ("0-1\n", [[(0, 1)]]),
        ("0-1\r\n2-3\r\n", [[(0, 1)], [(2, 3)]]),
        ("0-1\r", [[(0, 1)]]),
        ("\r\n", [[]]),
        ("  0-1 \t 2-3  \n", [[(0, 1), (2, 3)]]),
        ("32766-0\n", [[(32766, 0)]]),
        ("00-07\n", [[(0, 7)]]),
    ],
)
def test_blanks_line_ends_and_empty_lines_are_read(text, links):
    assert parse(text)[::2] == (links, -1)


@pytest.mark.parametrize(
    ("text", "at", "line"),
    [
        ("x", 0, 0),
        ("0-1 2:3\n", 4, 0),
        ("0-1\n\n1-\n", 5, 2),
        ("-1\n", 0, 0),
        ("1--2\n", 0, 0),
        ("1-2-3\n", 0, 0),
        ("1p2\n", 0, 0),
        ("32767-0\n", 0, 0),
        ("0-32767\n", 0, 0),
        ("0-99999999999999999999999\n", 0, 0),
        ("0-1 \r 0-1\n", 4, 0),
        ("0-1,2-3", 0, 0),
        ("0-1\u00a00-1", 0, 0),
        ("7", 0, 0),
    ],
)
def test_the_first_bad_token_is_found_with_its_line(text, at, line):
    links, _, bad = parse(text)
    assert (bad, len(links) - 1) == (at, line)


def test_possible_links_are_read_where_they_may_stand():
    assert parse("1-2 3p4\n5p6", possible=True) == (
        [[(1, 2), (3, 4)], [(5, 6)]],
        [False, True, True],
        -1,
    )
    assert parse("1p2-3", possible=True)[2] == 0


@given(text=st.text(st.sampled_from("0123456789-p \t\r\n:x"), max_size=30))
def test_any_text_is_read_or_refused_as_its_grammar_says(text):
    lines = re.split(r"\r?\n", text)
    if lines[-1] == "":
        lines.pop()
    elif lines[-1].endswith("\r"):
        lines[-1] = lines[-1][:-1]
    good = all(re.fullmatch(r"[ \t]*(\d+-\d+([ \t]+\d+-\d+)*[ \t]*)?", line) for line in lines)
    small = all(int(number) <= pharaoh.MAX_INDEX for number in re.findall(r"\d+", text))
    actual, _, bad = parse(text)
    assert (bad < 0) == (good and small)
    if bad < 0:
        assert actual == [
            [tuple(map(int, token.split("-"))) for token in line.split()] for line in lines
        ]
