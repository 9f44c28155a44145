"""Checking a table: files by their hashes, rows by their provenance, and the records of nights."""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from pairweave.pipelines.refresh.chain import records, table_lock, tables
from pairweave.pipelines.refresh.chain.hashed_reads import digest_of
from pairweave.pipelines.refresh.chain.live_files import facts_of, live_entries
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.chain.table_names import MAIN, PROVENANCE, Entry
from pairweave.pipelines.refresh.upkeep.chain_problems import read_chain
from pairweave.transforms import ids
from pairweave.transforms.known_pairs import IdSet
from pairweave.transforms.storage import files

_SHOWN = 3
"""Maximum number of ids that a problem names."""


@dataclasses.dataclass(frozen=True)
class Verified:
    """The result of a check.

    Attributes:
        files: Number of files in the current versions.
        rows: Number of their rows.
        nights: Number of nights.
        problems: The problems, one line each.
    """

    files: int
    rows: int
    nights: int
    problems: list[str]


def verify(table: str) -> Verified:
    """Check the versions of the last night: files, rows and places, and the records of all nights.

    The chain is read from the newest record down to the first, with everything that the records
    name: seals, Delta's logs, tombstones and models. Every file is checked by its hash, including
    those of earlier versions that vacuum has not deleted. Every row needs a place in provenance, in
    its own corpus, and every place needs a row and an input file.

    Raises:
        ConfigError: There is no table.
        WorkerError: A vacuum is deleting its files.
    """
    if not records.numbers(table):
        records.existing(table)
    with table_lock.reading(table):
        return _verify(table)


def _verify(table: str) -> Verified:
    nights, problems = read_chain(table)
    if len(nights) != records.numbers(table)[-1]:
        return Verified(0, 0, len(nights), problems)
    checked, is_whole = list(nights), not problems
    if is_whole and not tables.is_applied(table, nights[-1]):
        problems.append(
            f"night {nights[-1].night} is not committed to all tables: run refresh again, unless "
            "one runs now"
        )
        checked.pop()
    if not checked:
        return Verified(0, 0, len(nights), problems)
    last = checked[-1]
    written = {
        (name, entry["path"]): entry
        for record in checked
        for name, change in record.tables.items()
        for entry in change["add"]
    }
    count = rows = 0
    live: dict[str, list[Entry]] = {}
    damaged: list[str] = []
    for name in sorted(last.versions):
        expected = live_entries(checked, name)
        live[name] = [*expected.values()]
        if is_whole:  # with a damaged chain, Delta may not even be able to read its log
            problems += _version_problems(table, name, last)
            problems += _log_problems(table, name, last, expected)
        for path in sorted(expected):
            described = written[(name, path)]
            count, rows = count + 1, rows + described["rows"]
            damaged += _file_problems(table, name, described)
        damaged += _old_problems(table, name, written, expected)
    problems += damaged
    return Verified(count, rows, len(nights), problems or _row_problems(table, last, live))


def _old_problems(
    table: str,
    name: str,
    written: Mapping[tuple[str, str], Entry],
    expected: Mapping[str, Entry],
) -> Iterator[str]:
    """Yield the damaged files of earlier versions, among those that vacuum has not deleted."""
    for path in files.list_below(files.join(table, name)):
        if path not in expected and (name, path) in written:
            yield from _file_problems(table, name, written[(name, path)])


def _log_problems(
    table: str, name: str, last: Record, expected: Mapping[str, Entry]
) -> Iterator[str]:
    """Yield the differences between Delta's log and the records about a table's files."""
    logged = {e["path"]: e for e in tables.at_version(table, name, last.versions[name])}
    for path in sorted({*logged, *expected}):
        if path not in expected:
            yield f"{name}/{path}: is in no night's record"
        elif path not in logged:
            yield f"{name}/{path}: is missing in the table"
        elif facts_of(logged[path]) != facts_of(expected[path]):
            yield f"{name}/{path}: the table's log contradicts its night's record"


def _version_problems(table: str, name: str, last: Record) -> list[str]:
    version = tables.version_of(table, name)
    if version <= last.versions[name] or records.numbers(table)[-1] > last.night:
        return []
    return [
        f"{name} is at version {version}, and refresh left it at {last.versions[name]}: another "
        "program has written to it"
    ]


def _file_problems(table: str, name: str, entry: Entry) -> list[str]:
    path = files.join(table, name, entry["path"])
    try:
        data = files.read_bytes(path)
    except OSError as error:
        return [f"{name}/{entry['path']}: cannot be read: {error.strerror}"]
    if digest_of(data) != entry["sha256"]:
        return [f"{name}/{entry['path']}: its content differs from what was written"]
    return []


def _row_problems(table: str, last: Record, live: Mapping[str, list[Entry]]) -> list[str]:
    """Compare the rows of the job's table with provenance."""
    main = MAIN[last.job]
    rows, at_rows = _ids_and_corpora(table, main, live[main])
    places, at_places = _ids_and_corpora(table, PROVENANCE, live[PROVENANCE])
    pairs = last.metrics["table"]["pairs"]
    problems = [
        *_named(rows.without(places), f"pairs of {main} have no place in {PROVENANCE}"),
        *_named(places.without(rows), f"pairs of {PROVENANCE} have no row in {main}"),
    ]
    if not problems and len(rows) != pairs:
        problems.append(
            f"{main}: has {len(rows)} pairs, and the record of night {last.night} says {pairs}"
        )
    if not problems and len(at_rows.without(at_places)):
        problems.append(
            f"{main}: {len(at_rows.without(at_places))} pairs are under a corpus in which "
            f"{PROVENANCE} does not have them"
        )
    return problems + _unknown_contents(table, last, live[PROVENANCE])


def _named(pair_ids: IdSet, what: str) -> list[str]:
    if not len(pair_ids):
        return []
    more = ", ..." if len(pair_ids) > _SHOWN else ""
    return [f"{len(pair_ids)} {what}: {', '.join(pair_ids.texts(_SHOWN))}{more}"]


def _ids_and_corpora(table: str, name: str, entries: list[Entry]) -> tuple[IdSet, IdSet]:
    """Return the set of a table's ids, and the set of its (id, corpus) combinations."""
    own: list[IdSet] = []
    beside: list[IdSet] = []
    for entry in entries:
        rows = tables.read_rows(table, name, entry, ["id", "corpus"])
        high, low = ids.halves(rows.column("id"))
        numbers = rows.column("corpus").combine_chunks().cast(pa.string()).dictionary_encode()
        names = numbers.dictionary.to_pylist()
        keys = np.array([xxhash.xxh3_64_intdigest(name.encode()) for name in names], np.uint64)
        mixed = high ^ keys[numbers.indices.to_numpy()]
        own.append(IdSet(np.stack([high, low], axis=1)))
        beside.append(IdSet(np.stack([mixed, low], axis=1)))
    return IdSet.joined(own), IdSet.joined(beside)


def _unknown_contents(table: str, last: Record, entries: list[Entry]) -> list[str]:
    """Return problems for places whose input file is not in the ledger."""
    known = pa.array(sorted(entry["key"] for entry in last.files), pa.string())
    unknown: set[str] = set()
    for entry in entries:
        contents = (
            tables.read_rows(table, PROVENANCE, entry, ["content"]).column("content").unique()
        )
        unknown.update(contents.filter(pc.invert(pc.is_in(contents, known))).to_pylist())
    return [f"{PROVENANCE}: content {key} belongs to no input file" for key in sorted(unknown)]
