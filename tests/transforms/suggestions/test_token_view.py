"""Where a mask may begin and end."""

import pyarrow as pa
import pytest

from pairweave.transforms.suggestions.token_view import view_tokens
from pairweave.transforms.text.tokens import TokenConfig, tokenize


def cuts_of(text, language="de"):
    texts = pa.chunked_array([[text]])
    tokens = pa.chunked_array([tokenize(texts, TokenConfig(), language)])
    languages = pa.chunked_array([[language]])
    view = view_tokens(texts, tokens, languages)
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
