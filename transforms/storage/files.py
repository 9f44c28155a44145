"""Files on a disk or in an object store, each written completely or not at all.

A path with a scheme (``gs://``, ``s3://``, ``az://``) is in an object store, any other on a disk.
On a disk a file appears by rename after fsync; in an object store by one put.
"""

import contextlib
import errno
import glob
import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pairweave.transforms.errors import InputError, IrregularFileError
from pairweave.transforms.storage import disk_files, named_errors, object_stores
from pairweave.transforms.storage.disk_files import is_uri as is_uri
from pairweave.transforms.storage.disk_files import on_disk as on_disk


def join(directory: str, *names: str) -> str:
    """Join names onto a directory or URI with slashes.

    >>> join("gs://bucket/out/", "rejects", "part-0")
    'gs://bucket/out/rejects/part-0'
    >>> join("/", "out"), join("file:///data", "out")
    ('/out', 'file:///data/out')
    """
    return "/".join([directory.rstrip("/"), *names]) or "/"


def absolute(path: str) -> str:
    """Return a path that means the same from every working directory."""
    return path if is_uri(path) else os.path.abspath(path)  # noqa: PTH100 - keeps symlinks


def check_store(path: str) -> None:
    """Check before a run that a path's object store can be reached.

    Raises:
        ConfigError: It cannot be reached, or a package must be installed; says why.
    """
    if is_uri(path):
        object_stores.check(path)


def match(pattern: str) -> list[str]:
    """Return the paths that a glob pattern matches, sorted; a plain path matches itself."""
    if is_uri(pattern):
        return object_stores.match(pattern)
    if Path(pattern).is_file():
        return [pattern]
    paths = glob.glob(pattern, recursive=True)  # noqa: PTH207 - patterns may be absolute
    return sorted(path for path in paths if Path(path).is_file())


def size(path: str) -> int:
    """Return a file's size in bytes.

    Raises:
        FileNotFoundError: There is no such file.
    """
    if is_uri(path):
        return object_stores.store_of(path).version(path).size
    return Path(path).stat().st_size


def size_and_time(path: str) -> tuple[int, float]:
    """Return a file's size in bytes, and when it was written, in seconds since 1970.

    Raises:
        FileNotFoundError: There is no such file.
    """
    if is_uri(path):
        version = object_stores.store_of(path).version(path)
        return version.size, version.written
    facts = Path(path).stat()
    return facts.st_size, facts.st_mtime


def exists(path: str) -> bool:
    """Tell whether a file exists."""
    if is_uri(path):
        return object_stores.exists(path)
    return Path(path).is_file()


def open_read(path: str) -> BinaryIO:
    """Open a file's raw bytes, never decompressed on the way.

    Raises:
        OSError: The file cannot be opened.
    """
    if is_uri(path):
        return object_stores.open_object(path)
    return Path(path).open("rb")


def require_regular(pattern: str, advice: str) -> None:
    """Refuse a pipe, socket or device, which cannot be read a second time, and a broken link.

    A link whose file is missing, perhaps with its disk, would be left out of the matches.

    Args:
        pattern: A file or a glob pattern.
        advice: The end of the message about a file that cannot be read a second time.

    Raises:
        InputError: A match is such a file.
    """
    paths = _with_broken_links(pattern)
    for path in paths:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError("unreadable", str(path), f"is not a regular file; {advice}")
    for path in paths:
        if path.is_symlink() and not path.exists():
            raise InputError(
                "unreadable",
                str(path),
                f"is a link to {path.readlink()}, which does not exist; put the file there, or "
                "remove the link",
            )


def _with_broken_links(pattern: str) -> list[Path]:
    """Return all matches of a pattern on a disk, including links to files that do not exist."""
    if is_uri(pattern):
        return []
    paths = [pattern] if os.path.lexists(pattern) else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    return [Path(path) for path in paths]


def read_bytes(path: str) -> bytes:
    """Return a whole file.

    Raises:
        OSError: The file cannot be read, or is a pipe without a writer.
    """
    if is_uri(path):
        return object_stores.read(path)
    _require_writer(path)
    with open_read(path) as file:
        return file.read()


