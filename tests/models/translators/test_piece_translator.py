"""Limits and batches of a translator, on an engine that reverses letters."""

import math

import numpy as np
import pytest

from pairweave.models.translators.piece_translator import Hypothesis, PieceTranslator
from pairweave.models.translators.translation_pieces import Languages
from pairweave.models.translators.translator import Rejection, TranslatorConfig
from pairweave.transforms.rejects import Reject

SPECIAL = Languages({"en": "<en>", "de": "<de>"}, on_source=True, pair=(None, None))


class Letters:
    """Cuts text into letters; a target's pieces are capitals."""

    def cut(self, texts):
        return [list(text) for text in texts]

    def cut_target(self, texts):
        return [list(text.upper()) for text in texts]

    def join(self, pieces):
        return "".join(pieces)


class Mirror:
    """Translates a text by turning it round; ``+`` at its start makes it one letter longer."""

    threads = 1
    source_limit = 8
    target_limit = 7
    out_of_memory = (MemoryError,)

    def __init__(self):
        self.calls = []
        self.freed = 0

    def search(self, sources, prefix, beam_size, max_tokens):
        self.calls.append((sources, prefix, beam_size, max_tokens))
        result = []
        for first, *letters, last in sources:
            assert (first, last) == ("<en>", "</s>")
            pieces = letters[::-1] + ["!"] * (letters[:1] == ["+"])
            result.append(Hypothesis(pieces[:max_tokens], len(pieces) < max_tokens))
        return result

    def force(self, sources, targets, prefix):
        self.calls.append((sources, targets, prefix))
        return [-float(len(target)) for target in targets]

    def free(self):
        self.freed += 1


@pytest.fixture
def engine():
    return Mirror()


def translator(engine, **settings):
    config = TranslatorConfig("transformers", "model", **settings)
    return PieceTranslator(config, engine, Letters(), SPECIAL, ends_source=True, digest="d")


def test_texts_get_their_own_translations_whatever_batch_they_are_in(engine):
    made = translator(engine, translator_batch_tokens=8, beam_size=3)
    assert made.translate(["ab", "c", "def", "gh"], "en", "de") == ["ba", "c", "fed", "hg"]
    assert [len(call[0]) for call in engine.calls] == [1, 2, 1]
    assert {(tuple(call[1]), *call[2:]) for call in engine.calls} == {(("<de>",), 3, 6)}


def test_the_longest_source_that_fits_is_translated(engine):
    actual = translator(engine, max_translation_tokens=4096).translate(
        ["a" * 6, "a" * 7], "en", "de"
    )
    detail = "9 pieces including special ones; the translator's limit is 8"
    assert actual[1] == Rejection(Reject.TOO_LONG_FOR_TRANSLATOR, detail)
    assert actual[0] == Rejection(
        Reject.UNFINISHED_TRANSLATION, "not finished after 5 pieces, the limit"
    )


def test_a_configuration_may_limit_sources_and_translations_further(engine):
    made = translator(engine, translator_source_tokens=5, max_translation_tokens=3)
    assert made.source_limit == 5
    actual = made.translate(["abc", "+ab", "abcd"], "en", "de")
    assert actual[0] == "cba"
    assert actual[1] == Rejection(
        Reject.UNFINISHED_TRANSLATION, "not finished after 3 pieces, the limit"
    )
    assert actual[2].reason == Reject.TOO_LONG_FOR_TRANSLATOR


def test_a_translation_as_long_as_the_limit_is_whole(engine):
    assert translator(engine).translate(["abcde", "+abcd"], "en", "de") == [
        "edcba",
        Rejection(Reject.UNFINISHED_TRANSLATION, "not finished after 5 pieces, the limit"),
    ]


@pytest.mark.parametrize(
    ("text", "reason", "detail"),
    [
        ("", Reject.EMPTY_TRANSLATION, "0 pieces, no visible text"),
        (" \u200b\x07", Reject.EMPTY_TRANSLATION, "3 pieces, no visible text"),
        ("ab\x01c", Reject.CONTROL_CHAR, "the translation has U+0001 at 1"),
        ("a\x1f", Reject.CONTROL_CHAR, "the translation has U+001F at 0"),
    ],
)
def test_a_translation_that_no_reader_would_take_is_rejected(engine, text, reason, detail):
    assert translator(engine).translate([text], "en", "de") == [Rejection(reason, detail)]


def test_a_tab_is_no_control_character(engine):
    assert translator(engine).translate(["a\tb"], "en", "de") == ["b\ta"]


def test_scores_are_those_of_the_target_and_what_does_not_fit_has_none(engine):
    made = translator(engine)
    scores = made.score(
        ["a", "a" * 6, "a" * 7, "a", "a"], ["bc", "b", "b", "b" * 5, "b" * 6], "en", "de"
    )
    assert scores.dtype == np.float32
    assert [None if math.isnan(score) else score for score in scores.tolist()] == [
        *(-2.0, -1.0, None, -5.0, None),
    ]
    sources, targets, prefix = engine.calls[0]
    assert prefix == ["<de>"]
    assert sources[0][0] == "<en>"
    assert all(letter == letter.upper() for target in targets for letter in target)


def test_a_batch_that_does_not_fit_into_memory_is_halved(engine, monkeypatch):
    search = engine.search

    def small(sources, *others):
        if len(sources) > 1:
            raise MemoryError
        return search(sources, *others)

    monkeypatch.setattr(engine, "search", small)
    assert translator(engine).translate(["ab", "cd", "ef"], "en", "de") == ["ba", "dc", "fe"]
    assert engine.freed > 0
