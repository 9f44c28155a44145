"""Files in a run's directory that nothing needs any more, and their removal.

What a manifest names always stays, and so does what a run without one can still use: its plan,
receipts and shards. Files of names that no run writes are not looked at.
"""

import dataclasses
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pairweave.transforms.commit.claim import OTHER_FILES
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering import scored_shards
from pairweave.transforms.output import attempt_marks
from pairweave.transforms.output.run_files import (
    CARD,
    DATA,
    MANIFEST,
    PLAN,
    RECEIPTS,
    REJECTS,
    RUN,
    Json,
    read_json,
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


@dataclasses.dataclass(frozen=True)
class Leftover:
    """A file that can go.

    Attributes:
        name: Its name below the run's directory.
        kind: What it is.
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
        grace: Files that were written in so many seconds before are left alone.
        unfinished: Whether a run without a manifest can go too, if all of its files are that old.

    Raises:
        ConfigError: There is no run in this directory.
    """
    plan_path = files.join(output, PLAN)
    if not files.exists(plan_path):
        raise ConfigError(f"{output}: there is no run here: {PLAN} is missing")
    plan = read_json(plan_path)
    path = files.join(output, MANIFEST)
    manifest = read_json(path) if files.exists(path) else None
    old = _dated(output, dict(_candidates(output, plan, manifest)), now, grace)
    if manifest is None and unfinished:
        rest = dict.fromkeys(_files_of_run(output, plan), UNFINISHED)
        dated = _dated(output, rest, now, grace)
        if len(dated) == len(rest):  # the plan goes last: until then the run can be continued
            known = {leftover.name for leftover in old}
            old += [leftover for leftover in dated if leftover.name not in known]
    return sorted(old, key=lambda leftover: (leftover.name == PLAN, leftover.name))


def remove(output: str, leftovers: list[Leftover]) -> None:
    """Delete files in their order, and directories that are empty then."""
    for leftover in leftovers:
        files.delete(files.join(output, leftover.name))
    directories = {leftover.name.rpartition("/")[0] for leftover in leftovers} - {""}
    for directory in sorted(directories, reverse=True):
        files.delete_empty(files.join(output, directory))


class _Needed:
    """Which of a run's files its manifest, or its plan if there is none, still needs."""

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
        """Return what a file is that is not needed; None for a needed or unknown one."""
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
        if self._finished and directory in self._models and name not in self._named:
            return MODEL
        return None


def _candidates(output: str, plan: Json, manifest: Json | None) -> Iterator[tuple[str, str]]:
    """Yield names and kinds of files that can go once they are old enough."""
    needed = _Needed(plan, manifest)
    for directory in _directories(plan):
        for name in _names(output, directory):
            if name.rpartition("/")[2].startswith(disk_files.PREFIX):
                if disk_files.is_dead(Path(files.join(output, name))):
                    yield name, TEMPORARY
            elif kind := needed.kind(name):
                yield name, kind


def _directories(plan: Json) -> list[str]:
    return ["", DATA, REJECTS, RECEIPTS, scored_shards.DIRECTORY, *plan["models"]]


def _names(output: str, directory: str) -> list[str]:
    """Return the names of the files in a directory of a run, below the run's own."""
    listed = files.list_names(files.join(output, directory) if directory else output)
    return [f"{directory}/{name}" if directory else name for name in listed]


def _files_of_run(output: str, plan: Json) -> list[str]:
    """Return what a run without a manifest has written."""
    shards = [name for place in (DATA, REJECTS) for name in _names(output, place)]
    noted = _names(output, RECEIPTS)
    whole = [name for place in _directories(plan)[4:] for name in _names(output, place)]
    top = (PLAN, RUN, CARD, report_page.REPORT, *OTHER_FILES)
    return [
        *(name for name in shards if _SHARD.fullmatch(name.rpartition("/")[2])),
        *(name for name in noted if _RECEIPT.fullmatch(name.rpartition("/")[2])),
        *whole,
        *(name for name in _names(output, "") if name in top),
    ]


def _dated(output: str, found: dict[str, str], now: float, grace: float) -> list[Leftover]:
    """Return the files that are old enough; a file dated in the future is not."""

    def describe(item: tuple[str, str]) -> Leftover | None:
        name, kind = item
        try:
            size, written = files.size_and_time(files.join(output, name))
        except FileNotFoundError:  # its writer has just ended
            return None
        # A store that does not tell when it was written may hold a new file.
        return Leftover(name, kind, size, now - written if written else 0.0)

    with ThreadPoolExecutor(max_workers=16) as pool:
        described = list(pool.map(describe, found.items()))
    return [leftover for leftover in described if leftover and leftover.age >= grace]
