"""Where a mask may begin and end."""

import pyarrow as pa
import pytest

from pairweave.transforms.suggestions.token_view import view_tokens
from pairweave.transforms.text.tokens import TokenConfig, tokenize


def view_of(text, language="de"):
    texts = pa.chunked_array([[text]])
    tokens = pa.chunked_array([tokenize(texts, TokenConfig(), language)])
    return view_tokens(texts, tokens, pa.chunked_array([[language]]))


def cuts_of(text, language="de"):
    view = view_of(text, language)
    pieces = [text[a:b] for a, b in zip(view.starts, view.ends, strict=True)]
    return pieces, view.cuts.tolist()


@pytest.mark.parametrize(
    ("text", "pieces", "cuts"),
    [
        ("Kfz-Papiere da", ["Kfz", "-", "Papiere", "da"], [True] * 5),
        ("3.5 km", ["3.5", "km"], [True, True, True]),
        ("see a@b.de", ["see", "a@b.de"], [True, True, True]),
        ("100%", ["100", "%"], [True, True, True]),
        ("2½ da", ["2", "½", "da"], [True, False, True, True]),
        ("da 2½", ["da", "2", "½"], [True, True, False, True]),
    ],
)
def test_masks_may_part_compounds_at_hyphens_and_no_numbers(text, pieces, cuts):
    assert cuts_of(text) == (pieces, cuts)


def test_masks_may_part_compounds_where_tags_may_not():
    assert cuts_of("well-known", "en") == (["well", "-", "known"], [True] * 4)


@pytest.mark.parametrize(
    ("text", "tags", "partners"),
    [
        ("da <a_0/> da", [], []),
        ("da <br/> da", [], []),
        ("<a_0>da <a_1/></a_0> da", [0, 3], [3, 0]),
        ("da <a_0> da", [1], [-1]),
        ("<a_0/>da</a_0> da", [2], [-1]),
    ],
)
def test_an_empty_tag_is_no_half_but_no_word_either(text, tags, partners):
    view = view_of(text)
    assert (view.tags.tolist(), view.partners.tolist()) == (tags, partners)
    assert view.tag_offsets.tolist() == [0, len(tags)]
    assert int(view.wordlike.sum()) == text.count("da")
