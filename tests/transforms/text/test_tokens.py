import gzip

import numpy as np
import pyarrow as pa
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.text.tokens import (
    TokenConfig,
    add_tokens,
    token_counts,
    tokenize,
    train_sentencepiece,
)
from tests.makers.cut_texts import WHITESPACE, WORDS, cut, pairs, small_pieces
from tests.makers.text_strategies import texts


@pytest.fixture(scope="module")
def pieces():
    return small_pieces()


def test_whitespace_is_unicodes():
    texts = [" a\u00a0b\u3000\u2028c\u200bd ", "", " \n", "x\x1cy"]
    assert cut(texts, WHITESPACE) == [["a", "b", "c\u200bd"], [], [], ["x\x1cy"]]


@given(st.lists(texts(), max_size=3))
def test_whitespace_tokens_are_what_stands_between_white_space(lines):
    expected = [regex.findall(r"\P{White_Space}+", line) for line in lines]
    assert cut(lines, WHITESPACE) == expected


def test_each_row_is_cut_in_its_own_language():
    table = add_tokens(
        pairs(("en-GB", "don't", "fr", "l'eau"), ("fr", "l'eau", "de", "l'eau")), WORDS
    )
    assert table.schema.equals(schemas.TOKENS)
    lengths = [
        [len(t) for t in table[f"{side}_tokens"].to_pylist()] for side in ("source", "target")
    ]
    assert lengths == [[2, 2], [2, 1]]


@pytest.mark.parametrize(
    ("code", "longer", "text"),
    [
        ("fr", "fra", "qu'il"),
        ("fr", "fre-CA", "qu'il"),
        ("it", "ita", "dell'anno"),
        ("tr", "tur", "Ayarlar'da"),
        ("ko", "kor", "서울에서"),
    ],
)
def test_a_language_is_the_same_by_its_code_of_three_letters(code, longer, text):
    of_each = [tokenize(pa.array([text]), WORDS, tag).to_pylist() for tag in (code, longer)]
    assert of_each[0] == of_each[1]
    assert len(of_each[0][0]) == 2


def test_slices_and_chunks_are_cut_as_the_whole():
    lines = ["one two", "", "drei, vier", "cinq", "è 六"]
    whole = tokenize(pa.array(lines), WORDS).to_pylist()
    assert tokenize(pa.array(lines)[1:4], WORDS).to_pylist() == whole[1:4]
    chunks = pa.chunked_array([lines[:2], lines[2:]])
    assert tokenize(chunks, WORDS, chunks).to_pylist() == whole
    assert tokenize(pa.array(lines, pa.large_string())[2:], WORDS).to_pylist() == whole[2:]
    assert tokenize(pa.array([], pa.string()), WORDS).to_pylist() == []
    assert tokenize(pa.chunked_array([], pa.string()), WHITESPACE).to_pylist() == []


def test_a_null_text_is_a_fault():
    with pytest.raises(WorkerError, match="1 of 2 texts are null"):
        tokenize(pa.array(["a", None]), WORDS)


@pytest.mark.parametrize(
    ("kind", "model", "message"),
    [
        ("word", None, "did you mean 'words'"),
        ("sentencepiece", None, "need a model"),
        ("words", b"x", "take no SentencePiece model"),
    ],
)
def test_a_wrong_configuration_is_refused(kind, model, message):
    with pytest.raises(ConfigError, match=message):
        TokenConfig(kind, model)


def test_bytes_that_are_no_model_are_refused():
    with pytest.raises(ConfigError, match="not a SentencePiece model"):
        cut(["a"], TokenConfig("sentencepiece", b"not a model"))


def test_pieces_lie_in_the_original_string(pieces):
    text = "  The ﬁne  \uff28ouse\u00a0sees e\u0301 ①½ 日本 \t"
    actual = cut([text, "", " "], pieces)
    assert "".join(actual[0]) == regex.sub(r"\s", "", text)
    assert "ﬁ" in "".join(actual[0])
    assert actual[1:] == [[], []]
    assert any(len(piece) > 1 for piece in actual[0])


@given(texts())
def test_pieces_ascend_and_touch_no_white_space(pieces, text):
    last = 0
    for span in tokenize(pa.array([text]), pieces)[0].as_py():
        assert last <= span["start"] < span["end"] <= len(text)
        piece = text[span["start"] : span["end"]]
        assert not regex.search(r"^\p{White_Space}|\p{White_Space}$", piece)
        last = span["end"]


def test_training_twice_gives_the_same_model_and_its_limits_are_errors():
    lines = [f"word{i % 7} other{i % 5}" for i in range(200)]
    assert train_sentencepiece(iter(lines), 40) == train_sentencepiece(lines, 40)
    with pytest.raises(ConfigError, match="5 pieces"):
        train_sentencepiece(lines, 5)
    with pytest.raises(ConfigError, match="100 pieces"):
        train_sentencepiece([], 100)


@given(st.lists(texts(), max_size=4))
def test_counts_are_those_of_the_tokens(lines):
    for config in (WORDS, WHITESPACE):
        counts, longest = token_counts(pa.array(lines, pa.string()), config)
        actual = cut(lines, config)
        assert counts.tolist() == [len(row) for row in actual]
        assert longest.tolist() == [max((len(t) for t in row), default=0) for row in actual]


def test_real_pairs_have_a_token_for_every_letter(shared_data):
    path = shared_data / "parallel" / "newstest.en-fr.fr.gz"
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")[:-1][::20]
    actual = cut(lines, WORDS, "fr")
    for line, row in zip(lines, actual, strict=True):
        assert "".join(row) == "".join(line.split()), line
    counts, _ = token_counts(pa.array(lines), WORDS, "fr")
    assert np.array_equal(counts, [len(row) for row in actual])


def test_an_armenian_question_mark_is_part_of_its_word_and_the_full_stop_is_a_token():
    text = "Ի\u055eնչ ես\u055e\u0589"
    (tokens,) = tokenize(pa.array([text]), TokenConfig(), "hy").to_pylist()
    assert [text[token["start"] : token["end"]] for token in tokens] == [
        "Ի\u055eնչ",
        "ես\u055e",
        "\u0589",
    ]
