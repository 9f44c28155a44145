import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.text import sentence_splitter
from pairweave.transforms.text.sentence_splitter import (
    choose_splitter,
    installed_name,
    split_sentences,
)
from tests.makers.text_strategies import texts

pytestmark = pytest.mark.skipif(
    installed_name() is None, reason="needs the extra split: pip install 'pairweave[split]'"
)


def sentences(text, language):
    return [text[left:right] for left, right in split_sentences(text, language)]


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("en", ["Mr. Smith met Dr. Jones.", "They left at 5 p.m. on Monday.", "Why?"]),
        ("en-GB", ['He said: "Go away. Now!" and left.', "She stayed."]),
        ("de", ["Am 3. Oktober kam z. B. Prof. Meyer.", "Er blieb."]),
        ("deu", ["Am 3. Oktober kam z. B. Prof. Meyer.", "Er blieb."]),
        ("fr", ["M. Dupont est parti.", "Il reviendra !", "Quand ?"]),
        ("und", ["This is one.", "This is two."]),
        (None, ["This is one.", "This is two."]),
    ],
)
def test_sentences_end_where_they_end(language, parts):
    assert sentences(" ".join(parts), language) == parts


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("km", ["ខ្ញុំទៅ។", "អ្នកមក«មែន។»", "មាន គោ ក្របី ។ល។", "ចប់៕"]),
        ("zh", ["你好。", "再见。", "你去哪里\uff1f"]),
        ("ja", ["東京へ行く。", "いつ\uff01"]),
    ],
)
def test_languages_without_spaces_are_split(language, parts):
    assert sentences("".join(parts), language) == parts


@given(texts())
def test_only_white_space_is_in_no_sentence(text):
    text = "".join(text.split("\n"))
    spans = split_sentences(text, "en")
    assert "".join("".join(text[a:b] for a, b in spans).split()) == "".join(text.split())
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in spans)


@pytest.mark.parametrize("space", ["\u3000", "\u00a0", "\u2009", "\u2028"])
def test_white_space_between_a_capital_letter_and_a_full_stop(space):
    text = f"Mr. J{space}. Smith came. He left."
    spans = split_sentences(text, "en")
    assert [text[slice(*span)] for span in spans] == [f"Mr. J{space}. Smith came.", "He left."]


@given(st.text(st.sampled_from('aJ.!? \u3000\u00a0\u2009\u2028\x85\u3002"\u201c\u201d(e\u0301')))
def test_the_splitter_fails_on_no_text(text):
    split_sentences(text, "en")


def test_a_panic_of_the_splitter_is_an_error_with_the_text(monkeypatch):
    panic = type("PanicException", (BaseException,), {})

    def fail(_tag, _text):
        raise panic("end byte index 3")

    monkeypatch.setattr(sentence_splitter, "_segment", lambda: fail)
    with pytest.raises(WorkerError, match="failed on a text: end byte index 3: 'some text'"):
        split_sentences("some text", "en")


def test_a_splitter_that_alters_text_is_not_believed(monkeypatch):
    monkeypatch.setattr(sentence_splitter, "_segment", lambda: lambda _tag, _text: ["other"])
    with pytest.raises(WorkerError, match="altered"):
        split_sentences("text", "en")
    monkeypatch.setattr(sentence_splitter, "_segment", lambda: lambda _tag, text: [text[:2]])
    with pytest.raises(WorkerError, match="lost the end"):
        split_sentences("text", "en")


def test_a_splitter_that_is_missing_or_another_is_refused(monkeypatch):
    with pytest.raises(WorkerError, match="install the same version"):
        sentence_splitter.check_installed("sentencex-0.0.1")
    monkeypatch.setattr(sentence_splitter, "installed_name", lambda: None)
    with pytest.raises(ConfigError, match=r"pairweave\[split\]"):
        choose_splitter()


def test_an_armenian_question_mark_is_in_a_sentence_and_the_full_stop_ends_it():
    text = "Ի\u055eնչ ես անում\u0589 Բարև\u055c\u0589 Դու"
    spans = sentence_splitter.split_sentences(text, "hy")
    assert [text[start:end] for start, end in spans] == [
        "Ի\u055eնչ ես անում\u0589",
        "Բարև\u055c\u0589",
        "Դու",
    ]
