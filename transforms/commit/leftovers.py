"""Files in a run's directory that nothing needs any more, and their removal.

Files that a manifest names always stay. Without a manifest, the files that the run can still use
stay: its plan, receipts and shards. Files with names that no run writes are ignored, and so is
everything outside the run's directory, whatever its plan says.
"""

import dataclasses
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pairweave.transforms.commit.claim import OTHER_FILES, first_link
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering import scored_shards
from pairweave.transforms.output import attempt_marks
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.documents.plan_model import read_plan
from pairweave.transforms.output.other_outputs import require_run
from pairweave.transforms.output.run_files import (
    CARD,
    DATA,
    MANIFEST,
    MODELS,
    PLAN,
    RECEIPTS,
    REJECTS,
    RUN,
    Json,
    check_names,
    is_inside,
    model_directories,
    shard_name,
    shard_receipt_name,
    unit_receipt_name,
)
from pairweave.transforms.report import page as report_page
from pairweave.transforms.storage import disk_files, files

TEMPORARY = "temporary file"
MARK = "mark of an attempt"
SHARD = "shard that nothing names"
RECEIPT = "receipt of no part of the plan"
SCORED = "scored shard of a finished run"
MODEL = "file of a model that nothing names"
UNFINISHED = "unfinished run"

_SHARD = re.compile(r"part-[0-9]{5,}-of-[0-9]{5,}\.parquet")
_RECEIPT = re.compile(r"(unit-[0-9]{5,}|shard-[0-9]{5,}-of-[0-9]{5,})\.json")
_BEADS = re.compile(r"beads-[0-9]{5,}\.txt")

MODEL_FILE = re.compile(
    r"(about|model|settings)\.json|sentencepiece\.model|[a-z_]+\.arrow|(source|target)\.npy"
    r"|(forward|reverse)\.params"
)
"""Names of the files of models that runs fit (`hmm`, `idf` and external aligners)."""


@dataclasses.dataclass(frozen=True)
class Leftover:
    """A file that can be removed.

    Attributes:
        name: Its name below the run's directory.
        kind: The kind of the file.
        size: Bytes.
        age: Seconds since it was written.
    """

    name: str
    kind: str
    size: int
    age: float


def find_leftovers(output: str, now: float, grace: float, *, unfinished: bool) -> list[Leftover]:
    """Return the files of a run's directory that can be removed.

    Args:
        output: The directory or URI.
        now: The time, in seconds since 1970.
        grace: Files written within this many seconds before ``now`` are left alone.
        unfinished: Whether a run without a manifest can be removed too, if all files below its
            directory are that old and none is being written.

    Raises:
        ConfigError: There is no run in this directory, its plan or manifest names something
            outside it, or one of its directories is a link.
    """
    plan_path = files.join(output, PLAN)
    require_run(output)
    plan = _read_plan(output, plan_path)
    path = files.join(output, MANIFEST)
    manifest = read_manifest(path) if files.exists(path) else None
    if manifest is not None:
        check_names(manifest, path)
    old = _old(_dated(output, dict(_candidates(output, plan, manifest)), now), grace)
    if manifest is None and unfinished and _is_quiet(output, now, grace):
        known = {leftover.name for leftover in old}
        rest = {name: UNFINISHED for name in _files_of_run(output) if name not in known}
        old += _old(_dated(output, rest, now), grace)
    # The plan goes last: until then the run can be continued.
    return sorted(old, key=lambda leftover: (leftover.name == PLAN, leftover.name))


def remove(output: str, leftovers: list[Leftover], grace: float) -> list[Leftover]:
    """Delete files in their order, and directories that are then empty.

    Args:
        output: The directory or URI.
        leftovers: What to delete.
        grace: As for `find_leftovers`; an unfinished run that continues meanwhile is left alone.

    Returns:
        The files that were deleted.
    """
    whole = any(leftover.kind == UNFINISHED for leftover in leftovers)
    if whole and not _is_quiet(output, time.time(), grace):
        leftovers = [leftover for leftover in leftovers if leftover.kind != UNFINISHED]
    for leftover in leftovers:
        files.delete(files.join(output, leftover.name))
    directories = {leftover.name.rpartition("/")[0] for leftover in leftovers} - {""}
    if any(directory.startswith(f"{MODELS}/") for directory in directories):
        directories.add(MODELS)
    for directory in sorted(directories, reverse=True):
        files.delete_empty(files.join(output, directory))
    return leftovers


def _read_plan(output: str, path: str) -> Json:
    """Read a plan whose models are in directories of their own, in a directory without links.

    Raises:
        ConfigError: They are not, or a directory is a link.
    """
    plan = read_plan(path)
    for name in plan["models"]:
        if not is_inside(name) or str(name).split("/")[:-1] != [MODELS]:
            raise ConfigError(
                f"{path}: lists {name!r}, which is not the directory of a model of this run "
                f"({MODELS}/NAME); was it edited? Nothing was removed"
            )
    link = first_link(output)
    if link is not None:
        raise ConfigError(
            f"{output}: {link} is a symbolic link to a directory, so what is in it is not only "
            "this run's; remove the link. Nothing was removed"
        )
    return plan


