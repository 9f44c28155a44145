"""Words of scripts without spaces, counted by letters."""

import pyarrow as pa
import pytest

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.text.word_counts import words_of_tokens
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.tokens import TokenConfig, tokenize


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("th", "กขคงจฉช" * 2, 4.0),
        ("km", "ប្តូរ" * 7, 4.0),  # of three letters, one is written under another
        ("my", "က္ခဂ" * 7, 4.0),
        ("zh", "漢字" * 3, 4.0),
        ("ja", "かな" * 3, 2.0),
        ("en", "four words of English", 4.0),
        ("km", "ក", 1.0),
        ("km", "", 0.0),
    ],
)
def test_letters_make_words_where_no_spaces_do(language, text, words):
    texts = pa.array([text])
    tokens = tokenize(texts, TokenConfig(), language)
    counts = tokens.value_lengths().to_numpy()
    counted = words_of_tokens(texts_of(texts), counts, codepoints.properties())
    assert counted.tolist() == pytest.approx([words])
