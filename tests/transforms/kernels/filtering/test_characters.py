import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.filtering import scripts
from pairweave.transforms.kernels.filtering import characters
from pairweave.transforms.text import codepoints
from tests.makers.text_strategies import texts
from tests.oracles import slow_filtering

EXPECTED, OTHER = ("Latin", "Khmer"), ("Devanagari",)


def scan(*lines):
    bits = [np.full(len(lines), scripts.script_bits(s), np.uint64) for s in (EXPECTED, OTHER)]
    return characters.scan(*texts_of(pa.array(lines)), codepoints.all_properties(), *bits)


@given(texts())
def test_characters_and_words_are_counted_as_their_properties_say(text):
    counts, words = scan(text)
    visible, letters, expected, other, bases, written = (int(count[0]) for count in counts)
    slow = slow_filtering.characters(text, EXPECTED, OTHER)
    assert (visible, letters, expected, other, bases) == slow
    assert written == slow_filtering.written_words(text)
    assert words.lengths.tolist() == [len(word) for word in slow_filtering.words(text)]


@given(texts(), texts())
def test_copied_shares_are_those_of_the_multisets(source, target):
    sides = scan(source)[1], scan(target)[1]
    for names in (False, True):
        fast = [share[0] for share in characters.copied(*sides, np.array([names]))]
        assert fast == pytest.approx(slow_filtering.copied(source, target, names=names), abs=1e-6)


def test_each_word_of_the_source_accounts_for_one_of_the_target():
    words = scan("the cat", "the the the cat sat")[1]
    source = characters.Words(words.offsets[:2], *words[1:])
    target = characters.Words(words.offsets[1:], *words[1:])
    by_word, by_character = characters.copied(source, target, np.array([False]))
    assert by_word[0] == pytest.approx(2 / 5)
    assert by_character[0] == pytest.approx(6 / 15)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("no no no", 1),
        ("no no", 0),
        ("buy it now buy it now buy it now today", 9 / 10),
        ("a b a b a c", 0),
        ("", 0),
    ],
)
def test_repetition_by_hand(text, share):
    assert characters.repetition(scan(text)[1])[0] == pytest.approx(share)
    assert slow_filtering.repetition(text) == pytest.approx(share)


@given(texts())
def test_repetition_is_that_of_all_blocks(text):
    text = f"{text} {text} {text}"
    fast = characters.repetition(scan(text)[1])[0]
    assert fast == pytest.approx(slow_filtering.repetition(text), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("So.", "."),
        ('He said: "so!" ', "!"),
        ("(really?)", "?"),
        ("", "\0"),
        ("« oui »", "i"),
        ("\u05e1\u05d9\u05d5\u05dd.\u200f", "."),
        ('"Really?\u200e" \ufe0f', "?"),
        ("cafe\u0301", "e"),
    ],
)
def test_the_last_character_stands_before_closing_marks(text, last):
    flat = texts_of(pa.array([text]))
    assert characters.last_characters(*flat, codepoints.all_properties()).tolist() == [ord(last)]


def test_mean_lengths_of_words():
    assert characters.mean_lengths(scan("a bcd", "")[1]).tolist() == [2, 0]
