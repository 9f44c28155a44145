"""The command ``refresh``: taking pairs down, whatever row they are in and whenever they come."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from tests.makers import corpora, nightly

SECRET = "Nobody may read this sentence"
OF_HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """Return a directory with a corpus of which a reader cannot read some lines, and its table."""
    directory = tmp_path_factory.mktemp("taken")
    bad = [f"{SECRET} one", f"{SECRET} two\x01\tZwei Felder", f"{SECRET} three\t\t\t"]
    nightly.write_help(directory, "one", range(20), bad)
    nightly.write_config(directory, of=OF_HELP)
    nightly.good_night(directory)
    return directory


@pytest.fixture
def directory(first, tmp_path):
    """Return a copy of the first night."""
    copied = tmp_path / "copy"
    shutil.copytree(first, copied)
    return copied


def all_values(table):
    """Return everything that the Parquet files of a table hold, as text."""
    paths = [path for path in table.rglob("*.parquet") if "_delta_log" not in path.parts]
    return "".join(repr(pq.read_table(path, partitioning=None).to_pylist()) for path in paths)


def id_of(directory, number):
    """Return the id of the pair with a number."""
    found = [json.loads(row) for row in nightly.rows(directory / "table")]
    return next(row["id"] for row in found if row["source"] == corpora.sentence(number)[0])


def test_rows_that_could_not_be_read_keep_place_and_reason_but_no_text(first):
    rejects = [json.loads(row) for row in nightly.rows(first / "table", "rejects")]
    assert len(rejects) == 3
    assert {row["stage"] for row in rejects} == {"read"}
    assert {row["line"] for row in rejects} == {21, 22, 23}
    assert SECRET not in all_values(first / "table")
    assert corpora.sentence(3)[0] in all_values(first / "table")


def test_temporary_files_are_in_the_table_where_vacuum_finds_them(directory, monkeypatch):
    from pairweave.pipelines.refresh import night

    def stop(_source, _target, scratch):
        assert scratch.is_relative_to("table/_runs")
        raise KeyboardInterrupt

    monkeypatch.setattr(night, "assemble", stop)
    nightly.write_help(directory, "two", range(30, 33))
    with pytest.raises(KeyboardInterrupt):
        nightly.night(directory)


def test_a_repeated_list_keeps_its_scope_and_makes_no_night(directory):
    taken = id_of(directory, 3)
    (directory / "list.txt").write_text(f"{taken.upper()}\n\n{'0' * 32}\nno such text\n")
    status, out, errors = nightly.night(directory, "--takedown", "list.txt")
    assert status == 0, errors
    assert "removed 1 pairs" in out
    assert (
        "list.txt: 2 ids or texts are in no pair of the table or its files (lines 3, 4)" in errors
    )
    before = stones(directory)
    assert before.ids == {taken: ("help",), "0" * 32: None}
    status, out, errors = nightly.night(directory, "--takedown", "list.txt")
    assert status == 0, errors
    assert "nothing has changed since night 2" in out
    assert "in no pair" not in errors
    assert stones(directory) == before


def stones(directory):
    """Return the tombstones of the last night."""
    from pairweave.pipelines.refresh import night, records

    table = str(directory / "table")
    return night.stones_at(table, records.latest(table))


def test_a_corpus_that_comes_in_the_night_of_a_takedown_is_in_its_scope(directory):
    taken = id_of(directory, 3)
    (directory / "list.txt").write_text(f"{taken}\n")
    (directory / "more").mkdir()
    (directory / "more/a.tsv").write_text("\t".join(corpora.sentence(3)) + "\n")
    nightly.write_config(directory, of=f'{OF_HELP}- {{corpus: more, input: "more/*.tsv"}}\n')
    nightly.good_night(directory, "--takedown", "list.txt")
    assert stones(directory).ids == {taken: ("help", "more")}
    nightly.good_night(directory, "--migrate")
    assert corpora.sentence(3)[0] not in all_sources(directory)


def all_sources(directory):
    return nightly.sources(directory / "table")


def test_a_migration_that_loses_pairs_is_stopped_by_its_gate(directory):
    nightly.write_help(directory, "one", range(100, 120))
    status, _, errors = nightly.night(directory, "--migrate")
    assert status == 4
    assert "max_removed: 1, limit 0.5" in errors
