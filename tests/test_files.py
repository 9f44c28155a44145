import os

import pytest

from transforms import files


def test_creating_twice_keeps_the_first(tmp_path):
    path = str(tmp_path / "a" / "plan")
    assert files.create(path, b"one")
    assert not files.create(path, b"two")
    assert files.read_bytes(path) == b"one"
    assert files.list_names(str(tmp_path / "a")) == ["plan"]


def test_writing_twice_is_writing_once(tmp_path):
    path = str(tmp_path / "part")
    files.write_bytes(path, b"one")
    files.write_bytes(path, b"one")
    assert files.list_names(str(tmp_path)) == ["part"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = str(tmp_path / "part")
    files.write_bytes(path, b"old")

    def no_space(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        files.write_bytes(path, b"new")
    assert files.read_bytes(path) == b"old"
    assert files.list_names(str(tmp_path)) == ["part"]


def test_what_dead_writers_left_is_deleted_and_nothing_else(tmp_path):
    (tmp_path / ".tmp-part-0-abc").write_bytes(b"half")
    (tmp_path / "part-0").write_bytes(b"whole")
    files.delete_temporary(str(tmp_path))
    assert files.list_names(str(tmp_path)) == ["part-0"]


def test_a_pattern_matches_files_in_order_and_no_directory(tmp_path):
    for name in ("b.tsv", "a.tsv"):
        (tmp_path / name).touch()
    (tmp_path / "c.tsv").mkdir()
    assert files.match(str(tmp_path / "*.tsv")) == [str(tmp_path / n) for n in ("a.tsv", "b.tsv")]
    assert files.match(str(tmp_path / "none*")) == []
