import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.hmm.emissions import likeness
from pairweave.transforms.kernels.hmm.sides import Side, letter_sets
from tests.oracles import slow_hmm

words = st.text("abcé1", max_size=12) | st.text(max_size=8)


def alike(one, other):
    letters = np.array([ord(letter) for letter in one + other], np.int32)
    return likeness(letters, 0, len(one), letters, len(one), len(letters))


@given(one=words, other=words)
def test_likeness_equals_its_plain_twin(one, other):
    assert alike(one, other) == pytest.approx(slow_hmm.likeness(one, other))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("nation", "nation", 1.0),
        ("nation", "nacion", (2 * 5 / 6 - 1) ** 2),
        ("national", "nation", (2 * 6 / 8 - 1) ** 2),
        ("1975", "1976", 0.0),
        ("1975", "1975", 1.0),
        ("0975", "x975", 0.0),
        ("x975", "9975", 0.0),
        ("nose", "noze", (2 * 3 / 4 - 1) ** 2),
        ("nox", "noz", 0.0),
        ("abcdxyz", "abcdefg", (2 * 4 / 7 - 1) ** 2),
        ("de", "de", 1.0),
        ("des", "det", 0.0),
        ("", "", 0.0),
        ("house", "maison", 0.0),
        ("ab" * 32, "ba" * 32, (2 * 63 / 64 - 1) ** 2),
        ("ab" * 32, "ab" * 30, (2 * 60 / 64 - 1) ** 2),
        ("x" * 65, "x" * 66, 0.0),
        ("x" * 66, "x" * 66, 1.0),
    ],
)
def test_likeness_by_hand(one, other, expected):
    assert alike(one, other) == pytest.approx(expected)


@given(texts=st.lists(words, min_size=1, max_size=4))
def test_a_set_has_a_bit_for_each_letter(texts):
    letters = np.array([ord(letter) for text in texts for letter in text], np.int32)
    ends = np.cumsum([0, *map(len, texts)])
    side = Side(np.array([0, len(texts)]), np.zeros(len(texts), np.int32), ends, letters)
    sets, needs = np.zeros(len(texts), np.uint64), np.zeros(len(texts), np.int64)
    letter_sets(side, 1, len(texts) - 1, sets, needs)
    expected = [0] * len(texts)
    for number, text in enumerate(texts[1:], 1):
        for letter in text:
            expected[number] |= 1 << (ord(letter) % 64)
    assert sets.tolist() == [*expected[1:], 0]
    assert needs.tolist() == [math.ceil(2 * bits.bit_count() / 3) for bits in (*expected[1:], 0)]
