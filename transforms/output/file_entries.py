"""Entries of files in a receipt or manifest: name, size, hash, rows."""

import hashlib
from collections.abc import Mapping

import orjson

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.storage import files


def file_entry(name: str, data: bytes, rows: int | None = None) -> dict[str, object]:
    """Describe a written file by name, size and hash, and by number of rows if it has rows."""
    entry: dict[str, object] = {
        "name": name,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return entry if rows is None else {**entry, "rows": rows}


def check_file(output: str, entry: Mapping[str, object]) -> None:
    """Check that a described file exists, complete and unchanged.

    Raises:
        WorkerError: The file cannot be read or differs.
    """
    name = str(entry["name"])
    path = files.join(output, name)
    try:
        data = files.read_bytes(path)
    except OSError as error:
        raise WorkerError(f"{name}: was written, but cannot be read now: {error}") from error
    found = hashlib.sha256(data).hexdigest()
    if len(data) != entry["bytes"] or found != entry["sha256"]:
        raise WorkerError(
            f"{name}: expected {entry['bytes']} bytes with sha256 {entry['sha256']}, "
            f"found {len(data)} bytes with {found}"
        )


def to_json(value: object) -> bytes:
    """Encode deterministic JSON: sorted keys, two spaces, one newline at the end."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(value, option=options | orjson.OPT_NON_STR_KEYS)
