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
