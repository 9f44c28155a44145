"""A directory of files that one file, ``about.json``, names with their hashes."""

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.storage import files

ABOUT = "about.json"


def seal(packed: Mapping[str, bytes], facts: Mapping[str, object]) -> dict[str, bytes]:
    """Return files with the ``about.json`` that names them, which comes last.

    Args:
        packed: The other files, by name.
        facts: What else ``about.json`` says.
    """
    named = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(packed.items())}
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return {**packed, ABOUT: orjson.dumps({**facts, "files": named}, option=options)}


def write(directory: str, sealed: Mapping[str, bytes]) -> None:
    """Write a directory, ``about.json`` last: without it, the others were not finished."""
    for name, data in sealed.items():
        if name != ABOUT:
            files.write_bytes(files.join(directory, name), data)
    files.write_bytes(files.join(directory, ABOUT), sealed[ABOUT])


def parse_about(data: bytes) -> dict[str, Any]:
    """Parse ``about.json``, and check that it names files inside its own directory.

    Raises:
        ValueError: Says what is wrong with it.
    """
    about = orjson.loads(data)
    named = about.get("files") if isinstance(about, dict) else None
    if not isinstance(named, dict) or not named:
        raise ValueError("expected a JSON object with the hashes of files under 'files'")
    for name in named:
        if "/" in name or name.startswith(".") or name in ("", ABOUT):
            raise ValueError(f"names a file outside the model: {name!r}")
    return dict(about)


def read(directory: str) -> dict[str, bytes]:
    """Read ``about.json`` and exactly the files that it names, sorted by name.

    Raises:
        WorkerError: A file is missing or is not the one that was written; names it.
    """
    found = {ABOUT: _read(directory, ABOUT)}
    try:
        about = parse_about(found[ABOUT])
    except ValueError as error:
        raise WorkerError(f"{files.join(directory, ABOUT)}: {error}") from error
    for name, digest in about["files"].items():
        found[name] = _read(directory, name)
        if hashlib.sha256(found[name]).hexdigest() != digest:
            raise WorkerError(
                f"{files.join(directory, name)}: not the file that {ABOUT} names by its hash"
            )
    return dict(sorted(found.items()))


def _read(directory: str, name: str) -> bytes:
    path = files.join(directory, name)
    try:
        return files.read_bytes(path)
    except OSError as error:
        raise WorkerError(f"{path}: cannot be read: {error}") from error
