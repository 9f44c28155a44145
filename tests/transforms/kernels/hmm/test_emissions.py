import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.hmm.emissions import count_bits, likeness
from pairweave.transforms.kernels.hmm.sides import letter_set
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


@given(value=st.integers(0, 2**64 - 1))
def test_bits_are_counted(value):
    assert count_bits(np.uint64(value)) == value.bit_count()


@given(word=words)
def test_a_set_has_a_bit_for_each_letter(word):
    letters = np.array([ord(letter) for letter in word], np.int32)
    expected = 0
    for letter in word:
        expected |= 1 << (ord(letter) % 64)
    assert letter_set(letters, 0, len(letters)) == (expected, expected.bit_count())
