"""Output files appear completely, and must be distinct."""

import os

import pytest

from pairweave.transforms.errors import ConfigError, IrregularFileError
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import read_text_lines
from pairweave.transforms.storage.whole_files import (
    open_whole,
    packed_as,
    require_apart,
    require_outputs_apart,
)


def test_a_file_named_twice_is_refused_whatever_it_is_called(tmp_path):
    one, other = str(tmp_path / "a"), str(tmp_path / "b")
    require_apart([one, other])
    for same in (one, str(tmp_path / "c" / ".." / "a")):
        with pytest.raises(ConfigError, match="is named twice"):
            require_apart([one, other, same])


def test_a_file_may_be_read_twice_but_not_also_written(tmp_path):
    one, other = str(tmp_path / "a"), str(tmp_path / "b")
    require_outputs_apart([one, None, one], [other, None])
    for inputs, outputs in (([one], [one]), ([], [other, other])):
        with pytest.raises(ConfigError, match="is named twice"):
            require_outputs_apart(inputs, outputs)


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".xz", ".bz2"])
def test_a_file_is_compressed_as_its_name_says_and_always_to_the_same_bytes(tmp_path, ending):
    path = str(tmp_path / "new" / f"a.txt{ending}")
    with open_whole(path) as file:
        file.write(b"one\n")
        file.write(b"two\n")
    assert [*read_text_lines(path)] == ["one", "two"]
    packed = files.read_bytes(path)
    assert packed.startswith(b"one") == (not ending)
    assert packed_as(path, b"one\ntwo\n") == packed_as(path, b"one\ntwo\n")
    files.write_bytes(path, packed_as(path, b"three\n"))
    assert [*read_text_lines(path)] == ["three"]


def write_whole(path):
    with open_whole(path) as file:
        file.write(b"a")


@pytest.mark.parametrize("opened", [open_whole, files.open_write])
def test_a_file_that_is_not_finished_leaves_no_directory(tmp_path, opened):
    (tmp_path / "old").mkdir()
    for place in ("new/deep", "old", "old/new"):
        path = tmp_path / place / "a.txt"
        with (
            pytest.raises(ZeroDivisionError),
            opened(str(path)),
            opened(str(path.with_name("b.txt"))),
        ):
            raise ZeroDivisionError
    assert [*tmp_path.rglob("*")] == [tmp_path / "old"]


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
