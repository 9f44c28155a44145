"""The class of a tag, by its form and its place."""

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms.kernels.tags import tag_text
from pairweave.transforms.tags.tag_measures import CELLS, Elements, Ruler, cells_of, measure

TEXTS = pa.array(["one", "a b c d e f g h i j k l m n o p"])
FORMS = {
    tag_text.EMPTY_AT_START: ("empty", "start"),
    tag_text.EMPTY_AT_END: ("empty", "end"),
    tag_text.SELF_AT_START: ("self_closing", "start"),
    tag_text.SELF_AT_END: ("self_closing", "end"),
    tag_text.OPEN: ("open", "start"),
    tag_text.CLOSE: ("close", "end"),
}


def classes(text, start, end):
    ruler = Ruler.of(TEXTS, "words", "en")
    cells = cells_of(ruler, np.array([text]), np.array([start]), np.array([end]))
    return [CELLS[cell] for cell in cells[:, 0].tolist()]


@pytest.mark.parametrize(
    ("text", "start", "end", "expected"),
    [
        (0, 0, 3, "1 whole"),
        (1, 0, 31, "15+ whole"),
        (1, 0, 1, "1 start"),
        (1, 0, 3, "2 start"),
        (1, 2, 7, "3 middle"),
        (1, 2, 9, "4 middle"),
        (1, 2, 11, "5-6 middle"),
        (1, 2, 13, "5-6 middle"),
        (1, 2, 15, "7-9 middle"),
        (1, 2, 19, "7-9 middle"),
        (1, 2, 21, "10-14 middle"),
        (1, 2, 29, "10-14 middle"),
        (1, 0, 29, "15+ start"),
        (1, 28, 31, "2 end"),
    ],
)
def test_a_pair_is_classed_by_its_words_and_the_ends_it_touches(text, start, end, expected):
    assert classes(text, start, end)[tag_text.PAIR] == expected


@pytest.mark.parametrize(
    ("start", "end", "places"),
    [(0, 3, ("start", "middle")), (2, 5, ("middle", "middle")), (28, 31, ("middle", "end"))],
)
def test_what_has_no_length_is_classed_by_its_form_and_place(start, end, places):
    actual = classes(1, start, end)
    for code, (form, border) in FORMS.items():
        assert actual[code] == f"{form} {places[border == 'end']}"


def test_a_place_inside_a_word_is_in_the_middle():
    ruler = Ruler.of(pa.array(["ab cd"]), "words", "en")
    assert ruler.points(np.zeros(6, np.int64), np.arange(6)).tolist() == [0, 1, 1, 1, 1, 2]


def test_a_pair_around_no_word_is_empty():
    texts = pa.array(["ab cd"])
    spans = [(0, 2), (1, 1), (2, 3), (5, 5)]
    start, end = np.array(spans).T
    text, form = np.zeros(len(spans), np.int64), np.zeros(len(spans), np.int64)
    counts = measure(texts, Ruler.of(texts, "words", "en"), Elements(text, form, start, end))
    assert (counts["form pair"], counts["form empty"]) == (1, 3)
