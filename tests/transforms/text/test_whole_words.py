"""A result requested twice is computed once, and never confused with another column's."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.text import whole_words
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from pairweave.transforms.text.whole_words import ResultCache, pair_cuts, word_counts
from tests.makers.hmm_corpora import plain_table


@pytest.fixture
def found(monkeypatch):
    """Return the texts in which spans are found."""
    seen = []
    search = whole_words._find_unbroken

    def look(texts, *arguments, **settings):
        seen.append(texts.to_pylist())
        return search(texts, *arguments, **settings)

    monkeypatch.setattr(whole_words, "_find_unbroken", look)
    return seen


def test_cuts_and_words_of_a_table_are_found_once_a_side(found):
    table = plain_table([("don't go", "l'eau est là"), ("a", "b c")])
    pair_cuts(table)
    counts = [
        word_counts(table.column(side), table.column(f"{side}_lang")).tolist()
        for side in ("source", "target")
    ]
    assert found == [table.column(side).to_pylist() for side in ("source", "target")]
    alone = [
        word_counts(pa.array(column), languages)
        for column, languages in (
            (table.column(side).to_pylist(), table.column(f"{side}_lang"))
            for side in ("source", "target")
        )
    ]
    assert counts == [counted.tolist() for counted in alone]


def test_another_language_or_setting_is_another_question(found):
    texts = pa.array(["well-known l'eau"])
    cut = tokenize(texts, TokenConfig(), "fr")
    whole = whole_words.find_cuts(texts, cut, "fr")
    parts = whole_words.find_cuts(texts, cut, "fr", compounds=False)
    english = whole_words.find_cuts(texts, cut, "en")
    assert len(found) == 3
    assert not whole.equals(parts)
    assert whole.equals(whole_words.find_cuts(texts, cut, "fr"))
    assert english.equals(whole_words.find_cuts(pa.array(texts.to_pylist()), cut, "en"))


@given(st.lists(st.lists(st.sampled_from(["a", "bc", ""]), max_size=3), max_size=30), st.data())
def test_columns_that_come_and_go_keep_their_own_results(columns, data):
    held = ResultCache(2)
    for texts in columns:
        column = pa.array(texts, pa.string())
        start = data.draw(st.integers(0, len(texts)))
        part = column[start:]
        if data.draw(st.booleans()):
            part = part.dictionary_encode()
        for _ in range(data.draw(st.integers(1, 3))):
            assert held.find([part], None, part.to_pylist) == texts[start:]


def test_what_is_held_goes_at_the_second_asking_and_when_others_come():
    held = ResultCache(2)
    columns = [pa.array([name]) for name in "abc"]
    asked = []

    def ask(place):
        return held.find([columns[place]], None, lambda: asked.append(place) or place)

    assert [ask(place) for place in (0, 0, 0, 1, 2, 0, 2)] == [0, 0, 0, 1, 2, 0, 2]
    assert asked == [0, 0, 1, 2, 0]
