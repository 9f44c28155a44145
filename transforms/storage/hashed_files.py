"""Directories of files that ``about.json`` lists with their hashes."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any

import orjson
import pydantic
from pydantic import Field

from pairweave.transforms.errors import WorkerError, unreadable
from pairweave.transforms.storage import files
from pairweave.transforms.storage.json_files import JsonFile, first_problem

ABOUT = "about.json"


def with_hashes(packed: Mapping[str, bytes], facts: Mapping[str, object]) -> dict[str, bytes]:
    """Return files followed by an ``about.json`` with their hashes.

    Args:
        packed: The other files, by name.
        facts: Other entries of ``about.json``.
    """
    named = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(packed.items())}
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return {**packed, ABOUT: orjson.dumps({**facts, "files": named}, option=options)}


def write(directory: str, packed: Mapping[str, bytes]) -> None:
    """Write a directory, with ``about.json`` last as a mark of completeness.

    Files that killed writers left next to these are deleted.
    """
    for name, data in packed.items():
        if name != ABOUT:
            files.write_alone(files.join(directory, name), data)
    files.write_alone(files.join(directory, ABOUT), packed[ABOUT])


class About(JsonFile):
    """The content of ``about.json``: the other files of its directory, with their hashes."""

    files: Annotated[dict[str, str], Field(min_length=1)]

    @pydantic.field_validator("files")
    @classmethod
    def _check_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if "/" in name or name.startswith(".") or name in ("", ABOUT):
                raise ValueError(f"names a file outside the model: {name!r}")
        return value


def parse_about(data: bytes, model: type[About] = About) -> dict[str, Any]:
    """Parse ``about.json``, and check that it lists only files of its own directory.

    Args:
        data: Its content.
        model: The fields of a kind of model.

    Raises:
        ValueError: It is malformed or lists other files; names the field.
    """
    about = orjson.loads(data)
    if not isinstance(about, dict):
        raise ValueError("expected a JSON object with the hashes of files under 'files'")
    try:
        model.model_validate(about)
    except pydantic.ValidationError as error:
        raise ValueError(first_problem(error)) from error
    return about


def read(directory: str) -> dict[str, bytes]:
    """Read ``about.json`` and exactly the files that it lists, sorted by name.

    Raises:
        WorkerError: A file is missing or differs from the one written.
    """
    contents = {ABOUT: _read(directory, ABOUT)}
    try:
        about = parse_about(contents[ABOUT])
    except ValueError as error:
        raise WorkerError(f"{files.join(directory, ABOUT)}: {error}") from error
    for name, digest in about["files"].items():
        contents[name] = _read(directory, name)
        if hashlib.sha256(contents[name]).hexdigest() != digest:
            raise WorkerError(
                f"{files.join(directory, name)}: its hash differs from the one in {ABOUT}"
            )
    return dict(sorted(contents.items()))


def _read(directory: str, name: str) -> bytes:
    path = files.join(directory, name)
    try:
        return files.read_bytes(path)
    except OSError as error:
        raise unreadable(path, error) from error
