"""Rows as a folder for Hugging Face `datasets`."""

import hashlib

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml

from pairweave.transforms.output.card_facts import configuration
from pairweave.transforms.storage import files
from tests.makers import finished_runs, runs


@pytest.fixture
def tagged(tmp_path):
    """Return the directory of a run of `augment`."""
    finished_runs.write_run(str(tmp_path / "run"))
    return tmp_path / "run"


def export(run, output, *more):
    """Export a run; return the header of the card."""
    runs.run_well_here("export", run, "--format", "hf", "--output", output, *more)
    _, header, _ = (output / "README.md").read_text("utf-8").split("---\n")
    return yaml.safe_load(header)


def test_the_file_has_the_columns_and_rows_of_the_run(tagged, tmp_path):
    export(tagged, tmp_path / "out")
    actual = pq.read_table(tmp_path / "out" / "tagged.parquet")
    assert actual.to_pylist() == runs.rows_of(tagged)
    assert actual.schema.field("tags").metadata  # its meaning


def test_the_card_has_the_languages_and_a_configuration_for_each_size(tagged, tmp_path):
    header = export(tagged, tmp_path / "out", "--sizes", "2,4")
    assert header["language"] == ["ar", "de", "en"]
    assert header["license"] == "other"
    descriptions = [each["description"] for each in header["configs"]]
    assert header["configs"] == [
        {
            "config_name": f"tagged-{size}",
            "description": description,
            "data_files": [{"split": "train", "path": f"tagged-{size}.parquet"}],
            **({"default": True} if size == 2 else {}),
        }
        for size, description in zip((2, 4), descriptions, strict=True)
    ]
    assert len(set(descriptions)) == 2
    assert pq.read_table(tmp_path / "out" / "tagged-4.parquet").num_rows == 4


def test_the_hashes_in_the_card_are_those_of_the_files_which_are_not_read_for_them(
    tagged, tmp_path, monkeypatch
):
    output = tmp_path / "out"
    read = files.open_read

    def open_read(path):
        assert not path.startswith(str(output))
        return read(path)

    monkeypatch.setattr(files, "open_read", open_read)
    for each in export(tagged, output, "--sizes", "2,4")["configs"]:
        name = each["data_files"][0]["path"]
        digest = hashlib.sha256((output / name).read_bytes()).hexdigest()
        assert each["description"] == configuration("", "", [digest])["description"]


def test_a_card_that_is_there_is_kept(tagged, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "README.md").write_text("mine")
    status, _, errors = runs.run_here(
        "export", tagged, "--format", "hf", "--output", tmp_path / "out"
    )
    assert status == 2
    assert "README.md: already exists" in errors
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["README.md"]


def test_no_file_without_rows_is_written(tmp_path):
    def plain(kept):
        rows = finished_runs.tagged_data(kept)
        return rows.filter(pc.equal(rows["kind"], "plain"))

    finished_runs.write_run(str(tmp_path / "run"), plain)
    words = ("--format", "hf", "--output", tmp_path / "out", "--kinds", "tagged")
    status, _, errors = runs.run_here("export", tmp_path / "run", *words)
    assert status == 2
    assert "no row to export" in errors
    assert not list((tmp_path / "out").glob("*"))


def test_datasets_loads_the_folder(tagged, tmp_path):
    datasets = pytest.importorskip("datasets", reason="needs the extra datasets")
    export(tagged, tmp_path / "out", "--sizes", "2,4")
    for size in (2, 4):
        loaded = datasets.load_dataset(
            str(tmp_path / "out"), f"tagged-{size}", cache_dir=str(tmp_path / "cache")
        )
        assert loaded["train"].num_rows == size


def test_datasets_loads_no_other_folder_of_the_same_name(tagged, tmp_path):
    datasets = pytest.importorskip("datasets", reason="needs the extra datasets")
    for sample in (2, 4):
        folder = tmp_path / str(sample) / "train"
        export(tagged, folder, "--sample", sample)
        loaded = datasets.load_dataset(
            str(folder), split="train", cache_dir=str(tmp_path / "cache")
        )
        assert loaded.to_list() == pq.read_table(folder / "tagged.parquet").to_pylist()
