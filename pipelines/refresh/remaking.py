"""Pairs whose rows must be made anew because a corpus that they were made from is withdrawn.

If rows depend on the text alone, a row that loses its corpus gets the name of another corpus that
has the pair. If a corpus also gives scores, links or markup, those of the withdrawn corpus would
remain under the name of another, so the files that still have the pair are read again.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.record_parts import LedgerEntry
from pairweave.pipelines.refresh.chain.table_names import Entry
from pairweave.pipelines.refresh.forgetting.pair_places import Places
from pairweave.pipelines.refresh.night_config import gives_more
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.known_pairs import IdSet
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput, ReadLimits


def depends_on_corpus(corpora: Iterable[CorpusInput], gone: Iterable[LedgerEntry]) -> bool:
    """Tell whether the rows of a pair may depend on the corpus that it was read from.

    Args:
        corpora: The corpora of tonight.
        gone: The input files that are gone, perhaps with their corpus.
    """
    return any(map(gives_more, corpora)) or any(entry.gives_more for entry in gone)


def pairs_in(corpus: CorpusInput, limits: ReadLimits) -> IdSet:
    """Read the files of a corpus; return the pairs that the readers accept."""
    return IdSet.of_all(
        batch.filter(pc.and_(batch.column("reason").is_null(), batch.column("id").is_valid()))
        .column("id")
        for unit in make_plan([corpus], limits).units
        for batch in read_unit(unit, limits)
    )  # fmt: skip


def to_remake(
    places: Places,
    rows: tuple[str, Sequence[Entry]],
    gone: Collection[str],
    arriving: Mapping[str, Callable[[], IdSet]],
    *,
    joined: bool,
) -> tuple[IdSet, set[str]]:
    """Return the pairs to make anew, and the keys of the input entries that still have them.

    A pair that its corpus has again in a new file keeps its row, so that not all pairs of a file
    are made anew whenever it changes.

    Args:
        places: The provenance of the table.
        rows: Name and files of the table of the job's rows.
        gone: Keys of input entries that are gone.
        arriving: For each corpus that has new files tonight, what returns the pairs in them.
        joined: Whether a row has the best of what all corpora of its pair give, rather than what
            its own corpus gives.
    """
    lost = _lost(places, gone, arriving)
    parts: list[IdSet] = []
    main, entries = rows
    for entry in entries if lost else ():
        held = tables.read_rows(places.table, main, entry, ["id", "corpus"])
        loses = np.zeros(held.num_rows, np.bool_)
        for corpus, pairs in lost.items():
            own = True if joined else _is(held, corpus)
            loses |= pairs.has(held.column("id")) & own
        parts.append(IdSet.of(held.filter(pa.array(loses)).column("id")))
    remade = IdSet.joined(parts)
    return remade, _contents(places, remade) - set(gone)


def _lost(
    places: Places, gone: Collection[str], arriving: Mapping[str, Callable[[], IdSet]]
) -> dict[str, IdSet]:
    """Return the pairs that lose their last place in a corpus but may be in another, by corpus."""
    keys = pa.array(sorted(gone), pa.string())
    leaving: dict[str, list[IdSet]] = {}
    for rows in places.parts():
        going = rows.filter(pc.is_in(rows.column("content"), keys))
        for corpus, part in _by_corpus(going):
            leaving.setdefault(corpus, []).append(part)
    lost = {corpus: IdSet.joined(parts) for corpus, parts in leaving.items()}
    everywhere = IdSet.joined(lost.values())
    staying: dict[str, list[IdSet]] = {}
    for rows in places.parts():
        stays = ~np.asarray(pc.is_in(rows.column("content"), keys).to_numpy())
        stays &= everywhere.has(rows.column("id"))
        for corpus, part in _by_corpus(rows.filter(pa.array(stays))):
            staying.setdefault(corpus, []).append(part)
    elsewhere = IdSet.joined(part for parts in staying.values() for part in parts)
    for corpus, pairs in lost.items():
        left = pairs.without(IdSet.joined(staying.get(corpus, ())))
        if arriving.keys() <= {corpus}:
            left = left.without(left.without(elsewhere))
        if corpus in arriving and len(left):
            left = left.without(arriving[corpus]())
        lost[corpus] = left
    return {corpus: pairs for corpus, pairs in lost.items() if len(pairs)}


def _by_corpus(rows: pa.Table) -> Iterator[tuple[str, IdSet]]:
    for corpus in rows.column("corpus").unique().to_pylist():
        yield corpus, IdSet.of(rows.filter(pa.array(_is(rows, corpus))).column("id"))


def _is(rows: pa.Table, corpus: str) -> np.ndarray:
    return np.asarray(pc.equal(rows.column("corpus").cast(pa.string()), corpus).to_numpy())


def _contents(places: Places, pairs: IdSet) -> set[str]:
    keys: set[str] = set()
    for rows in places.parts(["id", "content"]) if len(pairs) else ():
        there = rows.filter(pa.array(pairs.has(rows.column("id"))))
        keys.update(there.column("content").unique().to_pylist())
    return keys
