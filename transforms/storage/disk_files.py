"""Files on a disk, written under a temporary name first; for modules that do not use Beam.

Several runs may write to one directory at once: the same command started twice, or a run that
starts while the processes of a killed one are still ending. The name of a file that is being
written says which process of which machine writes it, and so whether its writer is still alive.
"""

import contextlib
import errno
import functools
import io
import os
import platform
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import xxhash

from pairweave.transforms import process_stat
from pairweave.transforms.errors import ConfigError, IrregularFileError
from pairweave.transforms.storage import named_errors
from pairweave.transforms.storage.local_copies import local_copy

if TYPE_CHECKING:
    from typing_extensions import Buffer

PREFIX = ".tmp-"

KEY = "key"
"""A file of random bytes in a run's private temporary directory, by which its processes recognise
each other."""

_MAX_NAME_BYTES = 150
"""The longest final name that is part of a temporary one; file systems allow 255 bytes in all."""

STALE_SECONDS = 3600.0
"""A file of another machine is dead if nothing was written to it for this long.

Files are written in one go, in seconds; whether a process of another machine lives cannot be seen.
"""


def name_for(name: str) -> str:
    """Return a name under which this process can write a file that is to be renamed.

    Args:
        name: The file's final name.
    """
    return f"{PREFIX}{_writer()}-{uuid.uuid4().hex}-{_short(name)}"


def _short(name: str) -> str:
    """Return a name, or its hash if a temporary name with all of it could be too long."""
    data = os.fsencode(name)
    return name if len(data) <= _MAX_NAME_BYTES else xxhash.xxh3_64_hexdigest(data)


def is_dead(path: Path) -> bool:
    """Tell whether the process that was writing a file has ended."""
    if not path.name.startswith(PREFIX):
        return False
    machine, _, process = path.name.removeprefix(PREFIX).partition("-")[0].partition(".")
    pid, _, started = process.partition(".")
    if machine == _machine() and pid.isdecimal():
        return _started(int(pid)) != started
    with contextlib.suppress(FileNotFoundError):
        return time.time() - path.stat().st_mtime > STALE_SECONDS
    return False


def delete_dead(final: Path) -> None:
    """Delete the files that killed writers of a file left next to it; lists the whole directory."""
    for path in final.parent.glob(f"{PREFIX}*"):
        # A temporary name is the prefix, the writer, 32 digits and the final name or its hash.
        name = path.name.removeprefix(PREFIX).split("-", 2)[2:]
        if name == [_short(final.name)] and is_dead(path):
            path.unlink(missing_ok=True)


@functools.cache
def _writer() -> str:
    """Return what temporary names say about this process: its machine, its number, its start."""
    pid = os.getpid()
    return f"{_machine()}.{pid}.{_started(pid)}"


os.register_at_fork(after_in_child=_writer.cache_clear)


def _started(pid: int) -> str:
    """Return when a process started, in ticks since the machine did; nothing if it has ended."""
    ticks = process_stat.started(pid)
    return "" if ticks is None else str(ticks)


@functools.cache
def _machine() -> str:
    """Return an id that differs between machines, their restarts, and containers on them."""
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return xxhash.xxh3_64_hexdigest(" ".join(parts).encode())


def is_uri(path: str) -> bool:
    """Tell whether a path names an object store.

    >>> is_uri("gs://bucket/a.gz"), is_uri("data/a.gz")
    (True, False)
    """
    return "://" in path


def on_disk(path: str) -> Path:
    """Return a path on a disk; files in an object store are copied to this machine once.

    Raises:
        ConfigError: The store's packages are not installed, or it has no such file or directory.
        OSError: The store cannot be read, or the disk not written.
    """
    if not is_uri(path):
        return Path(path)
    try:
        return local_copy(path)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file or directory in this store") from error