def _is_quiet(output: str, now: float, grace: float) -> bool:
    """Tell whether no file below a directory is new or being written."""
    names = files.list_below(output)
    temporary = [name for name in names if name.rpartition("/")[2].startswith(disk_files.PREFIX)]
    if not all(disk_files.is_dead(Path(files.join(output, name))) for name in temporary):
        return False
    dated = _dated(output, dict.fromkeys(names, UNFINISHED), now)
    # A file that has vanished was renamed or deleted, so some process is working here.
    return len(dated) == len(names) == len(_old(dated, grace))


class _Needed:
    """The files of a run that its manifest, or its plan if there is none, still needs."""

    def __init__(self, plan: Json, manifest: Json | None) -> None:
        shards = int(plan["shards"])
        self._finished = manifest is not None
        self._models = frozenset(plan["models"])
        self._named = frozenset(str(entry["name"]) for entry in (manifest or {}).get("files", ()))
        self._shards = frozenset(shard_name(shard, shards) for shard in range(shards))
        self._receipts = frozenset(
            [
                *(unit_receipt_name(int(unit["index"])) for unit in plan["units"]),
                *(shard_receipt_name(shard, shards) for shard in range(shards)),
            ]
        )

    def kind(self, name: str) -> str | None:
        """Return the kind of a file that is not needed; None for a needed or unknown one."""
        directory, _, last = name.rpartition("/")
        if directory in (DATA, REJECTS) and _SHARD.fullmatch(last):
            needed = name in self._named if self._finished else last in self._shards
            return None if needed else SHARD
        if directory == RECEIPTS and last.startswith(attempt_marks.PREFIX):
            return MARK
        if directory == RECEIPTS and _RECEIPT.fullmatch(last):
            return None if name in self._receipts else RECEIPT
        if self._finished and directory == scored_shards.DIRECTORY:
            return SCORED
        if self._finished and directory in self._models and MODEL_FILE.fullmatch(last):
            return None if name in self._named else MODEL
        return None


def _candidates(output: str, plan: Json, manifest: Json | None) -> Iterator[tuple[str, str]]:
    """Yield names and kinds of files that can be removed once they are old enough."""
    needed = _Needed(plan, manifest)
    for directory in (
        "",
        DATA,
        REJECTS,
        RECEIPTS,
        scored_shards.DIRECTORY,
        *model_directories(output),
    ):
        for name in _names(output, directory):
            if name.rpartition("/")[2].startswith(disk_files.PREFIX):
                if disk_files.is_dead(Path(files.join(output, name))):
                    yield name, TEMPORARY
            elif kind := needed.kind(name):
                yield name, kind


def _names(output: str, directory: str) -> list[str]:
    """Return the names of the files in a directory of a run, below the run's own."""
    listed = files.list_names(files.join(output, directory) if directory else output)
    return [f"{directory}/{name}" if directory else name for name in listed]


def _files_of_run(output: str) -> list[str]:
    """Return the files that a run without a manifest has written."""
    shards = [name for place in (DATA, REJECTS) for name in _names(output, place)]
    noted = _names(output, RECEIPTS)
    models = [name for place in model_directories(output) for name in _names(output, place)]
    top = (PLAN, RUN, CARD, report_page.REPORT, *OTHER_FILES)
    return [
        *(name for name in shards if _SHARD.fullmatch(name.rpartition("/")[2])),
        *(name for name in noted if _RECEIPT.fullmatch(name.rpartition("/")[2])),
        *(name for name in noted if _BEADS.fullmatch(name.rpartition("/")[2])),
        *_names(output, scored_shards.DIRECTORY),
        *(name for name in models if MODEL_FILE.fullmatch(name.rpartition("/")[2])),
        *(name for name in _names(output, "") if name in top),
    ]


def _old(dated: list[Leftover], grace: float) -> list[Leftover]:
    """Return the files that are old enough; a file dated in the future is not."""
    return [leftover for leftover in dated if leftover.age >= grace]


def _dated(output: str, kinds: dict[str, str], now: float) -> list[Leftover]:
    """Return the files that are still there, with their age."""

    def describe(item: tuple[str, str]) -> Leftover | None:
        name, kind = item
        try:
            size, written = files.size_and_time(files.join(output, name))
        except FileNotFoundError:  # the writer of the file has just ended
            return None
        # If a store does not give the time of writing, the file may be new.
        return Leftover(name, kind, size, now - written if written else 0.0)

    with ThreadPoolExecutor(max_workers=16) as pool:
        described = list(pool.map(describe, kinds.items()))
    return [leftover for leftover in described if leftover]
