"""Copies of what is in a store, on one real store's emulator."""

import tempfile

import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files, object_stores
from tests.makers import stores


@pytest.fixture(scope="module")
def emulator():
    with stores.running("s3") as store:
        yield store


@pytest.fixture
def store(emulator, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(emulator.door, "spoil", lambda *_: None)
    object_stores.use_beam_flags([])
    yield emulator
    object_stores.use_beam_flags([])


def downloads(store):
    """Return the names of the objects whose bytes were asked for since the last call."""
    result = [
        path for method, path in store.door.requests if method == "GET" and "list" not in path
    ]
    store.door.requests.clear()
    return [path.rpartition("/")[2] for path in result]


def test_a_file_is_copied_once_and_keeps_its_name(store):
    store.put("links/a.gz", b"bytes")
    path = files.on_disk("s3://bucket/links/a.gz")
    assert (path.name, path.read_bytes()) == ("a.gz", b"bytes")
    assert downloads(store) == ["a.gz"]
    assert files.on_disk("s3://bucket/links/a.gz") == path
    assert downloads(store) == []


def test_a_directory_is_copied_with_what_is_below_it(store):
    store.put("model/config.json", b"{}")
    store.put("model/weights/a", b"w")
    store.put("model/empty", b"")
    for marked in ("model/", "model/weights/"):  # as a console marks a folder
        store.put(marked, b"")
    store.put("model2/other", b"o")
    path = files.on_disk("s3://bucket/model/")
    actual = {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
    assert actual == {"config.json": b"{}", "weights/a": b"w", "empty": b""}
    assert files.on_disk("s3://bucket/model/") == path


def test_another_version_is_another_copy(store):
    store.put("new/a", b"one")
    old = files.on_disk("s3://bucket/new")
    store.put("new/a", b"two")
    assert (files.on_disk("s3://bucket/new") / "a").read_bytes() == b"two"
    assert (old / "a").read_bytes() == b"one"


def test_a_copy_that_fails_leaves_nothing(store, tmp_path, monkeypatch):
    store.put("broken/a", b"one")
    store.put("broken/b", b"two")
    fault = lambda method, path, _: 403 if method == "GET" and path.endswith("/b") else None  # noqa: E731
    monkeypatch.setattr(store.door, "spoil", fault)
    with pytest.raises(PermissionError):
        files.on_disk("s3://bucket/broken")
    (place,) = tmp_path.iterdir()
    assert list(place.iterdir()) == []


def test_names_that_lead_elsewhere_are_refused(store, tmp_path):
    store.put("evil/../../x", b"out")
    with pytest.raises(OSError, match="cannot be that of a file on a disk"):
        files.on_disk("s3://bucket/evil")
    assert not list(tmp_path.rglob("x"))


def test_a_place_that_others_can_enter_is_refused(store, tmp_path):
    store.put("open/a", b"one")
    files.on_disk("s3://bucket/open")
    (place,) = tmp_path.iterdir()
    place.chmod(0o755)
    with pytest.raises(PermissionError, match="open to others"):
        files.on_disk("s3://bucket/open")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("name", ["absent", "absent/"])
def test_what_is_not_there_is_told(name):
    with pytest.raises(ConfigError, match="no such file or directory in this store"):
        files.on_disk(f"s3://bucket/{name}")