def require_file_place(path: str) -> None:
    """Check that a file can be renamed to a path, which would replace a pipe or a device.

    Raises:
        ConfigError: A directory is there.
        IrregularFileError: A pipe, socket or device is there, such as ``/dev/stdout``.
    """
    final = Path(path)
    if final.is_dir():
        raise ConfigError(
            f"{path}: a directory is in the place of a file to be written; move it away"
        )
    place = os.path.realpath(final.parent)
    is_device = place == "/dev" or place.startswith("/proc/")
    if is_device or (final.exists() and not final.is_file()):
        message = "is a pipe or a device, which a file cannot replace; name a file"
        raise IrregularFileError(errno.EINVAL, message, path)


def write_temporary(path: str, data: bytes | memoryview) -> Path:
    """Write a file under a temporary name next to its final one, and return that path.

    Raises:
        OSError: It cannot be written; no part of it remains.
    """
    final = Path(path)
    make_directories(final.parent)
    temporary = final.with_name(name_for(final.name))
    try:
        # Closing the file may fail, too, and raise another error than the one of the write.
        with temporary.open("xb") as file, named_errors.naming(path):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        _delete(temporary)
        error.filename = path  # the system leaves it out for a full disk
        raise
    return temporary


@contextlib.contextmanager
def opened_temporary(path: str) -> Iterator[BinaryIO]:
    """Open a file that appears under its name, complete, when the block ends without an error.

    Errors in writing it carry its name, regardless of other files open in the block.

    Raises:
        ConfigError: A directory is in its place.
        OSError: It cannot be written; no part of it remains.
    """
    final = Path(path)
    require_file_place(path)
    temporary = final.with_name(name_for(final.name))
    try:
        with _new_file(temporary, path) as file:
            yield file
            file.flush()
            with named_errors.naming(path):
                os.fsync(file.fileno())
        temporary.replace(final)
    except BaseException:
        _delete(temporary)
        raise
    delete_dead(final)
    sync_directory(final.parent)


def _delete(temporary: Path) -> None:
    """Delete what an error left of a file; on a read-only file system that is an error too."""
    with contextlib.suppress(OSError):
        temporary.unlink()


def _new_file(temporary: Path, path: str) -> io.BufferedWriter:
    try:
        return io.BufferedWriter(_Named(temporary, path))
    except OSError as error:
        error.filename = path
        raise


class _Named(io.FileIO):
    """A new file whose write errors carry its final name."""

    def __init__(self, temporary: Path, path: str) -> None:
        """Create it."""
        super().__init__(temporary, "xb")
        self._path = path

    def write(self, data: "Buffer") -> int:
        """Write some bytes; return how many."""
        with named_errors.naming(self._path):
            return super().write(data)


def make_directories(directory: Path) -> None:
    """Make a directory and its parents; their entries reach the disk before any file in them.

    Raises:
        OSError: It cannot be made; names what is in its place.
    """
    if directory.is_dir():
        return
    missing = [directory, *(parent for parent in directory.parents if not parent.exists())]
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        places = (directory, *directory.parents)
        place = next(place for place in places if os.path.lexists(place) and not place.is_dir())
        what = "is a file" if place.exists() else "is a link that leads nowhere"
        reason = f"{what}, not a directory; give another name, or move it away"
        raise type(error)(error.errno, reason, str(place)) from error
    for created in missing:
        with contextlib.suppress(PermissionError):  # a directory may be writable but not listable
            sync_directory(created.parent)


@contextlib.contextmanager
def directory_made_for(path: str) -> Iterator[None]:
    """Make the directory of a file; what was made is removed if the block ends with an error.

    Raises:
        OSError: As for `make_directories`.
    """
    directory = Path(path).parent
    missing = [place for place in (directory, *directory.parents) if not place.exists()]
    make_directories(directory)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # it is not empty: another command has written there
            for made in missing:
                made.rmdir()
        raise


def sync_directory(directory: Path) -> None:
    """Make the entries of a directory reach the disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
