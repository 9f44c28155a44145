"""Links counted in a tokenizer's own pieces, on their way in and on their way out."""

import io
import itertools

import numpy as np
import pyarrow as pa
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.text.piece_numbers import (
    NO_TOKEN,
    in_pieces,
    number_pieces,
    number_sides,
    token_links,
)
from pairweave.transforms.text.tokens import TokenConfig, add_tokens, tokenize
from tests.makers.text_strategies import texts

LINES = [
    f"The {a} {v} the {b} {i}." * 2
    for i, a in enumerate(("house", "horse", "mouse", "tree", "sea"))
    for v in ("sees", "likes", "paints")
    for b in ("house", "horse", "mouse")
]
SETTINGS = {
    "plain": {},
    "bytes": {"byte_fallback": True, "vocab_size": 330},
    "spaces": {"remove_extra_whitespaces": False},
    "suffix": {"treat_whitespace_as_suffix": True},
    "symbols": {"user_defined_symbols": ["<sep>", "it"]},
}
PAIR = {"id": "0" * 32, "corpus": "c", "file": "f", "line": 1, "translation": None}


def links_of_tokens(links, source, target):
    """Turn links that came from outside, between a tokenizer's pieces, into links of tokens.

    A piece that shows nothing passes its links on to the token that it belongs to; without one
    they are dropped.

    Args:
        links: Each inside its pair's pieces (`PieceNumbers.counts`), in any order.
        source: The numbers of the source's pieces ``[pair]``.
        target: Those of the target's.

    Returns:
        Links of tokens, sorted by (source, target), each once.
    """
    offsets, *sides = links
    pairs = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    part = slice(offsets[0], offsets[-1])
    first, second = (
        numbers.tokens[numbers.offsets[pairs] + side[part]].astype(np.int64)
        for numbers, side in zip((source, target), sides, strict=True)
    )
    known = (first != NO_TOKEN) & (second != NO_TOKEN)
    keys = np.unique((pairs[known] << 32) | (first[known] << 16) | second[known])
    bounds = np.searchsorted(keys, np.arange(len(offsets), dtype=np.int64) << 32)
    return bounds, ((keys >> 16) & 0xFFFF).astype(np.int16), (keys & 0xFFFF).astype(np.int16)


def train(**settings):
    model = io.BytesIO()
    wanted = {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2} | settings
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 3), model_writer=model, **wanted
    )
    return TokenConfig("sentencepiece", model.getvalue())


@pytest.fixture(scope="module", params=sorted(SETTINGS))
def config(request):
    return train(**SETTINGS[request.param])


def numbers(text, config):
    """Return each piece's characters and the characters of its token."""
    made = number_pieces(pa.array([text]), config)
    tokens = tokenize(pa.array([text]), config)[0].as_py()
    spans = zip(made.starts.tolist(), made.ends.tolist(), strict=True)
    return [
        (text[start:end], None if token == NO_TOKEN else text[slice(*tokens[token].values())])
        for (start, end), token in zip(spans, made.tokens.tolist(), strict=True)
    ]


def table_of(source, target, config):
    row = PAIR | {"source": source, "target": target, "source_lang": "en", "target_lang": "de"}
    return add_tokens(pa.Table.from_pylist([row], schema=schemas.PAIRS), config)


@given(texts())
def test_there_are_as_many_numbers_as_the_model_has_pieces(config, text):
    processor = sentencepiece.SentencePieceProcessor(model_proto=config.model)
    made = number_pieces(pa.array(["", text, "The house"]), config)
    expected = [len(processor.encode(line)) for line in ("", text, "The house")]
    assert made.counts.tolist() == expected
    tokens = tokenize(pa.array(["", text, "The house"]), config)
    for actual, row in zip(made.tokens_by_text(), tokens.to_pylist(), strict=True):
        assert {token for token in actual if token != NO_TOKEN} == set(range(len(row)))


