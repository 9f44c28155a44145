"""Exporting a version of a table as plain Parquet shards: corpora mixed by weight and temperature.

A pair is taken if the hash of its id is below the share of its corpus. A smaller share is therefore
a subset of a larger one, and a later version of the table affects the pairs of an earlier one only
through the shares.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.command_line import outputs
from pairweave.pipelines.refresh import table_schemas
from pairweave.pipelines.refresh.chain import log_seals, records, table_lock, tables
from pairweave.pipelines.refresh.chain.hashed_reads import GoneError
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.chain.table_names import LANGUAGES, MAIN, PARTITIONS, Entry
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.ids import pair_keys
from pairweave.transforms.kernels import sampling
from pairweave.transforms.known_pairs import IdSet
from pairweave.transforms.output import run_files
from pairweave.transforms.output.write import encode_parquet
from pairweave.transforms.storage import files

REMOVED = "removed.txt"
"""File of the ids that a trainer with an earlier night must forget, one on each line, sorted."""


@dataclasses.dataclass(frozen=True)
class Mixture:
    """How much of each corpus to take.

    Attributes:
        weights: Weight of each corpus whose weight is not 1.
        temperature: Corpora are taken in proportion to weight times pairs to the power of
            1 / temperature (Arivazhagan et al. 2019, section 4.2): 1 keeps their sizes, a higher
            one evens them out.
        seed: Seed of the draws.
    """

    weights: Mapping[str, float]
    temperature: float
    seed: int

    def shares(self, sizes: Mapping[str, int]) -> dict[str, float]:
        """Return the share of each corpus to take; the largest share is 1.

        >>> Mixture({"b": 2.0}, 1.0, 1).shares({"a": 10, "b": 30})
        {'a': 0.5, 'b': 1.0}

        Args:
            sizes: Number of pairs of each corpus.

        Raises:
            ConfigError: A weight names a corpus that the table does not have, or all are 0.
        """
        unknown = sorted(self.weights.keys() - sizes.keys())
        if unknown:
            raise ConfigError(
                f"--weights {unknown[0]}: the table has {', '.join(sorted(sizes)) or 'no corpora'}"
            )
        if not sizes:
            return {}
        parts = {
            name: self.weights.get(name, 1.0) * size ** (1 / self.temperature) / size
            for name, size in sizes.items()
        }
        most = max(parts.values())
        if not most:
            raise ConfigError("--weights: all are 0, so nothing would be exported")
        return {name: parts[name] / most for name in sorted(parts)}


def read_weights(words: tuple[str, ...]) -> dict[str, float]:
    """Return the weights in words such as ``news=2``.

    Raises:
        ConfigError: A word is not a corpus and a number of 0 or more.
    """
    weights = {}
    for word in words:
        name, _, text = word.rpartition("=")
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not name or not 0 <= value < float("inf"):
            raise ConfigError(f"--weights {word}: expected CORPUS=NUMBER, such as news=2")
        weights[name] = value
    return weights


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
        rows = _taken(rows.filter(pc.greater(rows.column("night"), since)), shares, mixture.seed)
        if _kind(main, entry) == counted:
            taken.update(_pairs(rows))
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
        counts.setdefault(_kind(main, entry), Counter()).update(_pairs(rows))
    if not counts:
        return {}, None
    chosen = max(sorted(counts), key=lambda kind: sum(counts[kind].values()))
    return dict(counts[chosen]), chosen


def _kind(main: str, entry: Entry) -> tuple[str, ...]:
    """Return the kind of a file's rows: what its partition says besides the languages."""
    columns = (column for column in PARTITIONS[main] if column not in LANGUAGES)
    return tuple(entry["partition"][column] for column in columns)


def _pairs(rows: pa.Table) -> dict[str, int]:
    pairs = rows.select(["id", "corpus"]).group_by(["id", "corpus"]).aggregate([])
    counts = pairs.column("corpus").value_counts().to_pylist()
    return {item["values"]: item["counts"] for item in counts}


def _whole(table: str, main: str, entry: Entry) -> pa.Table:
    """Return the rows of a file with the columns of its partition."""
    rows = tables.read_rows(table, main, entry).replace_schema_metadata()
    for column, value in entry["partition"].items():
        field = pa.field(column, pa.string(), nullable=False)
        rows = rows.append_column(field, pa.array([value] * rows.num_rows, pa.string()))
    return rows


def _taken(rows: pa.Table, shares: Mapping[str, float], seed: int) -> pa.Table:
    numbers = sampling.units(np.uint64(seed), pair_keys(rows.column("id")), sampling.STEP_EXPORT)
    names = pa.array(list(shares), pa.string())
    place = pc.index_in(rows.column("corpus"), names).to_numpy()
    limits = np.array(list(shares.values()))[place] if len(place) else np.zeros(0)
    return rows.filter(pa.array(numbers < limits))


def _write(output: str, number: int, rows: pa.Table, night: int) -> None:
    name = f"{run_files.DATA}/part-{number:05d}.parquet"
    data = encode_parquet(rows, f"refresh:export:night:{night}")
    files.write_bytes(files.join(output, name), data)
