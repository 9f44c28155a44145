"""Files on a disk or in an object store, each written completely or not at all.

A path with a scheme (``gs://``, ``s3://``, ``hdfs://``) goes through Beam's file systems, any other
is local. On a disk a file appears by rename after fsync; on an object store by one put.
"""

import contextlib
import errno
import glob
import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pairweave.transforms.errors import ConfigError, IrregularFileError
from pairweave.transforms.storage import disk_files
from pairweave.transforms.storage.disk_files import is_uri as is_uri
from pairweave.transforms.storage.disk_files import on_disk as on_disk

_NEEDS = {
    "gs": "pairweave[gcp]",
    "s3": "pairweave[aws]",
    "hdfs": "apache-beam[hadoop]",
    "azfs": "apache-beam[azure]",
}
"""The extra to install for each kind of URI."""


def join(directory: str, *names: str) -> str:
    """Join names onto a directory or URI with slashes.

    >>> join("gs://bucket/out/", "rejects", "part-0")
    'gs://bucket/out/rejects/part-0'
    """
    return "/".join([directory.rstrip("/") or "/", *names]).replace("///", "//")


def absolute(path: str) -> str:
    """Return a path that means the same from every working directory."""
    return path if is_uri(path) else os.path.abspath(path)  # noqa: PTH100 - keeps symlinks


def _file_systems(path: str) -> type:
    """Return Beam's file systems, after checking that one of them supports a URI.

    Raises:
        ConfigError: There is none, or it needs packages that are not installed; says what to
            install.
    """
    from apache_beam.io.filesystems import FileSystems

    scheme = path.partition("://")[0].strip().lower()
    package = _NEEDS.get(scheme)
    try:
        if scheme == "s3":
            importlib.import_module("boto3")  # Beam misses it only at the first request
        FileSystems.get_filesystem(path)
    except (ImportError, OSError, ValueError) as error:
        details = getattr(error, "exception_details", None) or {}
        if isinstance(error, OSError) and not any(
            isinstance(cause, ImportError) for cause in details.values()
        ):
            raise
        if package is None:
            raise ConfigError(
                f"{path}: {scheme}:// is not supported; give a path on a disk, or one that "
                "begins with gs:// or s3://"
            ) from error
        raise ConfigError(
            f"{path}: {scheme}:// needs packages that are not installed: pip install '{package}'"
        ) from error
    return cast("type", FileSystems)


def check_store(path: str) -> None:
    """Check before a run that the packages for a path's object store are installed.

    Raises:
        ConfigError: It is not; says what to install.
    """
    if is_uri(path):
        _file_systems(path)


def match(pattern: str) -> list[str]:
    """Return the paths that a glob pattern matches, sorted; a plain path matches itself."""
    if is_uri(pattern):
        results = _file_systems(pattern).match([pattern])  # type: ignore[attr-defined]
        return sorted(found.path for found in results[0].metadata_list)
    if Path(pattern).is_file():
        return [pattern]
    found = glob.glob(pattern, recursive=True)  # noqa: PTH207 - patterns may be absolute
    return sorted(path for path in found if Path(path).is_file())


def size(path: str) -> int:
    """Return a file's size in bytes.

    Raises:
        FileNotFoundError: There is no such file.
    """
    if is_uri(path):
        found = _file_systems(path).match([path])[0].metadata_list  # type: ignore[attr-defined]
        if not found:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        return int(found[0].size_in_bytes)
    return Path(path).stat().st_size


def exists(path: str) -> bool:
    """Tell whether a file exists."""
    if is_uri(path):
        return bool(_file_systems(path).exists(path))  # type: ignore[attr-defined]
    return Path(path).is_file()


def open_read(path: str) -> BinaryIO:
    """Open a file's raw bytes, never decompressed on the way.

    Raises:
        OSError: The file cannot be opened.
    """
    if is_uri(path):
        from apache_beam.io.filesystem import CompressionTypes

        opened = _file_systems(path).open(  # type: ignore[attr-defined]
            path, compression_type=CompressionTypes.UNCOMPRESSED
        )
        return cast("BinaryIO", opened)
    return Path(path).open("rb")


