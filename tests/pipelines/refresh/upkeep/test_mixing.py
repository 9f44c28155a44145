"""What `refresh export` writes, and where: versions by their nights, outside of all tables."""

import json
import shutil

import pyarrow as pa
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.command_line import validation
from pairweave.pipelines.commands.refresh import table_commands
from pairweave.pipelines.refresh.chain import records
from pairweave.pipelines.refresh.upkeep import mixing
from pairweave.pipelines.refresh.upkeep.mixing import export
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.mixture import Mixture
from tests.makers import nightly, runs

HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """Return a directory with the table of one night."""
    directory = tmp_path_factory.mktemp("exported")
    nightly.write_help(directory, "one", range(3))
    nightly.write_config(directory, of=HELP)
    nightly.good_night(directory)
    return directory


@pytest.fixture
def directory(first, tmp_path):
    """Return a copy of it."""
    return shutil.copytree(first, tmp_path / "copy")


def test_a_version_without_pairs_is_exported_as_no_shards(directory):
    ids = sorted(json.loads(row)["id"] for row in nightly.rows(directory / "table"))
    nightly.write_help(directory, "one", ())
    nightly.good_night(directory, "--accept", "all withdrawn")
    words = ("refresh", "export", "table", "--since", 1, "--output", "out")
    assert "has no pairs" in runs.run_well_here(*words, cwd=directory)
    assert runs.rows_of(directory / "out") == []
    assert (directory / "out/removed.txt").read_text().split() == ids


def test_an_export_says_whether_vacuum_has_deleted_the_files_of_its_night(directory):
    taken = json.loads(nightly.rows(directory / "table")[0])["id"]
    (directory / "list.txt").write_text(f"{taken}\n")
    runs.run_well_here("refresh", "takedown", "table", "list.txt", cwd=directory)
    runs.run_well_here("refresh", "vacuum", "table", "--retention", 0, cwd=directory)
    words = ("refresh", "export", "table", "--output", "out")
    status, _, errors = runs.run_here(*words, "--night", 1, cwd=directory)
    assert (status, "deleted by vacuum; export a later night" in errors) == (2, True)
    for path in (directory / "table/tagged").rglob("part-*.parquet"):
        path.unlink()
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert (status, "was deleted while the version of night 2 was exported" in errors) == (2, True)


def test_an_export_counts_pairs_by_the_rows_that_most_of_them_have(monkeypatch):
    numbers = {"plain": range(4), "tagged": range(3), "shifted": range(1)}

    def read_rows(_table, _main, entry, _columns):
        ids = [f"{number:032x}" for number in numbers[entry["partition"]["kind"]]]
        return pa.table({"id": ids * 2, "corpus": ["help"] * len(ids) * 2})

    monkeypatch.setattr(mixing.tables, "read_rows", read_rows)
    entries = [{"partition": {"kind": kind}} for kind in ("tagged", "plain", "shifted")]
    assert mixing._sizes("table", "tagged", entries) == ({"help": 4}, ("plain",))


def test_no_version_is_exported_into_a_table(tmp_path):
    records.create(str(tmp_path / "table"), nightly.record())
    for output in ("table", "table/out"):
        place = str(tmp_path / output)
        with pytest.raises(ConfigError, match=f"^--output {place}: is .*the table of refresh"):
            export(str(tmp_path / "table"), place, Mixture({}, 1.0, 1), 100, None)


@pytest.mark.parametrize("option", ["night", "since"])
def test_nights_are_numbered_from_one(option):
    model = table_commands.export_table.model("refresh export")
    values = {"table": "table", "output": "out"}
    assert getattr(validation.validate(model, {**values, option: 1}, "export"), option) == 1
    with pytest.raises(ConfigError, match=f"{option}: input should be greater than or equal to 1"):
        validation.validate(model, {**values, option: 0}, "export")
