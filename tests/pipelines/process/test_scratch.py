"""The private temporary directory of a run, and what is removed of those of others."""

import os
import stat
import tempfile

import pytest

from pairweave.pipelines.process import scratch


@pytest.fixture(autouse=True)
def parent(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_dead_runs_left_is_removed_and_nothing_else(parent):
    fork = os.fork()
    if not fork:
        scratch.make()
        os._exit(0)
    assert os.waitpid(fork, 0)[1] == 0
    (dead,) = parent.iterdir()
    (dead / "spilled").mkdir()
    (dead / "spilled" / "part").write_bytes(b"half")
    alive = scratch.make()
    for other in ("other", f"other-{scratch.PREFIX}"):
        (parent / other).mkdir()
        (parent / other / scratch.LOCK).touch()
    (parent / f"{scratch.PREFIX}new").mkdir()  # its run has no lock yet
    (parent / f"{scratch.PREFIX}file").touch()
    (parent / f"{scratch.PREFIX}link").symlink_to(parent / "other")
    before = {*parent.rglob("*")}
    scratch.sweep()
    assert before - {*parent.rglob("*")} == {
        *(dead, dead / scratch.LOCK, dead / "key", dead / "spilled", dead / "spilled/part")
    }
    assert alive.is_dir()


def test_only_its_user_enters_a_directory_and_only_its_maker_removes_it():
    directory = scratch.make()
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert len((directory / "key").read_bytes()) == scratch.KEY_BYTES
    scratch.remove_own(str(directory), os.getpid() + 1)
    assert directory.is_dir()
    scratch.remove_own(str(directory), os.getpid())
    assert not directory.exists()
