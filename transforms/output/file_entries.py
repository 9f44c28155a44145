"""Files as a receipt or manifest lists them: name, size, hash, rows."""

import hashlib
from collections.abc import Mapping

import orjson

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.storage import files


def file_entry(name: str, data: bytes, rows: int | None = None) -> dict[str, object]:
    """Describe a written file: its name, bytes, hash and, where it has rows, their number."""
    entry: dict[str, object] = {
        "name": name,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return entry if rows is None else {**entry, "rows": rows}


def check_file(output: str, entry: Mapping[str, object]) -> None:
    """Check that a described file is there, whole and unchanged.

    Raises:
        WorkerError: Says what is wrong with which file.
    """
    name = str(entry["name"])
    path = files.join(output, name)
    try:
        data = files.read_bytes(path)
    except OSError as error:
        raise WorkerError(f"{name}: written before, now unreadable: {error}") from error
    found = hashlib.sha256(data).hexdigest()
    if len(data) != entry["bytes"] or found != entry["sha256"]:
        raise WorkerError(
            f"{name}: {entry['bytes']} bytes with sha256 {entry['sha256']} were written, "
            f"found {len(data)} bytes with {found}"
        )


def to_json(value: object) -> bytes:
    """Encode deterministic JSON: sorted keys, two spaces, one newline at the end."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(value, option=options | orjson.OPT_NON_STR_KEYS)
