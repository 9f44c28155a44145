"""A list of pairs to take down: from its lines to ids and tombstones."""

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.known_pairs import Corpora, Tombstones
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.screen import sentence_keys
from pairweave.transforms.storage.text_lines import read_text_lines
from pairweave.transforms.units import CorpusInput, ReadLimits

_ID = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class TakedownList:
    """What a file says is to be taken down.

    Attributes:
        ids: Ids in lower case, each with the first line that has it, from 1.
        texts: Texts, likewise.
    """

    ids: Mapping[str, int]
    texts: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class TakenDown:
    """What a list means for a table.

    Attributes:
        stones: The tombstones of the list.
        ids: Ids of the pairs to take down.
        missing: Lines of the list that match nothing now and have no tombstone yet.
    """

    stones: Tombstones
    ids: list[str]
    missing: list[int]


def read_list(path: str) -> TakedownList:
    """Read a list; empty lines are left out.

    Raises:
        ConfigError: The list is empty.
        InputError: The file cannot be read.
    """
    ids: dict[str, int] = {}
    texts: dict[str, int] = {}
    for number, line in enumerate(read_text_lines(path), 1):
        text = line.strip()
        if _ID.fullmatch(text):
            ids.setdefault(text.lower(), number)
        elif text:
            texts.setdefault(text, number)
    if not ids and not texts:
        raise ConfigError(f"{path}: is empty; give one id or text a line")
    return TakedownList(ids, texts)


@dataclasses.dataclass(frozen=True)
class Holdings:
    """What a table has, and what comes to it tonight.

    Attributes:
        rows: Columns ``id`` and ``corpus`` of all pairs and rejects with an id.
        stones: The tombstones so far.
        inputs: The corpora that the table is made of.
        arriving: Names of the corpora that have new files tonight.
        limits: Limits of the readers.
    """

    rows: pa.Table
    stones: Tombstones
    inputs: Sequence[CorpusInput]
    arriving: Collection[str]
    limits: ReadLimits


def take_down(given: TakedownList, held: Holdings, *, everywhere: bool) -> TakenDown:
    """Return the tombstones of a list, and the ids of the pairs to take down.

    The pairs of a text are found in the input files, since a table's rows may show texts with tags
    or masks.

    Args:
        given: The list.
        held: The table.
        everywhere: Whether the tombstones count for all corpora; else for those in which a pair or
            text is now, or those of its earlier tombstone. What is and was in none counts for all.
    """
    of_ids = _where(held.rows, given.ids)
    keys = [int(key) for key in sentence_keys(pa.array(list(given.texts), pa.string()))]
    of_texts: dict[int, set[str]] = {key: set() for key in keys}
    taken = set(given.ids)
    for text_key, pair_id, corpus in _in_files(held, keys, given.ids):
        if text_key is None:
            of_ids[pair_id].add(corpus)
        else:
            of_texts[text_key].add(corpus)
            taken.add(pair_id)

    def scope(corpora: set[str], earlier: Corpora) -> Corpora:
        if everywhere:
            return None
        return tuple(sorted(corpora)) if corpora else earlier

    before = held.stones
    stones = Tombstones(
        {key: scope(corpora, before.ids.get(key)) for key, corpora in of_ids.items()},
        {key: scope(corpora, before.texts.get(key)) for key, corpora in of_texts.items()},
    )
    missing = [
        *(line for key, line in given.ids.items() if not of_ids[key] and key not in before.ids),
        *(
            line
            for key, line in zip(keys, given.texts.values(), strict=True)
            if not of_texts[key] and key not in before.texts
        ),
    ]
    return TakenDown(stones, sorted(taken), sorted(missing))


def _where(rows: pa.Table, ids: Collection[str]) -> dict[str, set[str]]:
    wanted = rows.filter(pc.is_in(rows.column("id"), pa.array(list(ids), pa.string())))
    found: dict[str, set[str]] = {key: set() for key in ids}
    for row in wanted.select(["id", "corpus"]).to_pylist():
        found[row["id"]].add(row["corpus"])
    return found


def _in_files(
    held: Holdings, keys: Sequence[int], ids: Collection[str]
) -> Iterator[tuple[int | None, str, str]]:
    """Yield key, id and corpus of each pair of the input with a text; without a key, of each id.

    Ids are looked up in the rows of the table, so for them only corpora with new files are read.
    """
    inputs = held.inputs if keys else [one for one in held.inputs if one.name in held.arriving]
    wanted = np.array(sorted(keys), np.uint64)
    wanted_ids = pa.array(list(ids), pa.string())
    for unit in make_plan(inputs, held.limits).units if inputs else ():
        for batch in read_unit(unit, held.limits):
            there = batch.filter(batch.column("id").is_valid())
            column = there.column("id")
            for pair_id in column.filter(pc.is_in(column, wanted_ids)).to_pylist():
                yield None, pair_id, unit.corpus
            for side in ("source", "target"):
                found = sentence_keys(there.column(side))
                for row in np.flatnonzero(np.isin(found, wanted)).tolist():
                    yield int(found[row]), column[row].as_py(), unit.corpus
