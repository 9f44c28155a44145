"""A store of Beam's file systems, here one in memory: what `object_stores.Store` promises of it."""

import errno
import io
import posixpath
import tempfile

import pytest
from apache_beam.io.filesystem import BeamIOError, CompressionTypes, FileMetadata, FileSystem

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files, object_stores
from pairweave.transforms.storage.object_stores import Version

OBJECTS: dict[str, bytes] = {}
WRITTEN = 1_700_000_000.5
ROOT = "inmemory://bucket"


class _New(io.BytesIO):
    """A file that is there once it is closed."""

    def __init__(self, path):
        super().__init__()
        self._path = path

    def close(self):
        if not self.closed:
            OBJECTS[self._path] = self.getvalue()
        super().close()


class InMemory(FileSystem):
    """Files by their paths; a name that says so is compressed, unless the caller objects."""

    @classmethod
    def scheme(cls):
        return "inmemory"

    def join(self, basepath, *paths):
        return posixpath.join(basepath, *paths)

    def split(self, path):
        return posixpath.split(path)

    def mkdirs(self, path):
        pass

    def has_dirs(self):
        return False

    def _list(self, dir_or_prefix):
        return [self.metadata(path) for path in sorted(OBJECTS) if path.startswith(dir_or_prefix)]

    def metadata(self, path):
        if path not in OBJECTS:
            raise BeamIOError(
                "Metadata operation failed", {path: FileNotFoundError("is  not\nhere")}
            )
        return FileMetadata(path, len(OBJECTS[path]), WRITTEN)

    def create(self, path, mime_type="", compression_type=CompressionTypes.AUTO):  # noqa: ARG002
        assert compression_type == CompressionTypes.UNCOMPRESSED
        return _New(path)

    def open(self, path, mime_type="", compression_type=CompressionTypes.AUTO):  # noqa: ARG002
        assert compression_type == CompressionTypes.UNCOMPRESSED
        self.metadata(path)
        return io.BytesIO(OBJECTS[path])

    def exists(self, path):
        return path in OBJECTS

    def delete(self, paths):
        for path in paths:
            self.metadata(path)
            del OBJECTS[path]

    def size(self, path):
        return self.metadata(path).size_in_bytes

    def last_updated(self, path):
        return self.metadata(path).last_updated_in_seconds

    def checksum(self, path):
        return self.metadata(path)

    def copy(self, source_file_names, destination_file_names):
        raise NotImplementedError

    rename = copy


@pytest.fixture(autouse=True)
def store():
    OBJECTS.clear()
    yield object_stores.store_of(ROOT)
    object_stores.use_beam_flags([])


def test_a_file_is_written_and_read_as_it_is_whatever_its_name(store):
    path = f"{ROOT}/a.gz"
    files.write_bytes(path, b"0123456789")
    assert list(OBJECTS.items()) == [(path, b"0123456789")]
    assert store.version(path) == Version(10, None, WRITTEN)
    assert store.read(path, store.version(path), 3, 7) == b"3456"
    assert files.read_bytes(path) == b"0123456789"
    assert files.size_and_time(path) == (10, WRITTEN)
    with files.open_write(path) as file:
        file.write(b"new")
    assert files.read_bytes(path) == b"new"


def test_a_file_is_made_only_if_there_is_none():
    path = f"{ROOT}/a"
    assert files.create(path, b"first")
    assert not files.create(path, b"second")
    assert files.read_bytes(path) == b"first"


