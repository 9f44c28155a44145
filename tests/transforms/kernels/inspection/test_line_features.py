"""Features of lines, against the slow twin."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.inspection import line_features as kernel
from pairweave.transforms.kernels.inspection.stretches import best_states
from pairweave.transforms.sentences.stretches import features_of
from pairweave.transforms.text import sentence_marks
from tests.oracles import slow_line_features

LINES = [
    "",
    " \u200b ",
    "In 2014, Élodie paid 1.500,50 € (“net”)?",
    "Где 12 апреля Иван?!",
    "٣٤ في القاهرة؟",
    "今日は12時です。",
    "a" * 70 + " Ab x",
    "Überzeugung überzeugend É É.",
    "ends with 7",
    "he said: “No.”",
]


def columns_of(lines):
    result = features_of(pa.array(lines, pa.string()))
    names = ("points", "numbers", "names", "words", "ends", "hashes")
    return list(zip(*(getattr(result, name).tolist() for name in names), strict=True))


def test_features_are_those_of_the_slow_twin():
    assert columns_of(LINES) == [slow_line_features.features(line) for line in LINES]


@given(
    st.lists(
        st.text(
            st.sampled_from("aÉßй漢\u0627٣7 .,?!:;“”'\"()-\u200b\u0301Aa\u00a0ไก"), max_size=20
        ),
        max_size=4,
    )
)
def test_features_of_any_text_are_those_of_the_slow_twin(lines):
    assert columns_of(lines) == [slow_line_features.features(line) for line in lines]


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        (kernel.STOP, sentence_marks.FULL_STOPS),
        (kernel.QUESTION, sentence_marks.QUESTIONS),
        (kernel.EXCLAMATION, sentence_marks.EXCLAMATIONS),
        (kernel.COLON, sentence_marks.COLONS + sentence_marks.SEMICOLONS),
    ],
)
def test_marks_that_end_sentences_are_of_the_same_kind_in_every_script(kind, members):
    ends = features_of(pa.array([f"x{member}" for member in members])).ends
    assert ends.tolist() == [kind] * len(members)


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        ("a < b and c > d", 0),
        ("press <b>OK</b>", kernel.TAG),
        ("press </g>", kernel.TAG),
        ("<a <b", 0),
        ("{0} files", kernel.BRACES),
        ("{user.name} and {}", kernel.BRACES),
        ("{a b}", 0),
        ("%s files", kernel.PERCENT),
        ("%1$s files", kernel.PERCENT),
        ("50%s and 100% sure", 0),
        ("lost \ufffd", kernel.REPLACED),
        ("fÃ¼r", kernel.MOJIBAKE),
        ("itâ€™s", kernel.MOJIBAKE),
        ("für Ã la", 0),
    ],
)
def test_marks_are_seen(line, marks):
    assert features_of(pa.array([line])).marks.tolist() == [marks]


@given(
    st.lists(st.tuples(*[st.integers(-9, 9)] * 3), min_size=1, max_size=7),
    st.integers(0, 12),
)
def test_no_sequence_of_states_is_better_than_the_best_one(rows, price):
    actual = np.array(rows, np.int32).T.copy()
    path = best_states(actual, price)
    changes = int((np.diff(path) != 0).sum())
    total = int(actual[path, np.arange(len(path))].sum()) - price * changes
    assert total == slow_line_features.best_states(actual.tolist(), price)
