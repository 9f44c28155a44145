"""Opening the directory of a finished run."""

from pathlib import Path
from typing import Any

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.documents.plan_model import check_format
from pairweave.transforms.output.run_files import data_name
from pairweave.transforms.storage import files

JOBS = ("augment", "align", "suggest", "filter", "bitext")
"""The jobs whose runs contain pairs to show."""


ANOTHER_FORMAT = (
    "run the job again with another --output, or use that version (its rows can still be "
    "previewed and exported)"
)


def open_manifest(directory: str, *, counts: bool = False) -> dict[str, Any]:
    """Return the manifest of a finished run.

    Args:
        directory: The run's directory.
        counts: Whether its counters and histograms are read, in receipts too: then only a run in
            the format of this version will do. Rows of earlier versions can still be read.

    Raises:
        ConfigError: The directory contains no finished run, one without pairs, one whose manifest
            is damaged or lists files outside it, or, with ``counts``, one of
            another format.
    """
    path = files.join(directory, run_files.MANIFEST)
    if not files.exists(path):
        if files.exists(files.join(directory, run_files.PLAN)):
            raise ConfigError(
                f"{directory}: this run is not finished, it has no {run_files.MANIFEST}; "
                "repeat its command to finish it"
            )
        raise ConfigError(
            f"{directory}: no {run_files.MANIFEST}; give the --output of a finished run"
        )
    found = read_manifest(path)
    if found["job"] not in JOBS:
        raise ConfigError(
            f"{directory}: a run of {found['job']} contains no pairs to show; give the "
            f"--output of {', '.join(JOBS[:-1])} or {JOBS[-1]}"
        )
    run_files.check_names(found, path)
    _check_shards(found, path)
    if counts:
        check_format(found, path, ANOTHER_FORMAT)
    return found


def _check_shards(found: dict[str, Any], path: str) -> None:
    """Check that a manifest lists all of its shards with their hashes."""
    hashes = {entry["name"]: entry.get("sha256") for entry in found["files"]}
    for shard in range(found["shards"]):
        name = data_name(shard, found["shards"])
        if not isinstance(hashes.get(name), str):
            raise ConfigError(
                f"{path}: does not list {name} with its hash; was it edited? Run the job again"
            )


def run_of(path: str) -> str | None:
    """Return the directory of the run that contains a path; None if there is none.

    In an object store, only the directory itself is checked.
    """
    if files.is_uri(path):
        parents = [path.rpartition("/")[0]]
    else:
        parents = [str(parent) for parent in Path(path).resolve().parents]
    for parent in parents:
        if any(
            files.exists(files.join(parent, name)) for name in (run_files.PLAN, run_files.MANIFEST)
        ):
            return parent
    return None
