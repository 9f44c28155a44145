"""A model's description may list only files of its own directory."""

import json

import pytest

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.storage import disk_files, hashed_files


@pytest.mark.parametrize("name", ["../a", "a/b", "/a", ".a", "..", "", "about.json"])
def test_a_file_outside_the_model_is_refused(name):
    with pytest.raises(ValueError, match="names a file outside the model"):
        hashed_files.parse_about(json.dumps({"files": {"a.arrow": "0", name: "0"}}).encode())


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ([], "hashes of files"),
        ("files", "hashes of files"),
        ({}, "files: is missing"),
        ({"files": {}}, "files: expected at least 1 of them"),
        ({"files": ["a"]}, "files: expected an object"),
        ({"files": {"a.arrow": 1}}, "files.a.arrow: expected text, found 1"),
    ],
)
def test_a_description_without_files_is_refused(about, message):
    with pytest.raises(ValueError, match=message):
        hashed_files.parse_about(json.dumps(about).encode())


@pytest.mark.parametrize("names", [("a", "b"), ("z", "b", "about.text")])
def test_the_description_is_written_after_all_that_it_describes(tmp_path, monkeypatch, names):
    packed = hashed_files.with_hashes({name: name.encode() for name in names}, {})
    # In the order of their names, about.json would not be the last.
    packed = dict(sorted(packed.items()))
    written = []

    def write(path, data):
        written.append(path.rpartition("/")[2])
        if len(written) == len(names):
            raise OSError("killed here")
        whole(path, data)

    whole = hashed_files.files.write_bytes
    monkeypatch.setattr(hashed_files.files, "write_bytes", write)
    with pytest.raises(OSError, match="killed"):
        hashed_files.write(str(tmp_path), packed)
    assert sorted(written) == sorted(names)
    with pytest.raises(WorkerError, match=r"about\.json"):
        hashed_files.read(str(tmp_path))
    monkeypatch.setattr(hashed_files.files, "write_bytes", whole)
    hashed_files.write(str(tmp_path), packed)
    assert hashed_files.read(str(tmp_path)) == packed


def test_a_directory_written_again_takes_what_a_killed_writer_left_and_no_other_file(tmp_path):
    no_process = 1 << 30  # above Linux' highest number of a process
    machine = disk_files.name_for("").removeprefix(disk_files.PREFIX).partition(".")[0]
    names = ("matrix.npy", hashed_files.ABOUT, "thesis.txt")
    dead = [f"{disk_files.PREFIX}{machine}.{no_process}.7-0123-{name}" for name in names]
    alive = disk_files.name_for("matrix.npy")
    for name in (*dead, alive):
        (tmp_path / name).write_bytes(b"half")
    hashed_files.write(str(tmp_path), hashed_files.with_hashes({"matrix.npy": b"1"}, {}))
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted(["matrix.npy", hashed_files.ABOUT, alive, dead[2]])
