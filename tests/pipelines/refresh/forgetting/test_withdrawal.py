"""Which pairs go and which change their corpus, on tables of a few places written by hand."""

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.refresh.chain.table_names import PROVENANCE, REJECTS
from pairweave.pipelines.refresh.forgetting.pair_places import Places
from pairweave.pipelines.refresh.forgetting.withdrawal import Change, Withdrawn, withdraw, withdrawn
from pairweave.transforms.known_pairs import NO_IDS
from tests.makers.refresh_tables import ids, key, numbers, places, read_rows, write_rows

ROWS = [(1, "news", "a", 1), (2, "news", "a", 2), (3, "news", "a", 3), (4, "news", "b", 1)]
MORE = [(2, "web", "d", 7), (2, "help", "c", 9), (3, "news", "b", 4), (5, "help", "c", 1)]


@pytest.fixture
def before(tmp_path):
    """Return the places of five pairs in two files."""
    return places(tmp_path, ROWS, MORE)


def test_pairs_go_with_their_last_place_and_others_change_their_corpus(tmp_path, before):
    nothing = Places(str(tmp_path), ())
    going = withdrawn(before, {"a"}, NO_IDS, nothing)
    assert numbers(going.pairs) == [1]
    assert going.corpora == {key(2): ["help", "web"]}  # the third is in another file of news
    going = withdrawn(before, {"a", "b"}, NO_IDS, nothing)
    assert numbers(going.pairs) == [1, 3, 4]
    assert numbers(withdrawn(before, (), NO_IDS, nothing).pairs) == []


def test_a_pair_that_a_new_file_has_stays(tmp_path, before):
    added = places(tmp_path, [(1, "other", "e", 1), (3, "help", "e", 2), (2, "blog", "e", 3)])
    going = withdrawn(before, {"a"}, NO_IDS, added)
    assert numbers(going.pairs) == []
    assert going.corpora == {key(1): ["other"], key(2): ["blog", "help", "web"]}


def test_a_pair_that_is_taken_down_goes_wherever_it_is(tmp_path, before):
    nothing = Places(str(tmp_path), ())
    going = withdrawn(before, (), ids(2, 9), nothing)
    assert (numbers(going.pairs), going.corpora) == ([2], {})
    assert numbers(withdrawn(before, {"b"}, ids(2, 9), nothing).pairs) == [2, 4]
    assert numbers(going.and_rows_of(ids(5)).pairs) == [2, 5]


def test_only_the_files_that_have_what_goes_are_written_again(tmp_path, before):
    rows = [
        write_rows(tmp_path, "links", [(1, "news"), (2, "news"), (4, "news")]),
        write_rows(tmp_path, "links", [(3, "news"), (5, "help")]),
        write_rows(tmp_path, "links", [(1, "web")]),
    ]
    current = {"links": rows, PROVENANCE: list(before.entries), REJECTS: []}
    going = Withdrawn(ids(1), {key(2): ["help", "web"], key(3): ["news"]})
    changes = withdraw(str(tmp_path), "links", current, going, {"c"}, ids(1))
    assert changes["links"].remove == [rows[0], rows[2]]
    (added,) = changes["links"].add  # nothing is left of the third
    assert read_rows(tmp_path, "links", [added]) == [(2, "help"), (4, "news")]
    assert changes[PROVENANCE].remove == list(before.entries)
    left = Places(str(tmp_path), changes[PROVENANCE].add)
    assert [row["line"] for part in left.parts() for row in part.to_pylist()] == [2, 3, 1, 7, 4]
    assert not changes[REJECTS]


def test_nothing_is_read_of_tables_that_lose_nothing(tmp_path, before):
    current = {"links": [{"path": "none"}], PROVENANCE: list(before.entries), REJECTS: []}
    only = withdraw(str(tmp_path), "links", current, Withdrawn(NO_IDS, {}), {"b"}, NO_IDS)
    assert "links" not in only
    assert only[PROVENANCE].remove == list(before.entries)
    assert withdraw(str(tmp_path), "links", {}, Withdrawn(NO_IDS, {}), (), NO_IDS) == {}


def test_a_file_that_is_removed_and_added_does_not_change(tmp_path):
    entries = [write_rows(tmp_path, "links", [(number, "news")]) for number in range(3)]
    told = Change(add=entries[:2], remove=entries[1:]).to_json()
    assert told["add"] == entries[:1]
    assert [entry["path"] for entry in told["remove"]] == [entries[2]["path"]]
    assert [bool(change) for change in (Change(), Change(remove=[{}]), Change([{}]))] == [0, 1, 1]
