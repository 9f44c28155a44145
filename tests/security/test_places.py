"""Where a run writes and reads: its own directory and no other, whatever a file there says."""

import json
import os
import stat
import tempfile
from pathlib import Path

import pytest

from pairweave.pipelines.process import scratch
from pairweave.transforms.commit.claim import claim
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.planning.earlier_run import input_of_run
from pairweave.transforms.storage import files, local_copies, yaml_files
from tests.makers import finished_runs

OUTSIDE = ["../key", "data/../../key", "/etc/passwd", "data//key", "data/./key", "", None, 7]
PLAN = {"job": "align", "shards": 1}


@pytest.mark.parametrize("name", ["data", "rejects", "_receipts", "models", "models/hmm"])
def test_a_run_does_not_write_through_a_link_to_a_directory(tmp_path, name):
    (tmp_path / "else").mkdir()
    link = tmp_path / "out" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "else")
    with pytest.raises(ConfigError, match=f"{name} is a symbolic link to a directory"):
        claim(str(tmp_path / "out"), PLAN)
    assert list((tmp_path / "else").iterdir()) == []
    assert not (tmp_path / "out" / "_plan.json").exists()


def test_the_directory_of_a_run_may_itself_be_a_link_and_may_hold_others(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "corpora").mkdir()
    (tmp_path / "disk" / "corpora").symlink_to(tmp_path / "corpora")
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    claim(str(tmp_path / "out"), PLAN)
    assert (tmp_path / "disk" / "_plan.json").is_file()


@pytest.mark.parametrize("how", ["write_bytes", "open_write", "create"])
def test_a_file_replaces_a_link_and_leaves_its_target_alone(tmp_path, how):
    target = tmp_path / "target"
    target.write_text("precious")
    link = tmp_path / "name"
    link.symlink_to(target)
    if how == "open_write":
        with files.open_write(str(link)) as file:
            file.write(b"ours")
    else:
        written = getattr(files, how)(str(link), b"ours")
        assert written is (False if how == "create" else None)
    assert target.read_text() == "precious"
    assert link.is_symlink() is (how == "create")


def manifest(tmp_path, name, job="align"):
    """Write a manifest that lists a file of some name."""
    names = ["data/part-00000-of-00001.parquet", name]
    text = finished_runs.manifest(names, job=job, shards=1)
    (tmp_path / "_manifest.json").write_text(json.dumps(text))
    return str(tmp_path)


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_manifest_cannot_name_a_file_outside_its_run(tmp_path, name):
    directory = manifest(tmp_path, name)
    said = "not the name of a file of this run"
    said = said if isinstance(name, str) else r"files\[1\].name: expected text"
    with pytest.raises(ConfigError, match=said):
        FinishedRun.open(directory)
    with pytest.raises(ConfigError, match=said):
        input_of_run(directory, None, None, {})
    if not isinstance(name, str):
        return
    with pytest.raises(WorkerError, match="not the name of a file of this run"):
        run_files.check_file(directory, {"name": name, "bytes": 0, "sha256": ""})


def test_names_of_a_run_are_inside_it(tmp_path):
    actual = FinishedRun.open(manifest(tmp_path, "models/hmm/about.json"))
    assert all(run_files.is_inside(entry["name"]) for entry in actual.manifest["files"])


def test_the_temporary_directory_of_a_run_is_private_whatever_the_umask(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = os.umask(0)
    try:
        made = scratch.make()
    finally:
        os.umask(before)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert made.parent == tmp_path


@pytest.mark.parametrize("kind", ["link", "open", "file"])
def test_copies_of_models_are_never_read_from_a_place_of_others(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = tmp_path / f"pairweave-copies-{os.getuid()}"
    if kind == "link":
        (tmp_path / "else").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "else")
    elif kind == "open":
        place.mkdir()
        place.chmod(0o777)
    else:
        place.touch(mode=0o600)
    with pytest.raises((PermissionError, FileExistsError)):
        local_copies._private_directory()
    place.unlink() if kind != "open" else place.rmdir()
    assert stat.S_IMODE(local_copies._private_directory().stat().st_mode) == 0o700


def test_aliases_of_aliases_in_yaml_are_refused_soon(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    path = Path(tmp_path, "job.yaml")
    path.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match="more than 100,000 keys and values"):
        yaml_files.read_yaml(str(path))
