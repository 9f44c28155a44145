"""Files that are written piece by piece and appear under their names complete or not at all."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import BinaryIO, cast

import zstandard

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import disk_files, files
from pairweave.transforms.storage.byte_streams import without_compression


def require_apart(paths: Iterable[str | None]) -> None:
    """Check that no file is written twice, or both read and written; None means no file.

    Raises:
        ConfigError: Names the file.
    """
    seen: set[str] = set()
    for path in paths:
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in seen:
            raise ConfigError(f"{path}: is named twice; give each file its own name")
        seen.add(place)


def require_outputs_apart(inputs: Iterable[str | None], outputs: Iterable[str | None]) -> None:
    """Check that no file is written twice, or both read and written; one may be read twice.

    None means no file.

    Raises:
        ConfigError: Names the file.
    """
    read = {os.path.realpath(path): path for path in inputs if path is not None}
    require_apart([*read.values(), *outputs])


def require_plain_name(path: str, what: str) -> None:
    """Check that a file that is never compressed is not called like a compressed one.

    Args:
        path: The file to be written.
        what: What it holds, for the message.

    Raises:
        ConfigError: Its name ends in ``.gz`` or the like.
    """
    plain = without_compression(path)
    if plain != path:
        raise ConfigError(f"{path}: {what} is not compressed; give a name such as {plain}")


@contextlib.contextmanager
def open_whole(path: str) -> Iterator[BinaryIO]:
    """Open a local file for writing, compressed if its name ends in ``.gz`` or the like.

    It appears under its name only if the block ends without an error, as does its directory.

    Raises:
        OSError: The file cannot be written; no part of it remains.
    """
    with (
        disk_files.directory_made_for(path),
        disk_files.opened_temporary(path) as stored,
        _packed(stored, PurePath(path).suffix) as out,
    ):
        yield out


def write_packed(path: str, data: bytes) -> None:
    """Write a file or URI as a whole, compressed if its name ends in ``.gz`` or the like.

    Raises:
        OSError: As for `files.write_alone`.
    """
    files.write_alone(path, packed_as(path, data))


def packed_as(path: str, data: bytes) -> bytes:
    """Return the content of a file, compressed if its name ends in ``.gz`` or the like."""
    stored = io.BytesIO()
    with _packed(stored, PurePath(path).suffix) as out:
        out.write(data)
    return stored.getvalue()


@contextlib.contextmanager
def _packed(stored: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    """Compress by the file's name; the same text gives the same bytes."""
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", fileobj=stored, mtime=0) as packed:
            yield cast("BinaryIO", packed)
    elif suffix == ".zst":
        with zstandard.ZstdCompressor().stream_writer(stored, closefd=False) as writer:
            yield cast("BinaryIO", writer)
    elif suffix == ".xz":
        with lzma.open(stored, "wb") as packed_file:
            yield cast("BinaryIO", packed_file)
    elif suffix == ".bz2":
        with bz2.open(stored, "wb") as packed_file:
            yield cast("BinaryIO", packed_file)
    else:
        yield stored
