"""A list of pairs to take down: from its lines to ids and tombstones."""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.refresh.withdrawal import Places
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.known_pairs import Tombstones
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.screen import sentence_keys
from pairweave.transforms.storage.text_lines import read_text_lines
from pairweave.transforms.units import CorpusInput, ReadLimits

_ID = re.compile(r"[0-9a-f]{32}")


def read_list(path: str) -> tuple[list[str], list[str]]:
    """Return the ids and the texts in a list; empty lines are left out.

    Raises:
        ConfigError: The list is empty.
        InputError: The file cannot be read.
    """
    lines = [line.strip() for line in read_text_lines(path)]
    found = list(dict.fromkeys(line for line in lines if line))
    if not found:
        raise ConfigError(f"{path}: is empty; give one id or text a line")
    ids = [line for line in found if _ID.fullmatch(line)]
    return ids, [line for line in found if not _ID.fullmatch(line)]


def stones_of(
    given: tuple[Sequence[str], Sequence[str]],
    places: Places,
    inputs: Sequence[CorpusInput],
    limits: ReadLimits,
    *,
    everywhere: bool,
) -> tuple[Tombstones, list[str]]:
    """Return the tombstones of a list, and the ids of the pairs to take down.

    The pairs of a text are found in the input files, since a table's rows may show texts with tags
    or masks.

    Args:
        given: Ids and texts.
        places: The provenance of the table.
        inputs: The corpora that the table is made of.
        limits: Limits of the readers.
        everywhere: Whether the tombstones count for all corpora; else for those in which a pair or
            text is now. What is in none counts for all.
    """
    ids, texts = given
    found = _where(places.rows, ids)
    keys = [int(key) for key in sentence_keys(pa.array(texts, pa.string()))]
    of_texts: dict[int, set[str]] = {key: set() for key in keys}
    taken = list(ids)
    for key, pair_id, corpus in _with_texts(inputs, limits, keys) if keys else ():
        of_texts[key].add(corpus)
        taken.append(pair_id)

    def scope(corpora: set[str]) -> tuple[str, ...] | None:
        return None if everywhere or not corpora else tuple(sorted(corpora))

    stones = Tombstones(
        {key: scope(found.get(key, set())) for key in ids},
        {key: scope(corpora) for key, corpora in of_texts.items()},
    )
    return stones, sorted(set(taken))


def _where(rows: pa.Table, ids: Sequence[str]) -> dict[str, set[str]]:
    wanted = rows.filter(pc.is_in(rows.column("id"), pa.array(ids, pa.string())))
    found: dict[str, set[str]] = {}
    for row in wanted.select(["id", "corpus"]).to_pylist():
        found.setdefault(row["id"], set()).add(row["corpus"])
    return found


def _with_texts(
    inputs: Sequence[CorpusInput], limits: ReadLimits, keys: Sequence[int]
) -> Iterator[tuple[int, str, str]]:
    """Yield key, id and corpus of each pair of the input with one of the texts."""
    wanted = np.array(sorted(keys), np.uint64)
    for unit in make_plan(inputs, limits).units:
        for batch in read_unit(unit, limits):
            there = batch.filter(batch.column("id").is_valid())
            for side in ("source", "target"):
                found = sentence_keys(there.column(side))
                for row in np.flatnonzero(np.isin(found, wanted)).tolist():
                    yield int(found[row]), there.column("id")[row].as_py(), unit.corpus
