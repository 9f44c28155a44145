"""Where Delta tables can be, and how deltalake reaches them there."""

import re

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files, object_stores

_NOT_PLAIN = re.compile(r"[#?%\x00-\x1f\x7f]")
"""Parts of a path that change in a URL, apart from characters that are encoded and decoded."""

_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
"""What deltalake decodes in a path on a disk when it reads a log, and not when it writes one."""


def require_delta() -> None:
    """Check that the extra ``refresh`` is installed."""
    try:
        import deltalake  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            "refresh writes Delta tables: pip install 'pairweave[refresh]'"
        ) from error


def require_place(table: str) -> None:
    """Check that Delta tables can be in a place, before anything is read.

    Raises:
        ConfigError: The place is in a store that has no commits or cannot be reached, or deltalake
            would mistake its name for another one.
    """
    if files.is_uri(table):
        _require_plain_name(table)
    elif _ENCODED.search(files.absolute(table)):
        raise ConfigError(
            f"{table}: expected a path without a percent sign and two digits, such as %20, also in "
            f"the directories above it, got {files.absolute(table)}: deltalake would look for the "
            "log in another place; give another --output"
        )
    store_options(table)
    files.check_store(table)


def _require_plain_name(table: str) -> None:
    """Check that a URI names the same place as plain text and as a URL, which deltalake parses."""
    _, name = object_stores.parts(table)
    segments = name.removesuffix("/").split("/") if name else []
    if _NOT_PLAIN.search(name) or not {"", ".", ".."}.isdisjoint(segments):
        raise ConfigError(
            f"{table}: expected a table's name without '#', '?', '%' and control characters, and "
            "without empty, '.' and '..' between its slashes, such as s3://bucket/tables: "
            "deltalake would keep the log in another place than the data"
        )


def store_options(path: str) -> dict[str, str] | None:
    """Return the endpoint and credentials of a store for deltalake; None on a disk."""
    return object_stores.rust_options(path) if files.is_uri(path) else None
