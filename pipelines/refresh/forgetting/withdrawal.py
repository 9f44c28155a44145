"""Removing rows whose pair is no longer in any input file, or was taken down.

A file of a table that contains such a row is rewritten without it; all others stay as they are.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.records import Json
from pairweave.pipelines.refresh.chain.table_names import PROVENANCE, REJECTS, Entry
from pairweave.pipelines.refresh.forgetting.pair_places import Places
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.known_pairs import NO_IDS, IdSet


@dataclasses.dataclass
class Change:
    """A night's change of one table.

    Attributes:
        add: Files to add.
        remove: Files to remove.
    """

    add: list[Entry] = dataclasses.field(default_factory=list)
    remove: list[Entry] = dataclasses.field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.add or self.remove)

    def to_json(self) -> Json:
        """Return the change for a record, without files that are both added and removed."""
        old = {entry["path"] for entry in self.remove}
        new = {entry["path"] for entry in self.add}
        return {
            "add": [entry for entry in self.add if entry["path"] not in old],
            "remove": [
                {name: entry[name] for name in ("path", "bytes", "rows", "partition")}
                for entry in self.remove
                if entry["path"] not in new
            ],
        }


@dataclasses.dataclass(frozen=True)
class Withdrawn:
    """The pairs that are removed from a table, and those that change their corpus.

    Attributes:
        pairs: Ids of the pairs to remove.
        corpora: For pairs that lose their last place in a corpus but not all: the corpora that
            still contain them, in order.
    """

    pairs: IdSet
    corpora: Mapping[str, list[str]]

    def and_rows_of(self, remade: IdSet) -> "Withdrawn":
        """Return the same with further pairs, whose rows are removed to be made again."""
        return Withdrawn(IdSet.joined([self.pairs, remade]), self.corpora)


def withdrawn(places: Places, gone: Collection[str], taken: IdSet, added: Places) -> Withdrawn:
    """Return the pairs to remove, and those that change their corpus.

    Args:
        places: The provenance of the table.
        gone: Keys of input entries that are gone.
        taken: Ids of pairs that are taken down.
        added: Places that the night adds.
    """
    keys = pa.array(sorted(gone), pa.string())

    def is_gone(rows: pa.Table) -> np.ndarray:
        return np.asarray(pc.is_in(rows.column("content"), keys).to_numpy())

    lost = places.ids_where(is_gone) if gone else NO_IDS
    down = places.ids_where(lambda rows: taken.has(rows.column("id"))) if len(taken) else NO_IDS
    if not len(lost):
        return Withdrawn(down, {})

    left = IdSet.joined(
        [
            places.ids_where(lambda rows: ~is_gone(rows) & lost.has(rows.column("id"))),
            added.ids_where(lambda rows: lost.has(rows.column("id"))),
        ]
    )
    going = IdSet.joined([lost.without(left), down])
    before = places.rows_where(lambda rows: is_gone(rows) & left.has(rows.column("id")))
    moved = IdSet.of(before.column("id"))
    after = pa.concat_tables(
        [
            places.rows_where(lambda rows: ~is_gone(rows) & moved.has(rows.column("id"))),
            added.rows_where(lambda rows: moved.has(rows.column("id"))),
        ]
    )
    return Withdrawn(going, _changed_corpora(before, after))


def _changed_corpora(lost: pa.Table, left: pa.Table) -> dict[str, list[str]]:
    """Return the corpora that still contain each pair that lost its last place in another."""
    before = {(r["id"], r["corpus"]) for r in lost.select(["id", "corpus"]).to_pylist()}
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
    """Rewrite the files of a table that change.

    Args:
        table: Directory of all tables.
        name: Name of the table.
        entries: Its files.
        columns: The columns that determine whether a file changes.
        change: Takes all rows of a file, or only these columns; returns the changed rows, or None
            if nothing changes.
    """
    rewritten = Change()
    for entry in entries:
        if change(tables.read_rows(table, name, entry, columns)) is None:
            continue
        rows = change(tables.read_rows(table, name, entry))
        assert rows is not None
        rewritten.remove.append(entry)
        if rows.num_rows:
            rewritten.add.append(tables.write_file(table, name, rows, entry["partition"]))
    return rewritten


def without_pairs(going: Withdrawn) -> Callable[[pa.Table], pa.Table | None]:
    """Return a change of a job's rows that removes pairs and renames the corpora of others."""
    others = pa.array(list(going.corpora), pa.string())

    def change(rows: pa.Table) -> pa.Table | None:
        goes = going.pairs.has(rows.column("id"))
        renamed = _renamed(rows, pc.is_in(rows.column("id"), others), going.corpora)
        if not goes.any() and renamed is None:
            return None
        return (rows if renamed is None else renamed).filter(pa.array(~goes))

    return change


def _renamed(
    rows: pa.Table, moves: pa.ChunkedArray, corpora: Mapping[str, list[str]]
) -> pa.Table | None:
    """Return rows renamed to corpora that still contain their pairs; None if none changes."""
    if not pc.any(moves).as_py():
        return None
    names = rows.column("corpus").to_pylist()
    changed = False
    for row in np.flatnonzero(moves.to_numpy()).tolist():
        left = corpora[rows.column("id")[row].as_py()]
        if names[row] not in left:
            names[row], changed = left[0], True
    column = pa.array(names, rows.schema.field("corpus").type)
    return replaced(rows, "corpus", column) if changed else None


def without_places(gone: Collection[str], taken: IdSet) -> Callable[[pa.Table], pa.Table | None]:
    """Return a change of provenance and rejects that drops gone files and pairs taken down."""
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
    going: Withdrawn,
    gone: Collection[str],
    taken: IdSet,
) -> dict[str, Change]:
    """Rewrite the files of all tables that contain something to remove.

    Args:
        table: Directory of all tables.
        main: Name of the table of the job's rows.
        current: The files of each table.
        going: The pairs to remove, and those that change their corpus.
        gone: Keys of input entries that are gone.
        taken: Ids of pairs that are taken down.
    """
    changes: dict[str, Change] = {}
    if len(going.pairs) or going.corpora:
        columns = ["id", "corpus"] if going.corpora else ["id"]
        changes[main] = rewrite(table, main, current[main], columns, without_pairs(going))
    if gone or len(taken):
        change = without_places(gone, taken)
        for name in (PROVENANCE, REJECTS):
            changes[name] = rewrite(table, name, current[name], ["id", "content"], change)
    return changes
