"""Reading files of a table and checking them, at every read, against their recorded hashes."""

import hashlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

NAMED_DIGITS = 24
"""Number of digits of the SHA-256 in a file's name."""

_AT_ONCE = 16
"""Number of simultaneous requests to a store."""

_GONE = (FileNotFoundError, IsADirectoryError, NotADirectoryError)

RESTORE = (
    "nothing was changed. Restore it from a backup: section 'A file of a table is damaged' of "
    "deploy/RUNBOOK.md"
)


class GoneError(ConfigError):
    """A file that a table needs is missing.

    Attributes:
        path: The file.
    """

    def __init__(self, path: str) -> None:
        """Build the message."""
        super().__init__(str(damaged(path, "is missing")))
        self.path = path


def damaged(path: str, what: str) -> ConfigError:
    """Return the error for a file of a table that differs from what refresh wrote.

    Args:
        path: The file.
        what: The fault, such as "its content differs from what was written".
    """
    return ConfigError(f"{path}: {what}; {RESTORE}")


def digest_of(data: bytes) -> str:
    """Return the hex SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def named_digest(path: str) -> str:
    """Return the digits of the content's SHA-256 that are in a file's name.

    >>> named_digest("kind=plain/part-0123456789abcdef01234567.parquet")
    '0123456789abcdef01234567'
    """
    return path.rpartition("/")[2].partition(".")[0].rpartition("-")[2]


def read(path: str, sha256: str) -> bytes:
    """Return a whole file.

    Args:
        path: The file.
        sha256: The SHA-256 of its content, or its known first digits.

    Raises:
        GoneError: The file does not exist.
        ConfigError: The content has another hash.
    """
    try:
        data = files.read_bytes(path)
    except _GONE as error:
        raise GoneError(path) from error
    _require(path, digest_of(data), sha256)
    return data


def require_all(expected: Mapping[str, str], known: dict[str, str | None] | None = None) -> None:
    """Check small files by their hashes; in a store, several at once.

    Args:
        expected: The SHA-256 of each file, by path.
        known: Hashes of files that were read before, None for a missing file; those of further
            files are added, so that a caller who passes it again reads each file only once.

    Raises:
        ConfigError: A file is missing or differs; names the first one.
    """
    known = {} if known is None else known
    unread = [path for path in expected if path not in known]
    if any(files.is_uri(path) for path in unread):
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            known.update(zip(unread, pool.map(_digest_or_none, unread), strict=True))
    for path, sha256 in expected.items():
        if path not in known:
            known[path] = _digest_or_none(path)
        digest = known[path]
        if digest is None:
            raise GoneError(path)
        _require(path, digest, sha256)


def _digest_or_none(path: str) -> str | None:
    """Return the hash of a file; None if it does not exist."""
    try:
        return digest_of(files.read_bytes(path))
    except _GONE:
        return None


def _require(path: str, digest: str, sha256: str) -> None:
    if not sha256 or not digest.startswith(sha256):
        raise damaged(path, "its content differs from what was written")
