"""The note in the directory of an inner run: its input, and the pairs that the table then had.

The directory is named after the hash of its note, and the note contains the hashes of the files
next to it. So code that uses a finished run knows exactly which input it was made from.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pydantic import Field

from pairweave.pipelines.refresh.chain import hashed_reads
from pairweave.pipelines.refresh.chain.record_parts import Settings, Sha256, StatePart
from pairweave.transforms.errors import ConfigError, MachineError, WorkerError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files, json_files

RUNS = "_runs"
ABOUT = "about.json"
KNOWN, TAKEN, RUN = "known.ids", "taken_down.jsonl", "run"


class Note(StatePart):
    """The note of an inner run.

    Attributes:
        settings: The settings that its rows are made with.
        languages: The pair of languages.
        model: Name of the table's model that it uses; None if it uses or fits another.
        taken_down: SHA-256 of the file of tombstones, ``taken_down.jsonl``.
        files: Key and file names of each entry that it reads.
        known: SHA-256 of the file with the ids of the table's pairs, ``known.ids``.
        order: The keys in the order of its plan.
        look: Which lines a gate wants looked at (the option ``check``); None if no gate asks.
    """

    ADVICE = "it is not as refresh wrote it"

    settings: Settings
    languages: list[str] = Field(min_length=2, max_length=2)
    model: str | None
    taken_down: Sha256
    files: list[list[str]]
    known: Sha256
    order: list[str]
    look: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys of the entries that the run reads."""
        return tuple(entry[0] for entry in self.files)

    @property
    def facts(self) -> dict[str, Any]:
        """Return what determines the rows of a run, except its files and the table's pairs."""
        return self.model_dump(include={"settings", "languages", "model", "taken_down", "look"})

    def to_json(self) -> bytes:
        """Return the note as it is stored, without `look` if no gate asks, as older notes are."""
        return to_json(self.model_dump(exclude={"look"} if self.look is None else None))

    @property
    def name(self) -> str:
        """Return the name of the run's directory."""
        return hashed_reads.digest_of(self.to_json())[:24]


def write(table: str, note: Note, known: bytes, stones: bytes) -> str:
    """Write the directory of a run unless it exists, and return its path.

    Raises:
        ConfigError: It exists with another content.
    """
    directory = files.join(table, RUNS, note.name)
    for name, data in ((KNOWN, known), (TAKEN, stones), (ABOUT, note.to_json())):
        path = files.join(directory, name)
        if files.exists(path):
            _require(directory, path, hashed_reads.digest_of(data))
        else:
            files.write_bytes(path, data)
    return directory


def read_all(table: str) -> Iterator[tuple[str, Note]]:
    """Yield the directories of all prepared runs, finished or not, with their notes.

    Raises:
        ConfigError: A note is damaged.
    """
    base = files.join(table, RUNS)
    for name in files.list_below(base):
        directory, _, below = name.partition("/")
        if below == ABOUT:
            yield files.join(base, directory), read(files.join(base, directory))


def read(directory: str) -> Note:
    """Return the note of a run.

    Raises:
        ConfigError: The note is damaged.
    """
    path = files.join(directory, ABOUT)
    data = files.read_bytes(path)
    try:
        note = json_files.parse_model(data, path, Note)
    except ConfigError as error:
        raise ConfigError(f"{error}. {_advice(directory)}") from error
    if note.name != directory.rpartition("/")[2] or data != note.to_json():
        raise _changed(directory, path)
    return note


def require_inputs(directory: str, note: Note) -> None:
    """Check the files that a run was given: the ids of the table's pairs, and the tombstones.

    Raises:
        ConfigError: A file is missing or differs.
    """
    _require(directory, files.join(directory, KNOWN), note.known)
    _require(directory, files.join(directory, TAKEN), note.taken_down)


def open_run(directory: str) -> FinishedRun:
    """Return the finished run in a directory.

    Raises:
        ConfigError: Its manifest is damaged.
    """
    return FinishedRun(directory, read_manifest(files.join(directory, run_files.MANIFEST)))


def read_shard(run: FinishedRun, name: str) -> pa.Table:
    """Read a shard of an inner run, or its rejects, and check it against the run's manifest.

    Raises:
        ConfigError: The file is missing, has another hash, or is not in the manifest.
        MachineError: The file cannot be read.
    """
    try:
        return run.table(name)
    except MachineError:
        raise
    except WorkerError as error:
        outer = run.directory.rpartition("/")[0]
        raise _changed(outer, files.join(run.directory, name)) from error


def _require(directory: str, path: str, sha256: str) -> None:
    try:
        hashed_reads.read(path, sha256)
    except ConfigError as error:
        raise _changed(directory, path) from error


def _changed(directory: str, path: str) -> ConfigError:
    return ConfigError(
        f"{path}: is missing or differs from what was written, so nothing was committed. "
        f"{_advice(directory)}"
    )


def _advice(directory: str) -> str:
    return f"Delete {directory} and run the same command again, which makes it anew"
