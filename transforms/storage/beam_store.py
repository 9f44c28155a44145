"""Stores that only Beam's file systems reach, such as ``hdfs://``."""

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Iterator
from typing import BinaryIO

from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage.object_stores import BEAM_EXTRAS, Version

_RAW = CompressionTypes.UNCOMPRESSED
_GLOB = re.compile(r"[*?\[]")


def connect(_options: PipelineOptions, scheme: str) -> "BeamStore":
    """Return the file system of a scheme; its options are those of `FileSystems`.

    Raises:
        ConfigError: Beam has no such file system, or needs packages that are not installed.
    """
    try:
        FileSystems.get_filesystem(f"{scheme}://host/path")
    except (ImportError, OSError, ValueError) as error:
        if scheme in BEAM_EXTRAS:
            raise ConfigError(
                f"{scheme}:// needs packages that are not installed, or its options "
                f"({_reason(error)}): pip install '{BEAM_EXTRAS[scheme]}'"
            ) from error
        raise ConfigError(
            f"{scheme}:// is not supported; give a path on a disk, or one that begins with gs://, "
            "s3:// or az://"
        ) from error
    return BeamStore()


class BeamStore:
    """Files of Beam's file systems; see `object_stores.Store`."""

    def list(self, prefix: str, most: int | None = None, *, nested: bool = True) -> Iterator[str]:
        """Yield the URIs of the files that begin with a prefix, at most ``most`` of them."""
        # A pattern has no way to quote its own characters, so more may match than is wanted.
        pattern = _GLOB.sub("?", prefix) + ("**" if nested else "*")
        is_odd = _GLOB.search(prefix) is not None
        with _mapped(prefix):
            (result,) = FileSystems.match([pattern], None if most is None or is_odd else [most])
        paths = [metadata.path for metadata in result.metadata_list]
        if is_odd:
            paths = [path for path in paths if path.startswith(prefix)]
        yield from paths[:most]

    def version(self, path: str) -> Version:
        """Return the current version of a file."""
        file_system = FileSystems.get_filesystem(path)
        with _mapped(path):  # not `match`, for which a name such as a[1].txt is a pattern
            metadata = file_system.metadata(path) if file_system.exists(path) else None
        if metadata is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return Version(int(metadata.size_in_bytes), None, metadata.last_updated_in_seconds or 0.0)

    def read(self, path: str, version: Version, start: int, stop: int) -> bytes:  # noqa: ARG002
        """Return a range of a file."""
        with _mapped(path), FileSystems.open(path, compression_type=_RAW) as file:
            file.seek(start)
            return bytes(file.read(stop - start))

    def put(self, path: str, data: BinaryIO) -> None:
        """Write a file in one go."""
        with _mapped(path), FileSystems.create(path, compression_type=_RAW) as file:
            shutil.copyfileobj(data, file)

    def put_absent(self, path: str, data: bytes) -> bool:
        """Write a file if there is none now; another program may write it in between."""
        with _mapped(path):
            if FileSystems.exists(path):
                return False
            with FileSystems.create(path, compression_type=_RAW) as file:
                file.write(data)
        return True

    def delete(self, path: str) -> None:
        """Delete a file."""
        with _mapped(path):
            FileSystems.delete([path])

    def rust_options(self) -> dict[str, str]:
        """Refuse, because nothing here creates a file only if there is none."""
        raise ConfigError("Delta tables can be on a disk, or at gs://, s3:// or az://")


@contextlib.contextmanager
def _mapped(path: str) -> Iterator[None]:
    """Name the path in errors of Beam, which give it in a table apart from their message."""
    try:
        yield
    except BeamIOError as error:
        raise OSError(errno.EIO, _reason(error), path) from error


def _reason(error: Exception) -> str:
    causes = list((getattr(error, "exception_details", None) or {}).values())
    return " ".join(str(causes[0] if causes else error).split())