def sha256_of(path: str) -> str:
    """Return the hex SHA-256 of a file, read piece by piece.

    Raises:
        OSError: The file cannot be read.
    """
    with open_read(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def _require_writer(path: str) -> None:
    """Refuse a named pipe, which would wait for a writer, unless it is already open.

    Raises:
        IrregularFileError: It is a named pipe.
    """
    if Path(path).is_fifo() and not os.path.realpath(path).startswith("/proc/"):
        raise IrregularFileError(errno.EINVAL, "is a named pipe, not a regular file", path)


def make_directory(path: str) -> None:
    """Make a local directory with its parents; object stores have none."""
    if not is_uri(path):
        disk_files.make_directories(Path(path))


def write_bytes(path: str, data: bytes | memoryview) -> None:
    """Write a whole file under its final name in one go.

    Writing twice is writing once: a second writer replaces the file by one step.

    Raises:
        ConfigError: A directory is in its place.
        OSError: The file cannot be written; no part of it remains.
    """
    if is_uri(path):
        object_stores.store_of(path).put(path, io.BytesIO(data))
        return
    disk_files.require_file_place(path)
    temporary = disk_files.write_temporary(path, data)
    try:
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    disk_files.sync_directory(Path(path).parent)


def sync_directory(directory: str) -> None:
    """Make the entries of a local directory reach the disk; object stores have none.

    A writer does so, but not if an error came after the file had appeared.
    """
    if not is_uri(directory):
        with contextlib.suppress(PermissionError):  # a directory may be writable but not listable
            disk_files.sync_directory(Path(directory))


def write_alone(path: str, data: bytes | memoryview) -> None:
    """Write a file like `write_bytes`, and delete files that killed writers of it left next to it.

    For a file that a command writes by itself: this lists its directory, which may be large.

    Raises:
        OSError: The file cannot be written; no part of it remains.
    """
    write_bytes(path, data)
    if not is_uri(path):
        disk_files.delete_dead(Path(path))


@contextlib.contextmanager
def open_write(path: str) -> Iterator[BinaryIO]:
    """Open a file that appears under its name, complete, when the block ends without an error.

    Raises:
        OSError: The file cannot be written; no part of it remains.
    """
    if is_uri(path):
        with named_errors.naming(tempfile.gettempdir()), tempfile.TemporaryFile() as spool:
            yield cast("BinaryIO", spool)
            spool.seek(0)
            object_stores.store_of(path).put(path, cast("BinaryIO", spool))
        return
    with disk_files.directory_made_for(path), disk_files.opened_temporary(path) as file:
        yield file


def create(path: str, data: bytes) -> bool:
    """Write a file only if there is none; tell whether it was written.

    The test and the creation are one step on a disk, on Cloud Storage, on S3 and on Azure. In other
    stores two launchers that start in the same instant can both get True; the contents then tell
    them apart.
    """
    if is_uri(path):
        return object_stores.store_of(path).put_absent(path, data)
    temporary = disk_files.write_temporary(path, data)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    disk_files.sync_directory(Path(path).parent)
    return True


def list_names(directory: str) -> list[str]:
    """Return the names of the files in a directory, sorted; none if there is no directory."""
    if is_uri(directory):
        prefix = directory.rstrip("/") + "/"
        paths = object_stores.store_of(prefix).list(prefix, nested=False)
        return sorted(filter(None, (path.removeprefix(prefix) for path in paths)))
    try:
        return sorted(entry.name for entry in os.scandir(directory) if entry.is_file())
    except FileNotFoundError:
        return []


def list_below(directory: str) -> list[str]:
    """Return the names of all files below a directory, relative to it and sorted.

    Links to directories are not followed.
    """
    if is_uri(directory):
        prefix = directory.rstrip("/") + "/"
        names = (path.removeprefix(prefix) for path in object_stores.store_of(prefix).list(prefix))
        return sorted(name for name in names if name and not name.endswith("/"))
    return sorted(_below(directory, ""))


def _below(directory: str, prefix: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(f"{directory}/{entry.name}", f"{prefix}{entry.name}/")
        elif entry.is_file():
            yield f"{prefix}{entry.name}"


def first_link(directory: str) -> str | None:
    """Return the first symbolic link below a local directory, relative to it, or None."""
    if is_uri(directory):
        return None
    for place, folders, names in os.walk(directory):
        for name in sorted([*folders, *names]):
            path = Path(place, name)
            if path.is_symlink():
                return str(path.relative_to(directory))
    return None


def linked_directories(directory: str) -> list[str]:
    """Return the symbolic links to directories in a local directory, and in those below it."""
    if is_uri(directory):
        return []
    root = Path(directory)
    links = [entry for entry in (*root.glob("*"), *root.glob("*/*")) if entry.is_symlink()]
    return sorted(str(entry.relative_to(root)) for entry in links if entry.is_dir())


def delete(path: str) -> None:
    """Delete a file, if it exists."""
    if is_uri(path):
        with contextlib.suppress(FileNotFoundError):
            object_stores.store_of(path).delete(path)
        return
    Path(path).unlink(missing_ok=True)


def delete_empty(directory: str) -> None:
    """Delete a directory if nothing is in it; an object store has none."""
    if not is_uri(directory):
        with contextlib.suppress(OSError):  # the directory is not empty, or does not exist
            Path(directory).rmdir()


def delete_temporary(directory: str) -> None:
    """Delete the temporary files of dead writers in a local directory; living ones keep theirs."""
    if is_uri(directory):
        return
    for name in list_names(directory):
        path = Path(directory, name)
        if disk_files.is_dead(path):
            path.unlink(missing_ok=True)
