"""Processes that share an encoder authenticate by a key of their run."""

import tempfile

import pytest
from apache_beam.utils import multi_process_shared

from pairweave.models.encoder.hosting import shared_key
from pairweave.pipelines.process import scratch


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(multi_process_shared, "AUTH_KEY", b"everyone's")
    return scratch.make()


def test_two_runs_have_two_keys(directory, monkeypatch):
    keys = set()
    for place in (directory, scratch.make()):
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        shared_key.use()
        keys.add(multi_process_shared.AUTH_KEY)
    assert len(keys) == 2
    assert {len(key) for key in keys} == {scratch.KEY_BYTES}


def test_a_key_that_others_can_have_put_there_is_not_taken(directory, monkeypatch):
    directory.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    shared_key.use()
    assert multi_process_shared.AUTH_KEY == b"everyone's"


def test_a_dead_runs_directory_is_swept_and_a_living_ones_is_not(directory, tmp_path):
    dead = tmp_path / f"{scratch.PREFIX}dead"
    dead.mkdir()
    (dead / scratch.LOCK).touch()
    scratch.sweep()
    assert not dead.exists()
    assert directory.exists()
