"""Turning a list of pairs to take down into ids and tombstones."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.process import terminal
from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.table_names import REJECTS, Entry
from pairweave.pipelines.refresh.forgetting.pair_places import Places
from pairweave.pipelines.refresh.forgetting.table_texts import HIDDEN_TARGETS, WantedTexts
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.known_pairs import Corpora, Tombstones
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.takedown_list import TakedownList, read_list
from pairweave.transforms.units import CorpusInput, ReadLimits


def _warn_of_missing(path: str, lines: Sequence[int]) -> None:
    """Warn of the lines of a list that match nothing, if there are any."""
    if not lines:
        return
    shown = ", ".join(str(line) for line in lines[:20]) + (", ..." if len(lines) > 20 else "")
    terminal.warn(
        f"{path}: {len(lines)} ids or texts are in no pair of the table or its files (lines "
        f"{shown}); check their spelling. They are kept out of all corpora from now on"
    )


@dataclasses.dataclass(frozen=True)
class Holdings:
    """The content of a table, and the corpora that arrive tonight.

    Attributes:
        main: Name of the table of the job's rows.
        settings: The settings that its rows are made with.
        current: The files of each table.
        places: The provenance.
        stones: The tombstones so far.
        inputs: Corpora whose files are also searched: those that arrive tonight, or all of them for
            a table whose rows lack a text.
        limits: Limits of the readers.
    """

    main: str
    settings: Mapping[str, Any]
    current: Mapping[str, list[Entry]]
    places: Places
    stones: Tombstones
    inputs: Sequence[CorpusInput]
    limits: ReadLimits


class _Sightings:
    """The pairs and corpora in which the ids and texts of a list occur."""

    def __init__(self, pair_list: TakedownList, wanted: WantedTexts) -> None:
        self.wanted = wanted
        self.corpora: dict[str, set[str]] = {key: set() for key in pair_list.ids}
        self.pairs: dict[int, set[str]] = {key: set() for key in wanted.keys}
        self.taken = set(pair_list.ids)

    def add(self, key: int, pair_id: str) -> None:
        """Record that a pair has a text."""
        self.pairs[key].add(pair_id)
        self.corpora.setdefault(pair_id, set())
        self.taken.add(pair_id)

    def add_places(self, rows: pa.Table) -> None:
        """Record the corpora of pairs, from the columns ``id`` and ``corpus``."""
        wanted = pa.array(list(self.corpora), pa.string())
        known = rows.filter(pc.is_in(rows.column("id"), wanted))
        for row in known.select(["id", "corpus"]).to_pylist():
            self.corpora[row["id"]].add(row["corpus"])

    def of_text(self, key: int) -> set[str]:
        """Return the corpora that have a text."""
        return {corpus for pair in self.pairs[key] for corpus in self.corpora[pair]}


def take_down(path: str, held: Holdings, *, everywhere: bool) -> tuple[Tombstones, list[str]]:
    """Return the tombstones of a table and of a list, and the ids of the pairs to take down.

    The pairs with a text are searched for in the rows of the table and in its rejects; its input
    files may be gone. Warn of lines that match nothing and have no tombstone yet.

    Args:
        path: The list (`takedown_list.read_list`).
        held: The table.
        everywhere: Whether the tombstones apply to all corpora; otherwise they apply to those in
            which a pair or text is now, or those of its earlier tombstone. One that is in no corpus
            and has no earlier tombstone is kept out of all.

    Raises:
        ConfigError: The list is empty.
        InputError: The list cannot be read, or a line is invalid.
    """
    pair_list = read_list(path)
    if pair_list.texts and held.main in HIDDEN_TARGETS and not held.inputs:
        terminal.warn(
            f"{path}: rows of {held.main} do not have the target text of their pair, so only "
            "source texts are looked up; give ids, or a night with --takedown, which reads the "
            "input"
        )
    seen = _Sightings(pair_list, WantedTexts(list(pair_list.texts), held.main, held.settings))
    _look_in_tables(held, seen)
    _look_in_files(held, seen)

    def scope(corpora: set[str], earlier: Corpora) -> Corpora:
        if everywhere:
            return None
        return tuple(sorted(corpora)) if corpora else earlier

    before, keys = held.stones, seen.wanted.keys
    stones = Tombstones(
        {key: scope(seen.corpora[key], before.ids.get(key)) for key in pair_list.ids},
        {key: scope(seen.of_text(key), before.texts.get(key)) for key in keys},
    )
    lines = zip(keys, pair_list.texts.values(), strict=True)
    missing = [
        *(n for key, n in pair_list.ids.items() if not seen.corpora[key] and key not in before.ids),
        *(n for key, n in lines if not seen.of_text(key) and key not in before.texts),
    ]
    _warn_of_missing(path, sorted(missing))
    return before.joined(stones), sorted(seen.taken)


def _look_in_tables(held: Holdings, seen: _Sightings) -> None:
    table = held.places.table
    for name in (held.main, REJECTS):
        for entry in held.current[name]:
            for key, pair_id in seen.wanted.in_rows(table, name, entry):
                seen.add(key, pair_id)
    for rows in held.places.parts(["id", "corpus"]):
        seen.add_places(rows)
    for entry in held.current[REJECTS]:
        seen.add_places(tables.read_rows(table, REJECTS, entry, ["id", "corpus"]))


def _look_in_files(held: Holdings, seen: _Sightings) -> None:
    """Search input files for ids and texts."""
    for unit in make_plan(held.inputs, held.limits).units if held.inputs else ():
        for batch in read_unit(unit, held.limits):
            there = batch.filter(batch.column("id").is_valid())
            pair_ids = there.column("id")
            for side in ("source", "target"):
                for row, key in seen.wanted.in_texts(there.column(side)):
                    seen.add(key, pair_ids[row].as_py())
            corpora = pa.array([unit.corpus] * len(pair_ids), pa.string())
            seen.add_places(pa.table({"id": pair_ids, "corpus": corpora}))
