"""Objects in a store that a URI names: the store, its options, and the meaning of its errors.

Cloud Storage (``gs://``), S3 (``s3://``) and Azure (``az://``) have clients of their own here, with
the options and credentials that Beam's take; any other scheme goes through Beam's file systems.
All stores guarantee that an object appears whole or not at all, that a reader sees one version of
it, and that a program can immediately read and list what it has written.

- These three can also create an object only if there is none, in one step (`Store.put_absent`).
- Beam's file systems cannot: if two programs create an object in the same instant, both may be told
  that they did.
"""

import errno
import functools
import importlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple, Protocol

from pairweave.transforms.errors import ConfigError

RETRY_SECONDS = 120.0
"""Number of seconds for which a request is repeated if a store throttles or fails it."""

PROBE_SECONDS = 20.0
"""The same for the first request; short, so that a wrong address is reported soon."""

READ_BYTES = 8 << 20
"""Number of bytes requested at once from an object that is read in order."""

_STORES = {
    "gs": ("gcs", "google.cloud.storage", "pairweave[gcp]"),
    "s3": ("s3", "boto3", "pairweave[aws]"),
    "az": ("azure", "azure.storage.blob", "pairweave[azure]"),
}
"""For each scheme: the module next to this one, the package that it needs, and its extra."""

BEAM_EXTRAS = {"hdfs": "apache-beam[hadoop]", "azfs": "apache-beam[azure]"}
"""For each scheme that goes through Beam's file systems, the packages to install."""

SCHEMES = (*_STORES, *BEAM_EXTRAS)
"""The schemes of all stores."""

_GLOB = re.compile(r"[*?\[]")

_flags: tuple[str, ...] | None = None


class Version(NamedTuple):
    """The current version of an object.

    Attributes:
        size: Bytes.
        tag: Changes when the object does; None if the store has no such thing.
        written: When it was written, in seconds since 1970 by the clock of the store.
    """

    size: int
    tag: str | int | None
    written: float


class Store(Protocol):
    """The objects of one scheme.

    Every method raises `FileNotFoundError` if there is no such object or bucket, `PermissionError`
    if the store refuses, and other kinds of `OSError` for other faults; each names the URI.
    """

    def list(self, prefix: str, most: int | None = None, *, nested: bool = True) -> Iterator[str]:
        """Yield the URIs of the objects that begin with a prefix, at most ``most`` of them.

        Unless ``nested``, only those without a further slash; the store leaves the others out.
        """

    def version(self, path: str) -> Version:
        """Return the current version of an object."""

    def read(self, path: str, version: Version, start: int, stop: int) -> bytes:
        """Return a range of one version of an object; it may not be empty."""

    def put(self, path: str, data: BinaryIO) -> None:
        """Write an object in one go; this may close the file."""

    def put_absent(self, path: str, data: bytes) -> bool:
        """Write an object only if there is none; tell whether it was written."""

    def delete(self, path: str) -> None:
        """Delete an object."""

    def rust_options(self) -> dict[str, str]:
        """Return options with which `object_store`, the library of deltalake, uses this store.

        They hold the same endpoint and credentials, and ask for commits that create an object only
        if there is none.

        Raises:
            ConfigError: That library cannot use the store, or these credentials.
        """


def use_beam_flags(flags: Sequence[str]) -> None:
    """Take the options for stores from flags of Beam, such as ``--s3_endpoint_url``.

    Pipelines pass their options to workers; this is for the work of a command before it has a
    pipeline.
    """
    global _flags
    _flags = tuple(flags)
    _store.cache_clear()


def store_of(path: str) -> Store:
    """Return the store of a URI.

    Raises:
        ConfigError: There is no store, or it needs packages that are not installed; says what to
            install.
    """
    try:
        # Connections do not survive a fork, so each process has its own.
        return _store(path.partition("://")[0].strip().lower(), os.getpid())
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