def test_a_lone_word_mark_belongs_to_the_word_that_it_begins():
    made = numbers("zoo  house 7 ", train())
    assert made[:2] == [("", "z"), ("z", "z")]
    assert made[-2:] == [("", "7"), ("7", "7")]


def test_the_bytes_of_a_character_belong_to_it():
    made = numbers("see 日", train(**SETTINGS["bytes"]))
    # The word mark, and the bytes of the character; the last one spans it.
    assert made[-4:] == [("", "日"), ("", "日"), ("", "日"), ("日", "日")]


def test_a_mark_that_ends_a_word_belongs_to_the_word_before_it():
    config = train(**SETTINGS["suffix"])
    made = numbers("zoo house", config)
    marks = [place for place, (piece, _) in enumerate(made) if not piece]
    assert marks
    assert [made[place][1] for place in marks] == [made[place - 1][1] for place in marks]


def test_words_are_numbered_as_they_are():
    for kind in ("words", "whitespace"):
        made = number_pieces(pa.array(["Don't go.", ""]), TokenConfig(kind), "en")
        assert made.tokens_by_text() == [list(range(made.counts[0])), []]


@given(texts(), texts(), st.data())
def test_links_that_go_out_and_come_back_are_the_same(config, source, target, data):
    table = table_of(source, target, config)
    sizes = [len(table[f"{side}_tokens"][0]) for side in ("source", "target")]
    every = list(itertools.product(*map(range, sizes)))
    chosen = sorted(data.draw(st.sets(st.sampled_from(every)))) if every else []
    links = [{"source": s, "target": t, "probability": 0.5} for s, t in chosen]
    column = pa.array([links], schemas.LINK_LIST)
    table = table.append_column(schemas.SYMMETRIZED.field("links"), column)
    sides = number_sides(table, config)
    out = in_pieces(table, *sides)
    assert out.schema.equals(table.schema)
    cells = [(link["source"], link["target"]) for link in out["links"][0].as_py()]
    assert cells == sorted(set(cells))
    for side, text, column in (("source", source, 0), ("target", target, 1)):
        spans = out[f"{side}_tokens"][0].as_py()
        assert len(spans) == sides[column].counts[0]
        assert all(spans[cell[column]]["start"] < spans[cell[column]]["end"] for cell in cells)
        assert all(0 <= span["start"] <= span["end"] <= len(text) for span in spans)
    tokens = [side.tokens_by_text()[0] for side in sides]
    assert token_links(cells, *tokens) == chosen
    flat = np.array(cells, np.int16).reshape(-1, 2)
    back = links_of_tokens((np.array([0, len(cells)]), flat[:, 0], flat[:, 1]), *sides)
    assert list(zip(*(side.tolist() for side in back[1:]), strict=True)) == chosen


def test_links_from_outside_keep_to_their_own_pairs():
    config = train()
    lines = (["a", "zoo", ""], ["zoo", "a", "b"])
    sides = [number_pieces(pa.array(side), config) for side in lines]
    tokens = [side.tokens_by_text() for side in sides]
    links = [[(0, 1)], [(1, 0), (0, 0)], []]
    flat = np.array(list(itertools.chain(*links)), np.int16)
    made = links_of_tokens((np.array([0, 1, 3, 3]), flat[:, 0], flat[:, 1]), *sides)
    expected = [token_links(line, *row) for line, *row in zip(links, *tokens, strict=True)]
    assert made[0].tolist() == [0, *np.cumsum([len(line) for line in expected]).tolist()]
    assert list(zip(*(side.tolist() for side in made[1:]), strict=True)) == list(
        itertools.chain(*expected)
    )


def test_words_and_marks_of_several_texts_are_numbered_in_each():
    actual = number_pieces(pa.array(["a bc", "", "d, e"]), TokenConfig("words"))
    assert actual.offsets.tolist() == [0, 2, 2, 5]
    assert np.asarray(actual.starts).tolist() == [0, 2, 0, 1, 3]
    assert np.asarray(actual.ends).tolist() == [1, 4, 1, 2, 4]
    assert actual.tokens.tolist() == [0, 1, 0, 1, 2]