def test_files_are_listed_with_those_below_or_without_them(store):
    for name in ("d/b", "d/a", "d/e/c", "other", "d/e/f/g"):
        OBJECTS[f"{ROOT}/{name}"] = b""
    assert sorted(store.list(f"{ROOT}/d/")) == [f"{ROOT}/d/{n}" for n in ("a", "b", "e/c", "e/f/g")]
    assert sorted(store.list(f"{ROOT}/d/", nested=False)) == [f"{ROOT}/d/{name}" for name in "ab"]
    assert len([*store.list(f"{ROOT}/d/", most=1)]) == 1
    assert files.list_names(f"{ROOT}/d") == ["a", "b"]
    assert files.list_below(f"{ROOT}/d/") == ["a", "b", "e/c", "e/f/g"]


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("d/*", ["d/a", "d/a[1].txt", "d/b"]),
        ("d/a*t", ["d/a[1].txt"]),
        ("d/?", ["d/a", "d/b"]),
        ("d/b*", ["d/b"]),
        ("**/b", ["d/b", "e/b"]),
        ("d/b", ["d/b"]),
        ("d/a[1].txt", ["d/a[1].txt"]),
        ("d/c", []),
        ("d/c*", []),
    ],
)
def test_a_pattern_matches_files_in_order_and_a_name_itself(pattern, matched):
    for name in ("e/b", "d/b", "d/a[1].txt", "d/a"):
        OBJECTS[f"{ROOT}/{name}"] = b""
    assert files.match(f"{ROOT}/{pattern}") == [f"{ROOT}/{name}" for name in matched]


@pytest.mark.parametrize("folder", ["d[1]", "d*", "d?", "[d", "d]"])
def test_a_directory_whose_name_looks_like_a_pattern_is_listed(store, folder):
    for name in (f"{folder}/a", f"{folder}/e/b", "d1/no", "dd/no", "d/no"):
        OBJECTS[f"{ROOT}/{name}"] = b""
    assert files.list_names(f"{ROOT}/{folder}") == ["a"]
    assert files.list_below(f"{ROOT}/{folder}") == ["a", "e/b"]
    assert [*store.list(f"{ROOT}/{folder}/", most=1)] == [f"{ROOT}/{folder}/a"]


def test_a_file_that_is_not_there_has_no_version(store):
    assert not files.exists(f"{ROOT}/a")
    with pytest.raises(FileNotFoundError) as caught:
        store.version(f"{ROOT}/a")
    assert caught.value.filename == f"{ROOT}/a"


def test_a_file_is_deleted(store):
    OBJECTS[f"{ROOT}/a"] = OBJECTS[f"{ROOT}/b"] = b""
    store.delete(f"{ROOT}/a")
    assert list(OBJECTS) == [f"{ROOT}/b"]


def test_a_fault_names_the_file_and_its_cause_in_one_line(store):
    with pytest.raises(OSError, match="is not here") as caught:
        store.read(f"{ROOT}/a", Version(1, None, 0.0), 0, 1)
    assert (caught.value.errno, caught.value.strerror) == (errno.EIO, "is not here")
    assert caught.value.filename == f"{ROOT}/a"


def test_a_directory_is_copied_to_the_disk_once(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    OBJECTS.update({f"{ROOT}/model/a": b"one", f"{ROOT}/model/b/c": b"two"})
    copy = files.on_disk(f"{ROOT}/model/")
    assert copy.name == "model"
    assert {name: (copy / name).read_bytes() for name in ("a", "b/c")} == {
        "a": b"one",
        "b/c": b"two",
    }
    monkeypatch.setattr(InMemory, "open", None)  # nothing is read again
    assert files.on_disk(f"{ROOT}/model/") == copy


def test_what_only_a_disk_has_is_left_alone():
    OBJECTS[f"{ROOT}/d/.tmp-1.2.3-x"] = b""
    for change in (
        files.make_directory,
        files.sync_directory,
        files.delete_empty,
        files.delete_temporary,
    ):
        change(f"{ROOT}/d")
    assert list(OBJECTS) == [f"{ROOT}/d/.tmp-1.2.3-x"]
    assert files.first_link(f"{ROOT}/d") is None
    assert files.linked_directories(f"{ROOT}/d") == []


def test_it_holds_no_delta_tables():
    with pytest.raises(ConfigError, match=f"{ROOT}/t: Delta tables can be on a disk, or at gs://"):
        object_stores.rust_options(f"{ROOT}/t")
