"""Removing what is gone: rows whose pair stands in no file any more, or was taken down.

A file of a table that holds such a row is written again without it; all others stay as they are.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.refresh import tables
from pairweave.pipelines.refresh.assembly import OCCURRENCES
from pairweave.pipelines.refresh.tables import PROVENANCE, REJECTS, Entry
from pairweave.transforms.known_pairs import IdSet


@dataclasses.dataclass
class Change:
    """What a night does to one table.

    Attributes:
        add: Files to add.
        remove: Files to remove.
    """

    add: list[Entry] = dataclasses.field(default_factory=list)
    remove: list[Entry] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Places:
    """Where the pairs of a table stand: its provenance, read once.

    Attributes:
        rows: Columns ``id``, ``corpus``, ``content`` and ``line`` of all its files.
    """

    rows: pa.Table

    @classmethod
    def read(cls, table: str, entries: Collection[Entry]) -> "Places":
        """Read the provenance in some files."""
        names = OCCURRENCES.names
        parts = [tables.read_rows(table, PROVENANCE, entry, names) for entry in entries]
        parts = [part.replace_schema_metadata().cast(OCCURRENCES) for part in parts]
        return cls(pa.concat_tables([OCCURRENCES.empty_table(), *parts]))

    def known(self) -> IdSet:
        """Return the ids of all pairs."""
        return IdSet.of(self.rows.column("id"))


@dataclasses.dataclass(frozen=True)
class Withdrawn:
    """What goes.

    Attributes:
        pairs: Ids of pairs that go.
        corpora: For pairs that stay but lose their last place in a corpus: the corpora that they
            still stand in, the first one first.
    """

    pairs: IdSet
    corpora: Mapping[str, list[str]]


def withdrawn(
    places: Places, gone: Collection[str], taken: IdSet, occurrences: pa.Table
) -> Withdrawn:
    """Tell which pairs go, and which change their corpus.

    Args:
        places: The provenance of the table.
        gone: Keys of input entries that are gone.
        taken: Ids of pairs that are taken down.
        occurrences: Places that the night adds: ``id``, ``corpus``, ``content``, ``line``.
    """
    rows = places.rows
    is_gone = pc.is_in(rows.column("content"), pa.array(sorted(gone), pa.string()))
    is_taken = taken.has(rows.column("id"))
    lost = rows.filter(is_gone)
    lost_ids = IdSet.of(lost.column("id"))
    left = rows.filter(pa.array(~is_gone.to_numpy() & lost_ids.has(rows.column("id"))))
    added = occurrences.filter(pa.array(lost_ids.has(occurrences.column("id"))))
    left = pa.concat_tables([left, added])
    left_ids = IdSet.of(left.column("id"))
    goes = lost.column("id").filter(pa.array(~left_ids.has(lost.column("id"))))
    down = rows.column("id").filter(pa.array(is_taken))
    every = pa.chunked_array([*goes.chunks, *down.chunks], pa.string())
    return Withdrawn(IdSet.of(every), _changed_corpora(lost, left))


def _changed_corpora(lost: pa.Table, left: pa.Table) -> dict[str, list[str]]:
    staying = lost.filter(pc.is_in(lost.column("id"), left.column("id").combine_chunks()))
    before = {(r["id"], r["corpus"]) for r in staying.select(["id", "corpus"]).to_pylist()}
    order = [("corpus", "ascending"), ("content", "ascending"), ("line", "ascending")]
    after: dict[str, list[str]] = {}
    for row in left.sort_by(order).select(["id", "corpus"]).to_pylist():
        after.setdefault(row["id"], []).append(row["corpus"])
    return {key: after[key] for key, corpus in sorted(before) if corpus not in after[key]}


def rewrite(
    table: str,
    name: str,
    entries: Collection[Entry],
    columns: list[str],
    change: Callable[[pa.Table], pa.Table | None],
) -> Change:
    """Write again those files of a table that change.

    Args:
        table: Directory of all tables.
        name: Name of the table.
        entries: Its files.
        columns: The columns that tell whether a file changes.
        change: Returns the changed rows of a file, given all of its rows or these columns; None if
            nothing changes.
    """
    made = Change()
    for entry in entries:
        if change(tables.read_rows(table, name, entry, columns)) is None:
            continue
        rows = change(tables.read_rows(table, name, entry))
        assert rows is not None
        made.remove.append(entry)
        if rows.num_rows:
            made.add.append(tables.write_file(table, name, rows, entry["partition"]))
    return made


def without_pairs(found: Withdrawn) -> Callable[[pa.Table], pa.Table | None]:
    """Return a change of a job's rows: without pairs that go, others under another corpus."""
    others = pa.array(list(found.corpora), pa.string())

    def change(rows: pa.Table) -> pa.Table | None:
        goes = found.pairs.has(rows.column("id"))
        moves = pc.is_in(rows.column("id"), others)
        if "corpus" in rows.column_names and len(others):
            renamed = _renamed(rows, moves, found.corpora)
        else:
            renamed = None
        if not goes.any() and renamed is None:
            return None
        return (rows if renamed is None else renamed).filter(pa.array(~goes))

    return change


def _renamed(
    rows: pa.Table, moves: pa.ChunkedArray, corpora: Mapping[str, list[str]]
) -> pa.Table | None:
    """Return rows under corpora that their pairs still stand in; None if all rows are."""
    if not pc.any(moves).as_py():
        return None
    names = rows.column("corpus").to_pylist()
    changed = False
    for row in np.flatnonzero(moves.to_numpy()).tolist():
        left = corpora[rows.column("id")[row].as_py()]
        if names[row] not in left:
            names[row], changed = left[0], True
    place = rows.schema.get_field_index("corpus")
    field = rows.schema.field(place)
    return rows.set_column(place, field, pa.array(names, field.type)) if changed else None


def without_places(gone: Collection[str], taken: IdSet) -> Callable[[pa.Table], pa.Table | None]:
    """Return a change of provenance and rejects: without gone files and pairs taken down."""
    keys = pa.array(sorted(gone), pa.string())

    def change(rows: pa.Table) -> pa.Table | None:
        goes = pc.is_in(rows.column("content"), keys).to_numpy()
        column = rows.column("id")
        valid = column.is_valid().to_numpy()
        of_taken = np.zeros(len(column), np.bool_)
        of_taken[valid] = taken.has(column.drop_null())
        goes = goes | of_taken
        return rows.filter(pa.array(~goes)) if goes.any() else None

    return change


def withdraw(
    table: str,
    main: str,
    current: Mapping[str, list[Entry]],
    found: Withdrawn,
    gone: Collection[str],
    taken: IdSet,
) -> dict[str, Change]:
    """Write the files of all tables again that hold something that goes.

    Args:
        table: Directory of all tables.
        main: Name of the table of the job's rows.
        current: The files of each table.
        found: The pairs that go or change.
        gone: Keys of input entries that are gone.
        taken: Ids of pairs that are taken down.
    """
    changes: dict[str, Change] = {}
    if len(found.pairs) or found.corpora:
        columns = ["id", "corpus"] if found.corpora else ["id"]
        changes[main] = rewrite(table, main, current[main], columns, without_pairs(found))
    if gone or len(taken):
        change = without_places(gone, taken)
        for name in (PROVENANCE, REJECTS):
            changes[name] = rewrite(table, name, current[name], ["id", "content"], change)
    return changes
