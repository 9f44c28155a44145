import itertools
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.text import words
from pairweave.transforms.kernels.text.utf8 import decode
from pairweave.transforms.kernels.text.words import fold_character
from tests.makers.read_only import read_only

texts = st.text(max_size=12) | st.text("aÀß\u017f\u0301\ufb01\u2019漢한🙂\uff21", max_size=12)


def fold(rows):
    """Return the folded tokens of rows of (text, spans) as strings."""
    data = "".join(text for text, _ in rows).encode()
    sizes = [len(text.encode()) for text, _ in rows]
    spans = [span for _, row in rows for span in row]
    offsets, letters = words.fold_tokens(
        np.frombuffer(data, np.uint8),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([[0], np.cumsum([len(row) for _, row in rows])]).astype(np.int64),
        read_only([start for start, _ in spans], np.int32),
        read_only([end for _, end in spans], np.int32),
        *words.folding(),
    )
    return ["".join(map(chr, letters[a:b])) for a, b in itertools.pairwise(offsets)]


@st.composite
def rows(draw):
    text = draw(texts)
    ends = st.integers(0, len(text))
    spans = draw(st.lists(st.tuples(ends, ends).map(sorted).map(tuple), max_size=4))
    return text, sorted(spans)


def plainly(text):
    return "".join(
        letter
        if ord(letter) >= words.PLANE or 0xAC00 <= ord(letter) <= 0xD7A3
        else fold_character(letter)
        for letter in text
    ).replace("i\u0307", "i")


@given(table=st.lists(rows(), max_size=4))
def test_tokens_are_folded_letter_by_letter(table):
    expected = [plainly(text[start:end]) for text, spans in table for start, end in spans]
    assert fold(table) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("École", "ÉCOLE"),
        (unicodedata.normalize("NFC", "déjà"), unicodedata.normalize("NFD", "déjà")),
        ("Straße", "STRASSE"),
        ("l\u2019", "L'"),
        ("\uff11\uff12", "12"),
        ("ΟΔΟΣ", "οδος"),
        ("İNDİR", "indir"),
        (unicodedata.normalize("NFD", "İndir"), "indir"),
        ("٢٠١٩", "2019"),
        ("२०१९", "۲۰۱۹"),
    ],
)
def test_forms_of_one_word_fold_to_one(one, other):
    actual = fold([(one, [(0, len(one))]), (other, [(0, len(other))])])
    assert actual[0] == actual[1]


def test_a_letter_that_becomes_eighteen_finds_room():
    text = "\ufdfa" * 40
    assert fold([(text, [(0, 40)])]) == [fold_character("\ufdfa") * 40]


def hashes_of(tokens, most=1 << 30):
    letters = np.array([ord(letter) for token in tokens for letter in token], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(token) for token in tokens])]).astype(np.int64)
    return words.hash_tokens(offsets, letters, most), offsets, letters


tokens = st.lists(st.text("abc", max_size=6), min_size=1, max_size=1200)


@given(table=tokens)
def test_distinct_words_are_counted(table):
    hashes, counts, firsts = words.count_distinct(hashes_of(table)[0])
    expected = Counter(table)
    assert [table[first] for first in firsts] == list(expected)
    assert counts.tolist() == list(expected.values())
    assert len(set(hashes.tolist())) == len(expected)


def test_counting_survives_growth():
    table = [str(number % 3000) for number in range(9000)]
    _, counts, firsts = words.count_distinct(hashes_of(table)[0])
    assert counts.tolist() == [3] * 3000
    assert firsts.tolist() == list(range(3000))


def table_of(hashes):
    keys, ids = np.zeros(64, np.uint64), np.zeros(64, np.int32)
    return words.fill_table(keys, ids, hashes), keys, ids


def test_tokens_are_numbered_by_word_then_by_stem():
    known = ["house", "home", "a"]
    word_table = table_of(hashes_of(known)[0])
    stem_table = table_of(hashes_of(["hous", "home", "a"], 4)[0])  # a stem has four letters
    assert word_table[0] == stem_table[0] == -1
    _, offsets, letters = hashes_of(["home", "houses", "tree", "homely", "a"])
    actual = words.look_up(offsets, letters, *word_table[1:], *stem_table[1:])
    assert actual.tolist() == [1, -2, -1, -3, 2]


def test_a_word_that_comes_twice_is_reported():
    assert table_of(hashes_of(["one", "two", "one"])[0])[0] == 2


@given(word=st.text(min_size=1, max_size=9))
def test_a_stem_is_the_first_letters(word):
    stem = hashes_of([word], words.STEM_LETTERS)[0]
    assert stem == hashes_of([word[: words.STEM_LETTERS]])[0]


@pytest.mark.parametrize("syllable", ["\uac00", "\ud7a3"])
def test_the_first_and_the_last_syllable_of_hangul_stay_one_letter(syllable):
    assert fold([(syllable, [(0, 1)])]) == [syllable]


@pytest.mark.parametrize("letter", ["\u00e9", "\u6f22", "\U00020000"])
def test_a_letter_cut_short_is_read_as_a_replacement_character(letter):
    whole = np.frombuffer(letter.encode(), np.uint8)
    assert decode(whole, 0, len(whole)) == (ord(letter), len(whole))
    for end in range(1, len(whole)):
        assert decode(whole[:end].copy(), 0, end) == (0xFFFD, end)
        assert decode(whole, 0, end) == (0xFFFD, end)
