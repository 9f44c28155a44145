"""A file that a job writes beside its run must be writable, and not be one of the run's own."""

import bz2
import gzip
import lzma

import pytest
import zstandard

from pairweave.pipelines.run.beside_output import BesideFile, check_beside
from pairweave.transforms.errors import ConfigError


@pytest.fixture
def output(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.mark.parametrize(
    "name", ["report.html", "data", "data/part-0", "_plan.json", "rejects/x", "models/hmm/a"]
)
@pytest.mark.parametrize("ending", ["", "/"])
def test_a_name_that_the_run_writes_is_refused(output, name, ending):
    with pytest.raises(ConfigError) as refused:
        check_beside("scores", str(output / name), f"{output}{ending}", [])
    path = str(output / name)
    assert str(refused.value) == f"--scores {path}: the run writes {name} itself; name another"


def test_another_name_in_the_runs_directory_is_taken_though_that_does_not_exist_yet(tmp_path):
    check_beside("scores", str(tmp_path / "later" / "scores.txt"), str(tmp_path / "later"), [])


def test_a_file_beside_the_run_is_taken_and_nothing_is_left_of_the_check(tmp_path, output):
    check_beside("scores", str(tmp_path / "out-scores"), str(output), [])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_run_itself_and_its_inputs_are_refused(tmp_path, output):
    with pytest.raises(ConfigError, match="is the run's own directory"):
        check_beside("scores", f"{output}/", str(output), [])
    path = str(tmp_path / "a.tsv")
    with pytest.raises(ConfigError, match="is an input and would be overwritten"):
        check_beside("scores", path, str(output), [path])


def test_a_directory_and_a_place_that_does_not_exist_are_refused(tmp_path, output):
    with pytest.raises(ConfigError, match="is a directory; name a file"):
        check_beside("scores", str(tmp_path), str(output), [])
    path = tmp_path / "none" / "scores"
    with pytest.raises(ConfigError) as refused:
        check_beside("scores", str(path), str(output), [])
    assert str(refused.value) == (
        f"--scores {path}: no file can be written in {path.parent}: No such file or directory"
    )


@pytest.mark.parametrize(
    ("ending", "unpack"),
    [
        ("", bytes),
        (".gz", gzip.decompress),
        (".zst", lambda data: zstandard.ZstdDecompressor().stream_reader(data).read()),
        (".xz", lzma.decompress),
        (".bz2", bz2.decompress),
    ],
)
def test_a_file_is_compressed_as_its_name_says(tmp_path, ending, unpack):
    path = tmp_path / f"scores{ending}"
    BesideFile(str(path), lambda: b"0.5\n" * 9).write()
    assert unpack(path.read_bytes()) == b"0.5\n" * 9
    first = path.read_bytes()
    BesideFile(str(path), lambda: b"0.5\n" * 9).write()
    assert path.read_bytes() == first
