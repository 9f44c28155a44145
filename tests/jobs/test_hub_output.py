"""A run exported for `datasets`, published on the hub and read from it, imitated (`makers.hub`)."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from tests.makers import finished_runs, hub, hub_uploads, runs

PUSH = """
import datasets
datasets.load_dataset("train/").push_to_hub("org/tagged")
"""
LOAD = """
import datasets
rows = datasets.load_dataset("org/tagged", split="train")
rows.to_parquet("loaded.parquet")
"""
HF = Path(sys.executable).parent / "hf"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HF.exists(), reason="needs the extra hub"),
]


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Export a run to the folder train/, and serve a hub that has no data set yet."""
    finished_runs.write_run(str(tmp_path / "run"))
    runs.run_well_here("export", "run", "--format", "hf", "--output", "train/", cwd=tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setenv("HF_TOKEN", hub_uploads.TOKEN)
    with hub.running({}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def started(directory, *command, **environment):
    """Run a program in a process of its own: the address of the hub is read on import."""
    done = subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


def header_of(published):
    return yaml.safe_load(published["README.md"].split(b"---\n")[1])


def ours(directory):
    return sorted(runs.rows_of(directory / "run"), key=lambda row: (row["id"], row["kind"]))


def same_rows(found, directory):
    return sorted(found, key=lambda row: (row["id"], row["kind"])) == ours(directory)


def test_push_to_hub_takes_the_folder_and_its_rows_come_back(server, tmp_path):
    status, errors = started(tmp_path, sys.executable, "-c", PUSH)
    assert status == 0, errors
    assert set(server.data_sets["org/tagged"]) == {
        ".gitattributes",
        "README.md",
        "data/train-00000-of-00001.parquet",
    }
    assert "language" not in header_of(server.data_sets["org/tagged"])  # as the manual says
    status, errors = started(tmp_path, sys.executable, "-c", LOAD)
    assert status == 0, errors
    assert same_rows(pq.read_table(tmp_path / "loaded.parquet").to_pylist(), tmp_path)


def test_hf_upload_publishes_the_files_and_the_card_as_they_are(server, tmp_path):
    words = (HF, "upload", "org/tagged", "train/", "--repo-type", "dataset")
    status, errors = started(tmp_path, *words)
    assert status == 0, errors
    published = server.data_sets["org/tagged"]
    assert {name: data for name, data in published.items() if name != ".gitattributes"} == {
        path.name: path.read_bytes() for path in (tmp_path / "train").iterdir()
    }
    assert header_of(published)["language"] == ["ar", "de", "en"]
    status, errors = started(tmp_path, sys.executable, "-c", LOAD)
    assert status == 0, errors
    assert same_rows(pq.read_table(tmp_path / "loaded.parquet").to_pylist(), tmp_path)


@pytest.mark.usefixtures("server")
def test_what_was_published_is_an_input(tmp_path):
    status, errors = started(tmp_path, sys.executable, "-c", PUSH)
    assert status == 0, errors
    words = ("check", "hf://org/tagged?split=train", "--source_lang", "en", "--target_lang", "de")
    status, out, errors = runs.run(*words, cwd=tmp_path)
    assert status == 0, errors
    assert f"{len(ours(tmp_path))} pairs read" in out


def test_a_token_that_may_not_write_publishes_nothing(server, tmp_path):
    status, errors = started(tmp_path, sys.executable, "-c", PUSH, HF_TOKEN="hf_of_another")
    assert status == 1
    assert "401" in errors
    assert server.data_sets == {}
