"""A finished run: its manifest, and its shards, which are read one at a time and checked."""

import dataclasses
import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from pairweave.transforms.errors import ConfigError, WorkerError, unreadable
from pairweave.transforms.links import linked_rows
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.documents.plan_model import check_format
from pairweave.transforms.output.other_outputs import what_is_here
from pairweave.transforms.output.run_files import Json, data_name, rejects_name
from pairweave.transforms.storage import files
from pairweave.transforms.symbols.representations import find_representation

JOBS = ("augment", "align", "suggest", "filter", "bitext")
"""The jobs whose runs contain pairs to show."""

NO_PAIRS = f"contains no pairs to show; give the --output of {', '.join(JOBS[:-1])} or {JOBS[-1]}"
"""The end of the message about a run of another job."""

ANOTHER_FORMAT = (
    "run the job again with another --output, or use that version (its rows can still be "
    "previewed and exported)"
)

SYMBOLS = "symbols.txt"
"""The file that lists the tags of a run, each on a line."""

BATCH_ROWS = 8_192

_CHANGED = "; was it changed or moved? Restore it, or run the job again in another directory"
"""Names no flag: rows of `pairweave.stream` are read outside the function that translates them."""

_Read = TypeVar("_Read")


@dataclasses.dataclass(frozen=True)
class FinishedRun:
    """A run whose shards are all written.

    Shards are read in their order. Only one is in memory at a time, as the bytes of its file and
    as the requested rows.

    Attributes:
        directory: Its directory or URI.
        manifest: Its manifest, or a draft of the manifest.
        checked: Whether each shard is compared with its hash in the manifest when it is read.
    """

    directory: str
    manifest: Json
    checked: bool = True

    @classmethod
    def open(
        cls,
        directory: str,
        *,
        counts: bool = False,
        checked: bool = True,
        jobs: Sequence[str] = JOBS,
        lacks: str = NO_PAIRS,
    ) -> Self:
        """Open the directory of a finished run.

        Args:
            directory: The run's directory.
            counts: Whether its counters and histograms are read, in receipts too: this requires a
                run in the format of this version. Rows of earlier versions can still be read.
            checked: Whether each shard is compared with its hash when it is read.
            jobs: The jobs whose runs can be read.
            lacks: What runs of other jobs lack, and what to give instead.

        Raises:
            ConfigError: The directory contains no finished run, one of another job, one whose
                manifest is damaged or lists files outside it, or, with ``counts``, one of another
                format.
        """
        path = files.join(directory, run_files.MANIFEST)
        if not files.exists(path):
            if files.exists(files.join(directory, run_files.PLAN)):
                raise ConfigError(
                    f"{directory}: this run is not finished, it has no {run_files.MANIFEST}; "
                    "repeat its command to finish it"
                )
            advice = what_is_here(directory) or "; give the --output of a finished run"
            raise ConfigError(f"{directory}: no {run_files.MANIFEST}{advice}")
        manifest = read_manifest(path)
        if manifest["job"] not in jobs:
            raise ConfigError(f"{directory}: a run of {manifest['job']} {lacks}")
        run_files.check_names(manifest, path)
        run = cls(directory, manifest, checked)
        run._check_listed(path)
        if counts:
            check_format(manifest, path, ANOTHER_FORMAT)
        return run

    def _check_listed(self, path: str) -> None:
        """Check that the manifest lists all shards with their hashes."""
        for name in self.names:
            if not isinstance(self._entries.get(name, {}).get("sha256"), str):
                raise ConfigError(
                    f"{path}: does not list {name} with its hash; was it edited? Run the job again"
                )

    @property
    def job(self) -> str:
        """Return the name of its job."""
        return str(self.manifest["job"])

    @property
    def settings(self) -> Json:
        """Return the configuration of its job."""
        settings: Json = self.manifest["configuration"]
        return settings

    @functools.cached_property
    def names(self) -> list[str]:
        """Return the names of its shards, in their order."""
        shards = int(self.manifest["shards"])
        return [data_name(shard, shards) for shard in range(shards)]

    @property
    def filled(self) -> list[str]:
        """Return the names of the shards that have rows."""
        return [name for name in self.names if self._entries.get(name, {}).get("rows")]

    @property
    def data_bytes(self) -> int:
        """Return the size of all shards in Parquet."""
        listed = self.manifest["files"]
        return sum(x["bytes"] for x in listed if x["name"].startswith(f"{run_files.DATA}/"))

    @functools.cached_property
    def _entries(self) -> dict[str, Json]:
        return {entry["name"]: entry for entry in self.manifest["files"]}

    def entry(self, name: str) -> Json:
        """Return a file's entry in the manifest.

        Raises:
            WorkerError: It does not list the file.
        """
        if name not in self._entries:
            raise WorkerError(f"{self._path(name)}: is not listed in {run_files.MANIFEST}")
        return self._entries[name]

    def rejects_name(self, shard: int) -> str:
        """Return the name of the file with a shard's rejects."""
        return rejects_name(shard, int(self.manifest["shards"]))

    def schema(self) -> pa.Schema:
        """Return the columns of its rows, from the footer of its first shard, unchecked.

        Raises:
            WorkerError: The shard is missing or cannot be read.
        """
        path = self._path(self.names[0])
        try:
            with files.open_read(path) as file:
                return _parsed(path, lambda: pq.read_schema(file))
        except OSError as error:
            raise unreadable(path, error, _CHANGED) from error

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read one shard, or the rejects of one.

        Args:
            name: The file's name in the manifest.
            columns: The columns that are read; by default all.

        Raises:
            WorkerError: It is missing, cannot be read or differs from the manifest.
        """
        data = pa.BufferReader(self._bytes(name))
        wanted = None if columns is None else list(columns)
        return _parsed(self._path(name), lambda: pq.read_table(data, columns=wanted))

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of each shard; see `table`."""
        return (self.table(name, columns) for name in self.names)

    def batches(
        self,
        columns: Sequence[str] | None = None,
        *,
        names: Sequence[str] | None = None,
        batch_rows: int = BATCH_ROWS,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of its shards in batches, none of which has rows of two shards.

        Args:
            columns: The columns that are read; by default all.
            names: The shards; by default all.
            batch_rows: Maximum number of rows in a batch.

        Raises:
            WorkerError: A shard is missing, cannot be read or differs from the manifest.
        """
        for name in self.names if names is None else names:
            yield from self._batches_of(name, columns, batch_rows)

    def _batches_of(
        self, name: str, columns: Sequence[str] | None, batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        data = pa.BufferReader(self._bytes(name))
        path = self._path(name)
        file = _parsed(path, lambda: pq.ParquetFile(data))
        wanted = None if columns is None else list(columns)
        batches = file.iter_batches(batch_size=batch_rows, columns=wanted)
        while (batch := _parsed(path, lambda: next(batches, None))) is not None:
            yield batch

    def rows(
        self, columns: Sequence[str] | None = None, *, names: Sequence[str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield its rows one at a time; arguments and errors are those of `batches`."""
        for batch in self.batches(columns, names=names, batch_rows=1_024):
            yield from batch.to_pylist()

    def links(self, shard: int) -> pa.Table:
        """Return the pairs of a shard with their tokens and word links (`schemas.SYMMETRIZED`).

        Args:
            shard: Its number, in a run of ``align``, or of ``augment`` that keeps its links.

        Raises:
            WorkerError: See `table`.
        """
        rows = self.table(self.names[shard], linked_rows.COLUMNS[self.job])
        tokens = str(self.settings.get("tokens", "words"))
        return linked_rows.linked_rows(rows.combine_chunks(), self.job, tokens)

    def tags(self) -> re.Pattern[str]:
        """Return a pattern for the tags in the texts of its rows.

        Raises:
            WorkerError: The list of its tags is missing or was changed.
        """
        name = self.settings.get("representation", "indexed")
        if name != "raw":
            name = tuple(self.settings["template"]) if name == "template" else name
            return find_representation(name).pattern()
        run_files.check_file(self.directory, self.entry(SYMBOLS))
        listed = files.read_bytes(files.join(self.directory, SYMBOLS)).decode().splitlines()
        return re.compile("|".join(map(re.escape, sorted(listed, key=lambda s: (-len(s), s)))))

    def _bytes(self, name: str) -> bytes:
        expected = self.entry(name)["sha256"] if self.checked else None
        path = self._path(name)
        try:
            data = files.read_bytes(path)
        except OSError as error:
            raise unreadable(path, error, _CHANGED) from error
        if expected is not None:
            digest = hashlib.sha256(data).hexdigest()
            if digest != expected:
                raise WorkerError(f"{path}: expected sha256 {expected}, found {digest}{_CHANGED}")
        return data

    def _path(self, name: str) -> str:
        return files.join(self.directory, name)


def _parsed(path: str, read: Callable[[], _Read]) -> _Read:
    try:
        return read()
    except (OSError, pa.ArrowException) as error:
        reason = str(error).rstrip(".")
        raise WorkerError(f"{path}: cannot be read: {reason}{_CHANGED}") from error


def run_of(path: str) -> str | None:
    """Return the directory of the run that contains a path; None if there is none.

    In an object store, only the directory itself is checked.
    """
    if files.is_uri(path):
        parents = [path.rpartition("/")[0]]
    else:
        parents = [str(parent) for parent in Path(os.path.realpath(path)).parents]
    return next(filter(run_files.is_run, parents), None)
