"""Output files appear completely, and must be distinct."""

import os

import pytest

from pairweave.transforms.errors import ConfigError, IrregularFileError
from pairweave.transforms.storage import files
from pairweave.transforms.storage.whole_files import open_whole, require_apart


def test_a_file_named_twice_is_refused_whatever_it_is_called(tmp_path):
    one, other = str(tmp_path / "a"), str(tmp_path / "b")
    require_apart([one, other])
    for same in (one, str(tmp_path / "c" / ".." / "a")):
        with pytest.raises(ConfigError, match="is named twice"):
            require_apart([one, other, same])


def write_whole(path):
    with open_whole(path) as file:
        file.write(b"a")


@pytest.mark.parametrize("write", [write_whole, lambda path: files.write_bytes(path, b"a")])
def test_what_is_no_file_is_not_replaced_by_one(tmp_path, write):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for path in (str(tmp_path / "pipe"), "/proc/self/fd/1"):
        with pytest.raises(IrregularFileError, match="is a pipe or a device") as caught:
            write(path)
        assert caught.value.filename == path
    with pytest.raises(ConfigError, match="directory: a directory is in the place of a file"):
        write(str(tmp_path / "directory"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["directory", "pipe"]
