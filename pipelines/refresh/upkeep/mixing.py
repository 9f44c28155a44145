"""Exporting a version of a table as plain Parquet shards, with its corpora mixed."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.command_line import outputs
from pairweave.pipelines.refresh import table_schemas
from pairweave.pipelines.refresh.chain import log_seals, records, table_lock, tables
from pairweave.pipelines.refresh.chain.hashed_reads import GoneError
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.chain.table_names import LANGUAGES, MAIN, PARTITIONS, Entry
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.mixture import Mixture, pairs_by_corpus
from pairweave.transforms.known_pairs import IdSet
from pairweave.transforms.output import run_files
from pairweave.transforms.output.write import encode_parquet
from pairweave.transforms.storage import files

REMOVED = "removed.txt"
"""File of the ids that a trainer with an earlier night must forget, one on each line, sorted."""


def export(
    table: str,
    output: str,
    mixture: Mixture,
    shard_rows: int,
    night: int | None,
    since: int | None = None,
) -> dict[str, tuple[int, int]]:
    """Write the rows of a version as shards, sorted by id within each file of the table.

    If an earlier night is given, for a trainer that continues, write only the rows that came after
    it, and the ids of the pairs that it had and the version no longer has (`REMOVED`).

    Args:
        table: Directory of all tables.
        output: An empty or absent directory.
        mixture: How much of each corpus to take.
        shard_rows: Approximate number of rows in a shard.
        night: The night whose version is read; None for the last.
        since: Leave out the rows of this night and those before; None for all rows.

    Returns:
        For each corpus, the number of its pairs and of those taken.

    Raises:
        ConfigError: There is no such version, the directory has shards, or files of the version
            were deleted meanwhile.
    """
    outputs.require_outside_tables("output", output)
    names = [file["name"] for entry in records.existing(table).files for file in entry["files"]]
    outputs.require_apart("output", output, names)
    if files.list_names(files.join(output, run_files.DATA)):
        raise ConfigError(f"{output}: has shards already; give another --output")
    with table_lock.reading(table):
        record = _last_applied(table) if night is None else _at(table, night)
        try:
            if since is not None:
                _write_removed(table, output, _before(table, since, record), record)
            return _export(table, output, mixture, shard_rows, record, since or 0)
        except GoneError as error:
            raise ConfigError(
                f"{error.path}: was deleted while the version of night "
                f"{record.night} was exported, perhaps by a vacuum on another machine; what is in "
                f"{output} is not complete: delete it, and run the same command again"
            ) from error


def _export(
    table: str,
    output: str,
    mixture: Mixture,
    shard_rows: int,
    record: Record,
    since: int,
) -> dict[str, tuple[int, int]]:
    main = MAIN[record.job]
    entries = _entries(table, main, record)
    columns = table_schemas.at_version(table, main, record.versions[main])
    sizes, counted = _sizes(table, main, entries)
    shares = mixture.shares(sizes)
    taken: Counter[str] = Counter()
    held: list[pa.Table] = []
    shards = 0
    for entry in entries:
        rows = table_schemas.fitted(_whole(table, main, entry), columns, main)
        rows = mixture.take(rows.filter(pc.greater(rows.column("night"), since)), shares)
        if _kind(main, entry) == counted:
            taken.update(pairs_by_corpus(rows))
        held.append(rows)
        while sum(part.num_rows for part in held) >= shard_rows:
            together = pa.concat_tables(held)
            _write(output, shards, together.slice(0, shard_rows), record.night)
            held, shards = [together.slice(shard_rows)], shards + 1
    if sum(part.num_rows for part in held):
        _write(output, shards, pa.concat_tables(held), record.night)
    return {name: (sizes[name], taken[name]) for name in shares}


def _last_applied(table: str) -> Record:
    """Return the last night that is committed to all tables; a later one may be in progress."""
    last = log_seals.last_night(table)
    if tables.is_applied(table, last):
        return last
    if last.night == 1:
        raise ConfigError(f"{table}: its first night is not committed yet; run refresh first")
    return records.at_night(table, last, last.night - 1)[0]


def _at(table: str, night: int, option: str = "night") -> Record:
    """Return the record of a night after checking the files of Delta's log at that version."""
    last = records.existing(table)
    if not 1 <= night <= last.night:
        raise ConfigError(f"--{option} {night}: {table} has no such night; see refresh history")
    record, after = records.at_night(table, last, night)
    log_seals.check(table, record, after)
    return record


def _before(table: str, since: int, record: Record) -> Record:
    earlier = _at(table, since, "since")
    if since >= record.night or earlier.job != record.job:
        raise ConfigError(f"--since {since}: give a night before night {record.night}")
    return earlier


def _write_removed(table: str, output: str, before: Record, record: Record) -> None:
    main = MAIN[record.job]
    ids = [
        IdSet.of_all(
            tables.read_rows(table, main, entry, ["id"]).column("id")
            for entry in _entries(table, main, each)
        )
        for each in (before, record)
    ]
    gone = ids[0].without(ids[1])
    text = "".join(f"{each}\n" for each in gone.texts(len(gone)))
    files.write_bytes(files.join(output, REMOVED), text.encode())


def _entries(table: str, main: str, record: Record) -> list[Entry]:
    """Return the files of a table after a night, all of which are there.

    Raises:
        ConfigError: A file was vacuumed, or the log contradicts the record.
    """
    entries = tables.at_night(table, main, record)
    for entry in entries:
        path = files.join(table, main, entry["path"])
        if files.exists(path):
            continue
        if record.night < records.numbers(table)[-1]:
            raise ConfigError(
                f"{path}: is missing: files of {main} version {record.versions[main]} were deleted "
                "by vacuum; export a later night"
            )
        raise GoneError(path)
    return entries


def _sizes(
    table: str, main: str, entries: list[Entry]
) -> tuple[dict[str, int], tuple[str, ...] | None]:
    """Return the number of pairs of each corpus in the most common kind of rows, and this kind."""
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for entry in entries:
        rows = tables.read_rows(table, main, entry, ["id", "corpus"])
        counts.setdefault(_kind(main, entry), Counter()).update(pairs_by_corpus(rows))
    if not counts:
        return {}, None
    chosen = max(sorted(counts), key=lambda kind: sum(counts[kind].values()))
    return dict(counts[chosen]), chosen


def _kind(main: str, entry: Entry) -> tuple[str, ...]:
    """Return the kind of a file's rows: what its partition says besides the languages."""
    columns = (column for column in PARTITIONS[main] if column not in LANGUAGES)
    return tuple(entry["partition"][column] for column in columns)


def _whole(table: str, main: str, entry: Entry) -> pa.Table:
    """Return the rows of a file with the columns of its partition."""
    rows = tables.read_rows(table, main, entry).replace_schema_metadata()
    for column, value in entry["partition"].items():
        field = pa.field(column, pa.string(), nullable=False)
        rows = rows.append_column(field, pa.array([value] * rows.num_rows, pa.string()))
    return rows


def _write(output: str, number: int, rows: pa.Table, night: int) -> None:
    name = f"{run_files.DATA}/part-{number:05d}.parquet"
    data = encode_parquet(rows, f"refresh:export:night:{night}")
    files.write_bytes(files.join(output, name), data)
