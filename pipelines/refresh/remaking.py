"""Pairs whose rows must be made anew because the corpus that they were made from is withdrawn.

If rows depend on the text alone, a row that loses its corpus gets the name of another corpus that
has the pair. If a corpus also gives scores, links or markup, those of the withdrawn corpus would
remain under the name of another, so the files that still have the pair are read again.
"""

from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.options.corpus_options import (
    LinkedCorpus,
    PairCorpus,
    ScoredCorpus,
)
from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.table_names import Entry
from pairweave.pipelines.refresh.forgetting.pair_places import Places
from pairweave.pipelines.refresh.forgetting.withdrawal import withdrawn
from pairweave.pipelines.refresh.night_config import NightConfig
from pairweave.transforms.known_pairs import NO_IDS, IdSet

_GIVEN = {*ScoredCorpus.model_fields, *LinkedCorpus.model_fields} - PairCorpus.model_fields.keys()
"""Keys by which a corpus provides more than texts."""


def depends_on_corpus(config: NightConfig) -> bool:
    """Tell whether the rows of a pair depend on the corpus that it was read from."""
    parts = (config.values, *config.own)
    return any(part.get(key) for part in parts for key in _GIVEN) or any(
        part.get("inline_tags") == "index" for part in parts
    )


def to_remake(
    places: Places,
    rows: tuple[str, Sequence[Entry]],
    gone: Collection[str],
    arriving: Collection[str],
) -> tuple[IdSet, set[str]]:
    """Return the pairs to make anew, and the keys of the input entries that still have them.

    A pair whose corpus has new files tonight keeps its row, so that not all pairs of a file are
    made anew whenever it changes.

    Args:
        places: The provenance of the table.
        rows: Name and files of the table of the job's rows.
        gone: Keys of input entries that are gone.
        arriving: Corpora that have new files tonight.
    """
    going = withdrawn(places, gone, NO_IDS, Places(places.table, ()))
    names = pa.array(sorted(arriving), pa.string())
    moving = pa.array(list(going.corpora), pa.string())
    parts: list[IdSet] = []
    main, entries = rows
    for entry in entries:
        held = tables.read_rows(places.table, main, entry, ["id", "corpus"])
        lost = going.pairs.has(held.column("id")) | pc.is_in(held.column("id"), moving).to_numpy()
        held = held.filter(pa.array(lost & ~pc.is_in(held.column("corpus"), names).to_numpy()))
        without = [
            row["id"]
            for row in held.select(["id", "corpus"]).to_pylist()
            if row["corpus"] not in going.corpora.get(row["id"], ())
        ]
        parts.append(IdSet.of(pa.array(without, pa.string())))
    remade = IdSet.joined(parts)
    return remade, _contents(places, remade) - set(gone)


def _contents(places: Places, pairs: IdSet) -> set[str]:
    keys: set[str] = set()
    for rows in places.parts(["id", "content"]) if len(pairs) else ():
        there = rows.filter(pa.array(pairs.has(rows.column("id"))))
        keys.update(there.column("content").unique().to_pylist())
    return keys
