"""Looking after a table: checking its files, deleting old ones, joining small ones."""

import contextlib
import dataclasses
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from pairweave.pipelines.refresh import inner_runs, records, table_lock, tables
from pairweave.pipelines.refresh.records import Json, Record
from pairweave.pipelines.refresh.tables import FILES, PARTITIONS, Entry
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage import files


@dataclasses.dataclass(frozen=True)
class Verified:
    """What a check found.

    Attributes:
        files: Number of files of the current versions.
        rows: Their rows.
        nights: Number of nights.
        problems: What is wrong, one line each.
    """

    files: int
    rows: int
    nights: int
    problems: list[str]


def verify(table: str) -> Verified:
    """Check every file of the current versions by size and hash, and the records of all nights.

    Raises:
        ConfigError: There is no table.
    """
    last = records.existing(table)
    nights = [records.read(table, number) for number in records.numbers(table)]
    problems = _night_problems(nights)
    written = {
        (name, entry["path"]): entry
        for record in nights
        for name, change in record.tables.items()
        for entry in change["add"]
    }
    count = rows = 0
    if not tables.is_applied(table, last):
        problems.append(f"night {last.night} is not committed to all tables: run refresh again")
        return Verified(0, 0, len(nights), problems)
    for name in sorted(last.versions):
        live = tables.current(table, name, last)
        expected = _live_paths(nights, name)
        found = {entry["path"] for entry in live}
        problems += [f"{name}/{path}: is in no night's record" for path in sorted(found - expected)]
        problems += [f"{name}/{path}: is missing in the table" for path in sorted(expected - found)]
        for entry in live:
            count, rows = count + 1, rows + entry["rows"]
            described = written.get((name, entry["path"]))
            problems += _file_problems(table, name, described) if described else []
    return Verified(count, rows, len(nights), problems)


def _night_problems(nights: list[Record]) -> list[str]:
    problems = []
    for number, record in enumerate(nights, 1):
        if record.night != number:
            problems.append(f"the record of night {number} is missing")
            break
    for record in nights:
        new = record.metrics["new"]
        if new["read"] != new["pairs"] + new["rejected"] + new["places"]:
            problems.append(f"night {record.night}: {new['read']} pairs read do not add up")
    return problems


def _live_paths(nights: list[Record], name: str) -> set[str]:
    """Return the files that a table should have after all nights."""
    live: set[str] = set()
    for record in nights:
        change = record.tables.get(name)
        if change is not None:
            live = _live_after(live, change)
    return live


def _file_problems(table: str, name: str, entry: Entry) -> list[str]:
    path = files.join(table, name, entry["path"])
    try:
        data = files.read_bytes(path)
    except OSError as error:
        return [f"{name}/{entry['path']}: cannot be read: {error.strerror}"]
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        return [f"{name}/{entry['path']}: its content differs from what was written"]
    return []


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
        ConfigError: There is no table, its last night is not committed to all tables yet, or a
            night is being made.
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
            live[name] = _live_after(before, change)
            for path in before - live[name]:
                found[(name, path)] = _seconds(record.when)
    return found


def _live_after(before: set[str], change: Json) -> set[str]:
    """Return the files that a table has after a change; one with a schema replaces all of them."""
    left = set() if change.get("schema") else before
    gone = {entry["path"] for entry in change["remove"]}
    return (left - gone) | {entry["path"] for entry in change["add"]}


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


def compact(table: str, most_rows: int) -> tuple[int, int]:
    """Join the small files of each partition, in a night of its own that changes no row.

    Args:
        table: Directory of all tables.
        most_rows: Files with fewer rows are joined, up to about so many.

    Returns:
        The number of files before and after; both 0 if there is nothing to join.

    Raises:
        ConfigError: There is no table.
        WorkerError: Another night was committed in the meantime.
    """
    records.existing(table)
    with table_lock.held(table, alone=False):
        return _compact(table, most_rows)


def _compact(table: str, most_rows: int) -> tuple[int, int]:
    last = records.existing(table)
    tables.apply(table, last)
    changes: dict[str, Json] = {}
    for name in sorted(last.versions):
        if name == FILES:
            continue
        added, removed = _join_small(table, name, tables.current(table, name, last), most_rows)
        if removed:
            changes[name] = {"add": added, "remove": removed}
    if not changes:
        return 0, 0
    versions = {name: v + (name in changes) for name, v in last.versions.items()}
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    quiet = {"read": 0, "pairs": 0, "rejected": 0, "places": 0, "share": 0.0, "reasons": {}}
    pairs = last.metrics["table"]["pairs"]
    metrics = {
        **last.metrics,
        "seconds": 0.0,
        "new": quiet,
        "removed": 0,
        "lost": 0,
        "table": {"before": pairs, "pairs": pairs},
    }
    record = dataclasses.replace(
        last,
        night=last.night + 1,
        operation="compact",
        when=now,
        tables=changes,
        versions=versions,
        metrics=metrics,
        gates=[],
        accepted=None,
    )
    tables.check(table, record)
    if not records.create(table, record):
        raise WorkerError(f"{table}: another night was committed meanwhile; run compact again")
    tables.apply(table, record)
    counts = [[len(change[what]) for change in changes.values()] for what in ("remove", "add")]
    return sum(counts[0]), sum(counts[1])


def _join_small(
    table: str, name: str, entries: list[Entry], most_rows: int
) -> tuple[list[Entry], list[Entry]]:
    small: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        if entry["rows"] < most_rows:
            place = tuple(entry["partition"][column] for column in PARTITIONS[name])
            small.setdefault(place, []).append(entry)
    added: list[Entry] = []
    removed: list[Entry] = []
    for place in sorted(small):
        for group in _groups(small[place], most_rows):
            rows = pa.concat_tables([tables.read_rows(table, name, entry) for entry in group])
            order = [(c, "ascending") for c in ("id", "variant", "content", "line")]
            rows = rows.sort_by([key for key in order if key[0] in rows.column_names])
            added.append(tables.write_file(table, name, rows, group[0]["partition"]))
            removed += group
    return added, removed


def _groups(entries: list[Entry], most_rows: int) -> Iterator[list[Entry]]:
    """Yield files to join: at least two, and not many more rows than wanted."""
    group: list[Entry] = []
    for entry in entries:
        if group and tables.rows_in([*group, entry]) > most_rows:
            if len(group) > 1:
                yield group
            group = []
        group.append(entry)
    if len(group) > 1:
        yield group
