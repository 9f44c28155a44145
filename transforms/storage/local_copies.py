"""Copies on this machine's disk of files and directories in an object store.

For files that can only be read from a disk, such as the weights of a neural model. All processes of
a run on one machine share one copy, in the run's temporary directory; another version of the files
is another copy.
"""

import errno
import hashlib
import os
import shutil
import stat
import tempfile
import uuid
from pathlib import Path

from pairweave.transforms.storage import named_errors, object_stores

_DIRECTORY = "pairweave-copies"


def local_copy(uri: str) -> Path:
    """Return the path of a copy of an object, or of all objects below a URI.

    Raises:
        FileNotFoundError: There is no such object and none below it.
        OSError: The store or the disk fails; no part of a copy remains.
    """
    objects = _objects(uri)
    versions = {name: object_stores.store_of(path).version(path) for name, path in objects.items()}
    key = hashlib.sha256(repr((uri, sorted(versions.items()))).encode()).hexdigest()
    place = _private_directory()
    copy = place / key
    # The name is kept, since extensions identify formats.
    local = copy / uri.rstrip("/").rpartition("/")[2]
    if not copy.is_dir():
        temporary = place / f"{key}.{uuid.uuid4().hex}"
        try:
            for name, path in objects.items():
                _download(path, versions[name], temporary / local.name / name)
            _rename(temporary, copy)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return local


def _private_directory() -> Path:
    """Return a directory that only this user can enter, so that nobody else can put weights there.

    Raises:
        PermissionError: Its name is taken by a link, or by a directory that others can enter.
    """
    place = Path(tempfile.gettempdir(), f"{_DIRECTORY}-{os.getuid()}")
    place.mkdir(mode=0o700, exist_ok=True)
    facts = place.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
        raise PermissionError(
            errno.EACCES, "is open to others, or not a directory; remove it", str(place)
        )
    return place


def _objects(uri: str) -> dict[str, str]:
    """Return the objects of a URI by their names below it; the name of the object itself is empty.

    Raises:
        FileNotFoundError: There are no objects.
    """
    if not uri.endswith("/") and object_stores.exists(uri):
        return {"": uri}
    prefix = uri.rstrip("/") + "/"
    paths = (path for path in object_stores.store_of(uri).list(prefix) if not path.endswith("/"))
    objects = {path.removeprefix(prefix): path for path in paths}
    if not objects:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), uri)
    for name, path in objects.items():
        if not {"", ".", ".."}.isdisjoint(name.split("/")):
            raise OSError(errno.EINVAL, "its name cannot be that of a file on a disk", path)
    return objects


def _download(path: str, version: object_stores.Version, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    store = object_stores.store_of(path)
    with target.open("xb") as file:
        for start in range(0, version.size, object_stores.READ_BYTES):
            stop = min(start + object_stores.READ_BYTES, version.size)
            data = store.read(path, version, start, stop)
            with named_errors.naming(str(target)):
                file.write(data)


def _rename(temporary: Path, copy: Path) -> None:
    """Give a copy its name, unless another process was first."""
    try:
        temporary.rename(copy)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