@functools.lru_cache(maxsize=8)
def _store(scheme: str, _process: int) -> Store:
    from apache_beam.io.filesystems import FileSystems
    from apache_beam.options.pipeline_options import PipelineOptions

    options = FileSystems._pipeline_options if _flags is None else None
    if options is None:
        options = PipelineOptions(list(_flags or ()))
        FileSystems.set_options(options)
    name, package, extra = _STORES.get(scheme, ("beam_store", "apache_beam", ""))
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise ConfigError(
            f"{scheme}:// needs packages that are not installed: pip install '{extra}'"
        ) from error
    module = importlib.import_module(f"pairweave.transforms.storage.{name}")
    store: Store = module.connect(options, scheme)
    return store


def rust_options(path: str) -> dict[str, str]:
    """Return options with which deltalake uses the store of a URI; see `Store.rust_options`.

    Raises:
        ConfigError: deltalake cannot use the store; says why.
    """
    store = store_of(path)
    try:
        return store.rust_options()
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def check(path: str) -> None:
    """Check before a run that a store can be reached and that the bucket of a URI exists.

    Raises:
        ConfigError: The store or the bucket cannot be reached; says why.
    """
    parts(path)
    try:
        next(store_of(path).list(path.rstrip("/") + "/", most=1), None)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


def match(pattern: str) -> list[str]:
    """Return the objects that a glob pattern matches, sorted; a plain URI matches itself.

    ``*`` stands for part of a name between slashes, ``**`` for any text. No pattern matches the
    empty object by which consoles mark a folder; its name ends in a slash.
    """
    from apache_beam.io.filesystem import FileSystem

    wild = _GLOB.search(pattern)
    if wild is None or exists(pattern):
        return [pattern] if exists(pattern) else []
    expression = re.compile(FileSystem.translate_pattern(pattern))
    paths = store_of(pattern).list(pattern[: wild.start()])
    return sorted(path for path in paths if expression.match(path) and not path.endswith("/"))


def exists(path: str) -> bool:
    """Tell whether there is an object of this name."""
    try:
        store_of(path).version(path)
    except FileNotFoundError:
        return False
    return True


def read(path: str) -> bytes:
    """Return a whole object.

    Raises:
        OSError: It cannot be read.
    """
    store = store_of(path)
    version = store.version(path)
    return store.read(path, version, 0, version.size) if version.size else b""


def open_object(path: str) -> BinaryIO:
    """Open one version of an object; reading can continue at any place.

    Raises:
        OSError: It cannot be read.
    """
    reader = _Reader(store_of(path), path)
    return io.BufferedReader(reader, READ_BYTES)


class _Reader(io.RawIOBase):
    """Reads ranges of one version of an object."""

    def __init__(self, store: Store, path: str) -> None:
        self._store = store
        self._path = path
        self._version = store.version(path)
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._version.size}
        place = begin[whence] + offset
        if place < 0:
            raise ValueError(f"negative seek position {place}")
        self._place = place
        return place

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        stop = min(self._place + len(buffer), self._version.size)
        if stop <= self._place:
            return 0
        data = self._store.read(self._path, self._version, self._place, stop)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


def parts(path: str) -> tuple[str, str]:
    """Return bucket and name of an object.

    >>> parts("gs://bucket/in/a.gz")
    ('bucket', 'in/a.gz')

    Raises:
        ConfigError: There is no bucket.
    """
    bucket, _, name = path.partition("://")[2].partition("/")
    if path.startswith("file://"):
        raise ConfigError(f"{path}: give a path on a disk without file://, such as /{name}")
    if not bucket:
        raise ConfigError(f"{path}: names no bucket; expected a name such as gs://bucket/name")
    return bucket, name


def object_parts(path: str) -> tuple[str, str]:
    """Return bucket and name of an object, neither of which is empty.

    Raises:
        ConfigError: There is no bucket.
        FileNotFoundError: There is no name, or that of a folder, neither of which is an object.
    """
    bucket, name = parts(path)
    if not name or name.endswith("/"):
        what = "folder" if name else "bucket"
        raise FileNotFoundError(errno.ENOENT, f"names a {what} and no object in it", path)
    return bucket, name
