"""The Delta tables as readers use them: bounds of files, order of commits, joined files."""

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

import deltalake
from deltalake import DeltaTable

from pairweave.pipelines.refresh.chain import tables
from tests.makers import corpora, nightly, runs

HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'
OLD = 1_000_000_000
"""A time long ago, in seconds since 1970."""


@pytest.fixture(scope="module")
def three_nights(tmp_path_factory):
    """Return a directory with a table of three nights of ten pairs each."""
    directory = tmp_path_factory.mktemp("nights")
    nightly.write_config(directory, of=HELP)
    for night in range(3):
        nightly.write_help(directory, f"n{night}", range(10 * night, 10 * night + 10))
        nightly.good_night(directory)
    return directory


@pytest.fixture
def directory(three_nights, tmp_path):
    """Return a copy of the directory."""
    return Path(shutil.copytree(three_nights, tmp_path / "copy"))


def test_rows_are_divided_by_the_partition_of_their_table():
    names = ("source_lang", "target_lang", "kind", "id")
    rows = [("en", "nl", "plain", "1"), ("en", "de", "tagged", "2"), ("en", "de", "plain", "3")]
    rows += [("de", "nl", "plain", "4"), ("en", "de", "tagged", "5")]
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    parts = [
        ("-".join(key.values()), part.to_pylist()) for key, part in tables.parts(table, "tagged")
    ]
    assert parts == [
        ("de-nl-plain", [{"id": "4"}]),
        ("en-de-plain", [{"id": "3"}]),
        ("en-de-tagged", [{"id": "2"}, {"id": "5"}]),
        ("en-nl-plain", [{"id": "1"}]),
    ]


def test_the_schema_of_a_table_ends_with_its_partition_which_is_never_null():
    columns = pa.schema([("kind", pa.string()), ("id", pa.string()), ("night", pa.int32())])
    schema = tables.schema_of(columns, "tagged")
    assert schema.names == ["id", "night", "source_lang", "target_lang", "kind"]
    assert [field.nullable for field in schema] == [True, True, False, False, False]


def test_a_reader_that_filters_by_night_or_id_reads_all_that_it_asks_for(directory):
    rows = DeltaTable(str(directory / "table/tagged")).to_pyarrow_dataset()
    for night in (1, 2, 3):
        actual = rows.to_table(filter=pc.field("night") == night).column("source").to_pylist()
        numbers = range(10 * night - 10, 10 * night)
        assert sorted(actual) == sorted(corpora.sentence(number)[0] for number in numbers)
    for key in sorted(nightly.ids(directory / "table")):
        assert rows.to_table(filter=pc.field("id") == key).num_rows == 1


def test_a_new_pair_has_its_file_and_its_places_before_its_row(directory, monkeypatch):
    table = directory / "table"
    seen = []
    whole = DeltaTable.create_write_transaction

    def looked(self, *words, **more):
        done = whole(self, *words, **more)
        contents = {json.loads(row)["content"] for row in nightly.rows(table, "files")}
        places = list(map(json.loads, nightly.rows(table, "provenance")))
        assert {place["content"] for place in places} <= contents
        assert nightly.ids(table) <= {place["id"] for place in places}
        seen.append(len(nightly.ids(table)))
        return done

    monkeypatch.setattr(deltalake.DeltaTable, "create_write_transaction", looked)
    nightly.write_help(directory, "new", range(50, 55))
    nightly.good_night(directory)
    assert seen == [30, 30, 35]


def actions(table, name, version):
    """Return the actions of an entry in the log of a table that add or remove files."""
    path = table / name / "_delta_log" / f"{version:020d}.json"
    result = [json.loads(line) for line in path.read_text().splitlines()]
    return [each.get("add") or each["remove"] for each in result if {"add", "remove"} & each.keys()]


def test_a_reader_of_changes_takes_joined_files_for_nothing_new(directory):
    table = directory / "table"
    runs.run_well_here("refresh", "compact", "table", cwd=directory)
    nightly.write_help(directory, "n0", range(5))
    nightly.good_night(directory)
    for name in ("tagged", "provenance"):
        assert len(actions(table, name, 3)) == 4
        assert not any(each["dataChange"] for each in actions(table, name, 3))
        assert all(each["dataChange"] for each in actions(table, name, 2))
        assert all(each["dataChange"] for each in actions(table, name, 4))


def test_joined_files_are_sorted(directory):
    runs.run_well_here("refresh", "compact", "table", cwd=directory)
    for name in ("tagged", "provenance"):
        (path,) = DeltaTable(str(directory / "table" / name)).file_uris()
        ids = pq.read_table(path, partitioning=None).column("id").to_pylist()
        assert len(ids) == 30
        assert ids == sorted(ids)


def test_a_file_written_long_ago_is_kept_for_the_retention_after_its_removal(directory):
    table = directory / "table"
    for path in table.rglob("*"):
        os.utime(path, (OLD, OLD))
    before = nightly.rows(table, left_out=())
    nightly.write_help(directory, "n0", range(5))
    nightly.good_night(directory)
    words = ("refresh", "vacuum", "table", "--retention")
    assert "0 files deleted" in runs.run_well_here(*words, 24, cwd=directory)
    assert nightly.rows(table, version=2, left_out=()) == before
    assert "0 files deleted" not in runs.run_well_here(*words, 0, cwd=directory)
    with pytest.raises(FileNotFoundError):
        nightly.rows(table, version=2)
