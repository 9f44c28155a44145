"""Which rows are made anew when the corpus that gave their scores or links is withdrawn."""

import functools

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from types import SimpleNamespace

from pairweave.pipelines.refresh import inner_runs, remaking
from pairweave.pipelines.refresh.file_ledger import NightInputs
from pairweave.pipelines.refresh.night import Night
from pairweave.transforms.units import ReadLimits
from tests.makers.refresh_tables import ids, numbers, places, write_rows

PLACES = [
    [(1, "news", "a", 1), (2, "news", "a", 2), (3, "news", "a", 3), (4, "web", "w", 1)],
    [(1, "web", "w", 2), (3, "news", "b", 1), (2, "help", "c", 1), (2, "help", "d", 5)],
]
ROWS = [(1, "news"), (2, "news"), (3, "news"), (4, "web")]


@pytest.mark.parametrize(
    ("gone", "arriving", "remade", "again"),
    [
        ({"a"}, {}, [1, 2], {"w", "c", "d"}),  # the third has another file of its corpus
        ({"a", "d"}, {}, [1, 2], {"w", "c"}),
        ({"a"}, {"news": [1, 2]}, [], set()),
        ({"a"}, {"news": [1]}, [2], {"c", "d"}),
        ({"a"}, {"news": [], "web": [5]}, [1, 2], {"w", "c", "d"}),
        ({"a"}, {"web": [2]}, [1, 2], {"w", "c", "d"}),
        ({"c", "d"}, {}, [], set()),
        ({"w"}, {}, [], set()),  # no other corpus can have the fourth
        ({"w"}, {"web": [1]}, [], set()),
        ({"w"}, {"web": [1], "news": [4]}, [4], set()),
    ],
)
def test_pairs_that_lose_the_corpus_of_their_row_are_made_anew(
    tmp_path, gone, arriving, remade, again
):
    rows = [write_rows(tmp_path, "links", part) for part in (ROWS[:1], ROWS[1:])]
    read = {corpus: functools.partial(ids, *pairs) for corpus, pairs in arriving.items()}
    actual = remaking.to_remake(
        places(tmp_path, *PLACES), ("links", rows), gone, read, joined=False
    )
    assert (numbers(actual[0]), actual[1]) == (remade, again)


@pytest.mark.parametrize(
    ("gone", "arriving", "remade", "again"),
    [
        ({"c", "d"}, {}, [2], {"a"}),
        ({"c", "d"}, {"help": [2]}, [], set()),
        ({"w"}, {}, [1], {"a"}),
    ],
)
def test_pairs_whose_row_has_the_best_of_all_corpora_are_made_anew_if_one_loses_them(
    tmp_path, gone, arriving, remade, again
):
    read = {corpus: functools.partial(ids, *pairs) for corpus, pairs in arriving.items()}
    rows = [write_rows(tmp_path, "pairs", ROWS)]
    actual = remaking.to_remake(places(tmp_path, *PLACES), ("pairs", rows), gone, read, joined=True)
    assert (numbers(actual[0]), actual[1]) == (remade, again)


def test_files_that_arrive_are_read_only_where_another_corpus_may_have_a_pair(tmp_path):
    def fail():
        raise AssertionError

    held = places(tmp_path, PLACES[0])
    rows = [write_rows(tmp_path, "links", ROWS)]
    actual = remaking.to_remake(held, ("links", rows), {"a"}, {"news": fail}, joined=False)
    assert (numbers(actual[0]), actual[1]) == ([], set())


@pytest.mark.parametrize(
    ("gone", "changes", "remade", "new"),
    [
        ("a", {}, [1, 2], ["w", "e", "c", "d"]),
        ("a", {"_anew": True}, [], ["e"]),
        ("", {}, [], ["e"]),
    ],
)
def test_a_night_reads_the_files_again_that_still_have_such_pairs(
    tmp_path, monkeypatch, gone, changes, remade, new
):
    monkeypatch.setattr(remaking, "depends_on_corpus", lambda *_: True)
    monkeypatch.setattr(inner_runs, "arriving", lambda _: [])
    corpora = {"w": "web", "b": "news", "e": "blog", "c": "help", "d": "help"}
    entries = {key: SimpleNamespace(key=key, corpus=corpus) for key, corpus in corpora.items()}
    left = tuple(SimpleNamespace(key=key) for key in gone)
    night = SimpleNamespace(
        _anew=False,
        _config=SimpleNamespace(main="links", job="align", inputs=(), options=ReadLimits()),
        _inputs=NightInputs(entries, {}, ("e",), (), (), (), left, ()),
        _places=places(tmp_path, *PLACES),
        _current={"links": [write_rows(tmp_path, "links", ROWS)]},
    )
    vars(night).update(changes)
    actual = Night._to_remake(night)
    assert numbers(actual[0]) == remade
    assert actual[1] == set(new) - {"e"}
    assert [*night._inputs.new] == new
