"""Reading files of a table that are named or listed with their hash: all of them, at every read."""

import hashlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

NAMED_DIGITS = 24
"""Digits of the SHA-256 that a file's name has."""

_AT_ONCE = 16
"""Requests to a store at a time."""

RESTORE = (
    "nothing was changed. Restore it from a backup: section 'A file of a table is damaged' of "
    "deploy/RUNBOOK.md"
)


class GoneError(ConfigError):
    """A file that a table needs is not there.

    Attributes:
        path: The file.
    """

    def __init__(self, path: str) -> None:
        """Build the message."""
        super().__init__(str(damaged(path, "is missing")))
        self.path = path


def damaged(path: str, what: str) -> ConfigError:
    """Return the error for a file of a table that is not as refresh wrote it.

    Args:
        path: The file.
        what: What is wrong, such as "its content differs from what was written".
    """
    return ConfigError(f"{path}: {what}; {RESTORE}")


def digest_of(data: bytes) -> str:
    """Return the hex SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def named_digest(path: str) -> str:
    """Return the digits of its content's SHA-256 that the name of a file has.

    >>> named_digest("kind=plain/part-0123456789abcdef01234567.parquet")
    '0123456789abcdef01234567'
    """
    return path.rpartition("/")[2].partition(".")[0].rpartition("-")[2]


def read(path: str, sha256: str) -> bytes:
    """Return a whole file.

    Args:
        path: The file.
        sha256: The SHA-256 of its content, or as many of its first digits as are known.

    Raises:
        GoneError: It does not exist.
        ConfigError: Its content is another.
    """
    try:
        data = files.read_bytes(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise GoneError(path) from error
    if not sha256 or not digest_of(data).startswith(sha256):
        raise damaged(path, "its content differs from what was written")
    return data


def require_all(expected: Mapping[str, str]) -> None:
    """Check small files, by path and SHA-256; several at a time in a store.

    Raises:
        ConfigError: One is missing or differs; names the first.
    """
    if not any(files.is_uri(path) for path in expected):
        for path, sha256 in expected.items():
            read(path, sha256)
        return
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(read, expected, expected.values()):
            pass
