import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.ids import pair_ids
from tests.makers.reading import pair_id

text = st.none() | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


def ids(rows):
    columns = [pa.array([row[side] for row in rows], pa.string()) for side in range(3)]
    return pair_ids("en", "pt-BR", *columns).to_pylist()


@given(st.lists(st.tuples(text, text, text), max_size=20))
def test_ids_of_a_batch_are_those_of_its_pairs(rows):
    expected = [
        None
        if source is None or target is None
        else pair_id("en", "pt-BR", source, target, *([] if other is None else [other]))
        for source, target, other in rows
    ]
    assert ids(rows) == expected


def test_ids_work_on_slices_of_arrays():
    rows = [("a", "b", None), ("c", "d", None), ("e", "f", None)]
    columns = [pa.array([row[side] for row in rows], pa.string()).slice(1, 2) for side in range(3)]
    assert pair_ids("en", "de", *columns).to_pylist() == [
        pair_id("en", "de", "c", "d"),
        pair_id("en", "de", "e", "f"),
    ]


def test_texts_languages_and_the_translation_all_decide_the_id():
    cases = [
        pair_id("en", "de", "ab", "c"),
        pair_id("en", "de", "a", "bc"),
        pair_id("en", "fr", "ab", "c"),
        pair_id("de", "en", "ab", "c"),
        pair_id("en", "de", "ab", "c", ""),
        pair_id("en", "de", "ab", "c", "x"),
        pair_id("en", "de", "", ""),
    ]
    assert len(set(cases)) == len(cases)


def test_the_id_of_a_known_pair_never_changes():
    assert pair_id("en", "de", "One.", "Eins.") == "35d14bcdfed7ba74f3729f9732d06c98"
