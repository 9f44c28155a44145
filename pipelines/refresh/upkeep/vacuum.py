"""Deleting files that are in no current version of a table."""

import calendar
import contextlib
import math
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from pairweave.pipelines.refresh import inner_runs
from pairweave.pipelines.refresh.chain import (
    inner_notes,
    kept_models,
    log_seals,
    records,
    table_lock,
    tables,
)
from pairweave.pipelines.refresh.chain.live_files import live_after, live_entries
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.chain.table_names import LOG
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage import files

LAUNCHED_SECONDS = 86_400.0
"""How long the files of an unfinished job that `inner_runs.launches` prepared are kept.

Such a job runs elsewhere and holds no lock. A day is the time between two nights.
"""


def vacuum(table: str, retention_hours: float, *, dry: bool) -> list[str]:
    """Delete files that are in no current version and older than the retention.

    They include files of unfinished nights, and the runs of nights that were never committed.

    Args:
        table: Directory of all tables.
        retention_hours: How long a file is kept after it was written or removed.
        dry: Whether nothing is deleted.

    Returns:
        The files, relative to the table.

    Raises:
        ConfigError: There is no table, its last night is not committed to all tables yet, a file
            that it reads is damaged, or something in it is a link.
        WorkerError: Its files are in use, perhaps by a job that was prepared to run elsewhere.
    """
    records.existing(table)
    _require_no_links(table)
    with contextlib.nullcontext() if dry else table_lock.held(table, alone=True):
        return _vacuum(table, retention_hours, dry=dry)


def _vacuum(table: str, retention_hours: float, *, dry: bool) -> list[str]:
    last = log_seals.last_night(table)
    if not tables.is_applied(table, last):
        raise ConfigError(f"{table}: its last night is not committed yet; run refresh first")
    # The clocks of stores differ, so times are ignored if the retention is 0.
    before = time.time() - retention_hours * 3600 if retention_hours else math.inf
    nights = [*records.back_from(table, last)][::-1]
    old = [
        *_old_files(table, nights, before),
        *_old_directories(table, inner_notes.RUNS, 2, before),
        *_old_directories(table, kept_models.MODELS, 3, before, set(last.models.values())),
    ]
    if not dry:
        table_lock.delete_leftovers(table)
        _require_no_launched(table, old)
        _delete(table, old)
    return sorted(old)


def _require_no_launched(table: str, names: Sequence[str]) -> None:
    """Check that no file belongs to a job that may be running elsewhere.

    Raises:
        WorkerError: A file does; says how to proceed.
    """
    since = time.time() - LAUNCHED_SECONDS
    for name in names:
        directory, _, last = name.rpartition("/")
        if last != inner_runs.OPTIONS or directory.count("/") != 1:
            continue
        run = inner_runs.InnerRun(files.join(table, directory), ())
        if not run.is_finished and _written(table, name) > since:
            raise WorkerError(
                f"{run.run}: this job was prepared by --launches less than a day ago, has not "
                "ended and needs files that would be deleted. Vacuum after its night; or, if it "
                f"does not run, delete {files.join(table, name)}"
            )


def _delete(table: str, names: Sequence[str]) -> None:
    for name in names:
        files.delete(files.join(table, name))
    if not files.is_uri(table):
        _delete_empty(Path(table, inner_notes.RUNS))
        _delete_empty(Path(table, kept_models.MODELS))


def _below(table: str, directory: str) -> list[str]:
    """Return the files below a directory of a table, by their paths relative to the table."""
    return [f"{directory}/{name}" for name in files.list_below(files.join(table, directory))]


def _written(table: str, name: str) -> float:
    """Return when a file was written, in seconds since 1970; 0 if it is gone."""
    try:
        return files.size_and_time(files.join(table, name))[1]
    except FileNotFoundError:
        return 0.0


def _require_no_links(table: str) -> None:
    """Check that a table contains no link, by which files outside it would be deleted.

    The table itself may be a link.

    Raises:
        ConfigError: There is a link; names the first.
    """
    link = files.first_link(table)
    if link is not None:
        raise ConfigError(
            f"{files.join(table, link)}: is a symbolic link, and vacuum deletes no file outside "
            "the table; nothing was deleted. Put the directory or file itself in its place"
        )


def _old_files(table: str, nights: Sequence[Record], before: float) -> Iterator[str]:
    last, removed = nights[-1], _removal_times(nights)
    for name in last.versions:
        # The log has been compared with the records; a file in either of them stays.
        live = {entry["path"] for entry in tables.current(table, name, last)}
        live |= live_entries(nights, name).keys()
        for path in _below(table, name):
            below = path.removeprefix(f"{name}/")
            if below.startswith(f"{LOG}/") or below in live or not below.endswith(".parquet"):
                continue
            if max(_written(table, path), removed.get((name, below), 0.0)) <= before:
                yield path


def _removal_times(nights: Sequence[Record]) -> dict[tuple[str, str], float]:
    """Return when each file was removed from its table, in seconds since 1970."""
    times: dict[tuple[str, str], float] = {}
    live: dict[str, set[str]] = {}
    for record in nights:
        for name, change in record.tables.items():
            before = live.get(name, set())
            live[name] = live_after(before, change)
            for path in before - live[name]:
                times[(name, path)] = _seconds(record.when)
    return times


def _seconds(when: str) -> float:
    return float(calendar.timegm(time.strptime(when, "%Y-%m-%dT%H:%M:%SZ")))


def _old_directories(
    table: str, base: str, depth: int, before: float, used: Collection[str] = ()
) -> Iterator[str]:
    """Yield the files of unused directories at a depth below the table, if all of them are old."""
    grouped: dict[str, list[str]] = {}
    for name in _below(table, base):
        grouped.setdefault("/".join(name.split("/")[:depth]), []).append(name)
    for directory, names in grouped.items():
        if directory not in used and all(_written(table, name) <= before for name in names):
            yield from names


def _delete_empty(base: Path) -> None:
    for directory in sorted(base.rglob("*"), reverse=True) if base.is_dir() else []:
        if directory.is_dir():
            files.delete_empty(str(directory))
