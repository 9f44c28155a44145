"""Deleting files that no current version of a table has."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from pairweave.pipelines.refresh import inner_runs, records, table_lock, tables
from pairweave.pipelines.refresh.records import Record
from pairweave.pipelines.refresh.upkeep.live_files import live_after
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files


def vacuum(table: str, retention_hours: float, *, dry: bool) -> list[str]:
    """Delete the files that no current version has and that are older than the retention.

    Files of unfinished nights are among them, and the runs of nights that were never committed.

    Args:
        table: Directory of all tables.
        retention_hours: How long a file is kept after it was written or removed.
        dry: Whether nothing is deleted.

    Returns:
        The files, relative to the table.

    Raises:
        ConfigError: There is no table, or its last night is not committed to all tables yet.
        WorkerError: Its files are in use.
    """
    records.existing(table)
    with contextlib.nullcontext() if dry else table_lock.held(table, alone=True):
        return _vacuum(table, retention_hours, dry=dry)


def _vacuum(table: str, retention_hours: float, *, dry: bool) -> list[str]:
    last = records.existing(table)
    if not tables.is_applied(table, last):
        raise ConfigError(f"{table}: its last night is not committed yet; run refresh first")
    before = time.time() - retention_hours * 3600
    old = [
        *_old_files(table, last, before),
        *_old_runs(table, before),
        *_old_models(table, last, before),
    ]
    for path in old if not dry else ():
        path.unlink(missing_ok=True)
    if not dry:
        _delete_empty(Path(table, inner_runs.RUNS))
        _delete_empty(Path(table, inner_runs.MODELS))
    return sorted(str(path.relative_to(table)) for path in old)


def _old_files(table: str, last: Record, before: float) -> Iterator[Path]:
    removed = _removal_times(table)
    for name in last.versions:
        live = {entry["path"] for entry in tables.current(table, name, last)}
        base = Path(table, name)
        for path in sorted(base.rglob("*.parquet")):
            below = path.relative_to(base).as_posix()
            if below.startswith("_delta_log/") or below in live:
                continue
            if max(path.stat().st_mtime, removed.get((name, below), 0.0)) <= before:
                yield path


def _removal_times(table: str) -> dict[tuple[str, str], float]:
    """Return when each file was removed from its table, in seconds since 1970."""
    found: dict[tuple[str, str], float] = {}
    live: dict[str, set[str]] = {}
    for night in records.numbers(table):
        record = records.read(table, night)
        for name, change in record.tables.items():
            before = live.get(name, set())
            live[name] = live_after(before, change)
            for path in before - live[name]:
                found[(name, path)] = _seconds(record.when)
    return found


def _seconds(when: str) -> float:
    import calendar

    return float(calendar.timegm(time.strptime(when, "%Y-%m-%dT%H:%M:%SZ")))


def _old_runs(table: str, before: float) -> Iterator[Path]:
    base = Path(table, inner_runs.RUNS)
    for directory in sorted(base.iterdir()) if base.is_dir() else []:
        found = [path for path in directory.rglob("*") if path.is_file()]
        if all(path.stat().st_mtime <= before for path in found):
            yield from found


def _old_models(table: str, last: Record, before: float) -> Iterator[Path]:
    """Yield the files of old models that the current rows were not made with."""
    base = Path(table, inner_runs.MODELS)
    used = {Path(table, place) for place in last.models.values()}
    for directory in sorted(base.glob("*/*")) if base.is_dir() else []:
        found = [path for path in directory.rglob("*") if path.is_file()]
        if directory not in used and all(path.stat().st_mtime <= before for path in found):
            yield from found


def _delete_empty(base: Path) -> None:
    for directory in sorted(base.rglob("*"), reverse=True) if base.is_dir() else []:
        if directory.is_dir():
            files.delete_empty(str(directory))