def irregular(pattern: str) -> str | None:
    """Return the first match of a glob pattern that is a pipe, socket or device; None for none."""
    if is_uri(pattern):
        return None
    paths = [pattern] if os.path.lexists(pattern) else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    for path in map(Path, paths):
        if path.exists() and not path.is_file() and not path.is_dir():
            return str(path)
    return None


def read_bytes(path: str) -> bytes:
    """Return a whole file.

    Raises:
        OSError: The file cannot be read, or is a pipe without a writer.
    """
    if not is_uri(path):
        _require_writer(path)
    with open_read(path) as file:
        return file.read()


def _require_writer(path: str) -> None:
    """Refuse a named pipe, which would wait for a writer, unless it is already open.

    Raises:
        IrregularFileError: It is a named pipe.
    """
    if Path(path).is_fifo() and not os.path.realpath(path).startswith("/proc/"):
        raise IrregularFileError(errno.EINVAL, "is a named pipe, no regular file", path)


def make_directory(path: str) -> None:
    """Make a local directory with its parents; object stores have none."""
    if not is_uri(path):
        disk_files.make_directories(Path(path))


def write_bytes(path: str, data: bytes | memoryview) -> None:
    """Write a whole file under its final name in one go.

    Writing twice is writing once: a second writer replaces the file by one step.

    Raises:
        OSError: The file cannot be written; no part of it remains.
    """
    if is_uri(path):
        with _file_systems(path).create(  # type: ignore[attr-defined]
            path, "application/octet-stream", compression_type="uncompressed"
        ) as file:
            file.write(data)
        return
    temporary = disk_files.write_temporary(path, data)
    try:
        temporary.replace(path)
    except IsADirectoryError as error:
        temporary.unlink(missing_ok=True)
        raise ConfigError(
            f"{path}: a directory is in the place of a file to be written; move it away"
        ) from error
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    disk_files.sync_directory(Path(path).parent)


@contextlib.contextmanager
def open_write(path: str) -> Iterator[BinaryIO]:
    """Open a file that appears under its name, complete, when the block ends without an error.

    Raises:
        OSError: The file cannot be written; no part of it remains.
    """
    if is_uri(path):
        with tempfile.TemporaryFile() as spool:
            yield cast("BinaryIO", spool)
            spool.seek(0)
            with _file_systems(path).create(  # type: ignore[attr-defined]
                path, "application/octet-stream", compression_type="uncompressed"
            ) as file:
                shutil.copyfileobj(spool, file)
        return
    final = Path(path)
    disk_files.make_directories(final.parent)
    temporary = final.with_name(disk_files.name_for(final.name))
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(final)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    disk_files.sync_directory(final.parent)


def create(path: str, data: bytes) -> bool:
    """Write a file only if there is none; tell whether it was written.

    On a disk the test and the creation are one step. On an object store two launchers that start
    in the same instant can both get True; the contents then tell them apart.
    """
    if is_uri(path):
        if exists(path):
            return False
        write_bytes(path, data)
        return True
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
        return sorted(path.removeprefix(prefix) for path in match(prefix + "*"))
    try:
        return sorted(entry.name for entry in os.scandir(directory) if entry.is_file())
    except FileNotFoundError:
        return []


def delete(path: str) -> None:
    """Delete a file, if it exists."""
    if is_uri(path):
        with contextlib.suppress(FileNotFoundError):
            if exists(path):
                _file_systems(path).delete([path])  # type: ignore[attr-defined]
        return
    Path(path).unlink(missing_ok=True)


def delete_empty(directory: str) -> None:
    """Delete a directory if nothing is in it; an object store has none."""
    if not is_uri(directory):
        with contextlib.suppress(OSError):  # it is not empty, or not there
            Path(directory).rmdir()


def delete_temporary(directory: str) -> None:
    """Delete the files that dead writers left in a local directory; those of living ones stay."""
    if is_uri(directory):
        return
    for name in list_names(directory):
        path = Path(directory, name)
        if disk_files.is_dead(path):
            path.unlink(missing_ok=True)
