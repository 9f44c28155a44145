"""Trained models cut words alike with tags and without, in real text (Ryu et al. 2022, 3.4)."""

import gzip
import io
import itertools
import json
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
import sentencepiece

from pairweave.models.subwords.symbol_training import train_with_symbols
from pairweave.transforms.symbols.representations import find_representation
from pairweave.transforms.symbols.whitespace import shift_whitespace
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from pairweave.transforms.text.whole_words import find_cuts
from tests.makers.runs import run_here, run_well_here

SYMBOLS = find_representation("indexed").symbols(10)
LINES = 2_500
MARK = "\u2581"


@pytest.fixture(scope="module")
def texts(shared_data):
    """Return real sentences by language."""
    made = {}
    for lang in ("en", "de"):
        path = shared_data / "parallel" / f"newstest.en-de.{lang}.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            made[lang] = [line.rstrip("\n") for line in itertools.islice(file, LINES)]
    return made


@pytest.fixture(scope="module", params=[pytest.param("unigram", marks=pytest.mark.slow), "bpe"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def processor(texts, kind):
    lines = itertools.chain.from_iterable(texts.values())
    model = train_with_symbols(lines, SYMBOLS, 3_000, kind)
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def tagged(lines, lang):
    """Yield each text and the same with tags wherever they may stand: first, last and in rows."""
    column = pa.array(lines)
    tokens = tokenize(column, TokenConfig(), lang)
    cuts = find_cuts(column, tokens, lang)
    draws = np.random.default_rng(5)
    for text, spans, free in zip(lines, tokens.to_pylist(), cuts.to_pylist(), strict=True):
        places = np.flatnonzero(free)
        if len(places) < 3:
            continue
        count = 2 * min(int(draws.integers(1, 5)), len(places) // 2)
        chosen = np.sort(draws.choice(places, count, replace=False)).tolist()
        chosen[0] = 0 if draws.random() < 0.3 else chosen[0]
        # Some tags close where the next opens.
        parts = []
        for number, (first, last) in enumerate(zip(chosen[::2], chosen[1::2], strict=True)):
            if number and draws.random() < 0.5:
                first = chosen[2 * number - 1]
            parts.append((spans[first]["start"], 1, f"<a_{number}>"))
            parts.append((spans[last - 1]["end"], 0, f"</a_{number}>"))
        if draws.random() < 0.2:
            parts.append((spans[chosen[0]]["start"], 2, "<a_9/>"))
        made, done = "", 0
        for place, _, tag in sorted(parts):
            made += text[done:place] + tag
            done = place
        yield text, made + text[done:]


def pieces(processor, text):
    """Return the pieces of a text without its tags, and without lone marks before these."""
    result = processor.encode(text, out_type=str)
    names = set(SYMBOLS)
    followed = zip(result, [*result[1:], ""], strict=True)
    return [
        piece
        for piece, after in followed
        if piece not in names and not (piece == MARK and after in names)
    ]


@pytest.mark.parametrize("lang", ["en", "de"])
def test_every_word_of_real_text_has_the_same_pieces_with_tags_and_without(texts, processor, lang):
    rows = list(tagged(texts[lang], lang))
    assert len(rows) > 0.9 * LINES
    same = [
        pieces(processor, shift_whitespace(marked)) == pieces(processor, text)
        for text, marked in rows
    ]
    assert sum(same) == len(rows)
    straight = [pieces(processor, marked) == pieces(processor, text) for text, marked in rows]
    assert sum(straight) < 0.1 * len(rows)  # what the shift is for


def words(found):
    """Return pieces with each punctuation mark by itself."""
    marks = [any(unicodedata.category(c)[0] not in "LMN" for c in p.lstrip(MARK)) for p in found]
    parts = ([*p] if mark else [p] for p, mark in zip(found, marks, strict=True))
    return list(itertools.chain(*parts))


def test_a_model_of_one_s_own_needs_symbols_and_split_digits_for_its_words(texts, kind):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=itertools.chain.from_iterable(texts.values()),
        model_writer=out,
        model_type=kind,
        vocab_size=3_000,
        user_defined_symbols=SYMBOLS,
        split_digits=True,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    for text, marked in tagged(texts["de"], "de"):
        shifted = shift_whitespace(marked)
        assert words(pieces(processor, shifted)) == words(pieces(processor, text))


def test_the_command_trains_such_a_model(tmp_path):
    lines = [f'He said: "the {a} {b}." (Twice, 1.5.)' for a in "abcdefgh" for b in "ijklmnop"]
    (tmp_path / "text").write_text("\n".join(lines) + "\n")
    arguments = ("tags", "vocabulary", "--train", tmp_path / "text", "--vocabulary", 256)
    out = run_well_here(*arguments, "--output_model", tmp_path / "model", "--max_tags", 10)
    assert json.loads(out.splitlines()[-1])["sentencepiece"]["added"] == 30
    made = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "model"))
    text = '<a_0> He said: "the a i<a_1>."</a_1>'
    plain = made.encode('He said: "the a i."', out_type=str)
    assert pieces(made, text) == plain
    assert plain[-2:] == [".", '"']
    status, _, errors = run_here("tags", "vocabulary", "--model_type", "bpe", "--output", "x")
    assert status == 2
    assert "give --train FILE" in errors
