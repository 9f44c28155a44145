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
from pairweave.transforms.text.whole_words import (
    find_cuts,
    pair_cuts,
    spaced_word_counts,
    word_counts,
)
from tests.makers.text_strategies import texts
from tests.oracles import slow_tokens

WORDS = TokenConfig()
WHITESPACE = TokenConfig("whitespace")
PAIR = {"id": "0" * 32, "corpus": "c", "file": "f", "line": 1, "translation": None}


@pytest.fixture(scope="module")
def pieces():
    verbs, nouns = ["sees", "likes", "paints", "finds"], ["house", "horse", "mouse", "tree", "sea"]
    lines = [f"The {a} {v} the {b} {i}." for i, a in enumerate(nouns) for v in verbs for b in nouns]
    return TokenConfig("sentencepiece", train_sentencepiece(lines * 3, 60))


def cut(texts, config, language=None):
    found = tokenize(pa.array(texts, pa.string()), config, language).to_pylist()
    return [
        [text[span["start"] : span["end"]] for span in spans]
        for text, spans in zip(texts, found, strict=True)
    ]


def pairs(*rows):
    rows = [
        PAIR | {"source": s, "target": t, "source_lang": sl, "target_lang": tl}
        for sl, s, tl, t in rows
    ]
    return pa.Table.from_pylist(rows, schema=schemas.PAIRS)


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
    found = cut([text, "", " "], pieces)
    assert "".join(found[0]) == regex.sub(r"\s", "", text)
    assert "ﬁ" in "".join(found[0])
    assert found[1:] == [[], []]
    assert any(len(piece) > 1 for piece in found[0])


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


@pytest.mark.parametrize(
    ("language", "text", "config", "expected"),
    [
        ("en", "I can't go.", WORDS, [1, 1, 0, 1, 1, 1]),
        ("fr", "l'eau", WORDS, [1, 1, 1]),
        ("de", "mit Kfz-Papieren", WORDS, [1, 1, 0, 0, 1]),
        ("de", "Vor- und Nach-", WORDS, [1, 0, 1, 1, 0, 1]),
        ("de", "A und -b - -- c", WORDS, [1, 1, 1, 0, 1, 1, 1, 1]),
        ("ja", "オムニチャネル、ア_イ", WORDS, [1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1]),
        ("ja", "カー·ﾊﾟネ", WORDS, [1, 0, 1, 1, 0, 1]),
        ("en", "see #URL1# now", WHITESPACE, [1, 1, 1, 1]),
        ("en", "a#URL1#b", WORDS, [1, 1, 1, 1, 1, 1]),
        ("de", "a %s,b", WHITESPACE, [1, 1, 1]),
        ("de", " ", WORDS, [1]),
    ],
)
def test_cuts_by_hand(language, text, config, expected):
    lines = pa.array([text])
    cuts = find_cuts(lines, tokenize(lines, config, language), language)
    assert cuts.to_pylist() == [[bool(free) for free in expected]]


@given(
    st.lists(texts(), min_size=1, max_size=3), st.sampled_from(["en", "fr", "ca", None]), st.data()
)
def test_a_cut_is_free_if_both_its_borders_are(lines, language, data):
    """Tokens here are any ranges; the spans that must not be split are the slow twin's."""
    spans = []
    for line in lines:
        borders = data.draw(st.lists(st.integers(0, len(line)), unique=True)) if line else []
        borders.sort()
        spans.append(list(zip(borders[::2], borders[1::2], strict=False)))
    tokens = pa.array(
        [[{"start": a, "end": b} for a, b in row] for row in spans], schemas.SPAN_LIST
    )
    expected = []
    for line, row in zip(lines, spans, strict=True):
        whole = slow_tokens.unbroken(line, language)

        def inside(place, whole=whole):
            return any(a < place < b for a, b in whole)

        starts = [not inside(a) for a, _ in row] + [True]
        ends = [True] + [not inside(b) for _, b in row]
        expected.append([a and b for a, b in zip(starts, ends, strict=True)])
    assert find_cuts(pa.array(lines), tokens, language).to_pylist() == expected
    kept = find_cuts(pa.array(lines)[1:], tokens[1:], language).to_pylist()
    assert kept == expected[1:]


def test_pieces_may_be_cut_where_words_end(pieces):
    table = add_tokens(pairs(("en", "houses sees", "de", "x{name}y")), pieces)
    source, target = pair_cuts(table)
    words = [cut([text], WORDS)[0] for text in ("houses sees", "x{name}y")]
    assert sum(source.to_pylist()[0]) == len(words[0]) + 1
    assert sum(target.to_pylist()[0]) <= len(words[1]) + 1
    assert target.to_pylist()[0][0] is True


def test_cuts_need_the_tokens_of_the_same_texts():
    with pytest.raises(WorkerError, match="2 texts, but tokens of 1"):
        find_cuts(pa.array(["a", "b"]), tokenize(pa.array(["a"]), WORDS))


@given(st.lists(texts(), max_size=4))
def test_counts_are_those_of_the_tokens(lines):
    for config in (WORDS, WHITESPACE):
        counts, longest = token_counts(pa.array(lines, pa.string()), config)
        found = cut(lines, config)
        assert counts.tolist() == [len(row) for row in found]
        assert longest.tolist() == [max((len(t) for t in row), default=0) for row in found]


@given(st.lists(texts(), max_size=4), st.sampled_from(["en", "it", None]))
def test_words_hold_a_letter_or_a_digit(lines, language):
    column = pa.array(lines, pa.string())

    def wordlike(found):
        return sum(regex.search(r"[\p{L}\p{N}]", token) is not None for token in found)

    expected = [
        wordlike([line[a:b] for a, b in slow_tokens.unbroken(line, language)]) for line in lines
    ]
    assert word_counts(column, language).tolist() == expected
    expected = [wordlike(row) for row in cut(lines, WHITESPACE)]
    assert spaced_word_counts(column).tolist() == expected


def test_english_clitics_are_no_words():
    assert word_counts(pa.array(["I can't, she's 12 %!"]), "en").tolist() == [4]


def test_real_pairs_have_a_token_for_every_letter(shared_data):
    path = shared_data / "parallel" / "newstest.en-fr.fr.gz"
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")[:-1][::20]
    found = cut(lines, WORDS, "fr")
    for line, row in zip(lines, found, strict=True):
        assert "".join(row) == "".join(line.split()), line
    counts, _ = token_counts(pa.array(lines), WORDS, "fr")
    assert np.array_equal(counts, [len(row) for row in found])
