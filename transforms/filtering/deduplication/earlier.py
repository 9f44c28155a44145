"""Overlap with an earlier corpus: compare digests of pairs, shard by shard.

Digests have 128 bits: with 10^9 pairs and the same number of earlier ones, the probability that two
different pairs collide is 10^-20. The digests of a shard are divided into parts of about
`PART_PAIRS`, one file each, so memory use does not depend on the size of the earlier corpus.
"""

import dataclasses
import io
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import xxhash

from pairweave.transforms.errors import WorkerError, unreadable
from pairweave.transforms.filtering.deduplication.duplicates import (
    masked_forms,
    masked_shard_numbers,
    rows_with_both_texts,
)
from pairweave.transforms.filtering.filtered import with_reason
from pairweave.transforms.filtering.scored_shards import Place
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage import files

PART_PAIRS = 1 << 20

DIGESTS = pa.schema([pa.field("high", pa.uint64()), pa.field("low", pa.uint64())])


@dataclasses.dataclass(frozen=True)
class Division:
    """The division of digests into files.

    Attributes:
        place: Directory of the files.
        shards: Number of shards of the run.
        parts: Number of parts of each shard.
        masked: Whether addresses and numbers are ignored.
    """

    place: Place
    shards: int
    parts: int
    masked: bool

    def path(self, part: int) -> str:
        """Return the path of a part, given its number among the parts of all shards."""
        return self.place.path(f"earlier-{part:06d}.npy")


def parts_of(pairs: int, shards: int) -> int:
    """Return the number of parts per shard for a number of earlier pairs."""
    return max(1, -(-pairs // (shards * PART_PAIRS)))


def digests(pairs: pa.Table | pa.RecordBatch, *, masked: bool) -> np.ndarray:
    """Return digests of pairs, uint64 ``[2, pair]``.

    Args:
        pairs: Rows with the texts and languages of `transforms.schemas.PAIRS`; no text is null.
        masked: Whether addresses and numbers are ignored.
    """
    joined = b"".join(xxhash.xxh3_128_digest(form) for form in masked_forms(pairs, masked=masked))
    return np.frombuffer(joined, ">u8").astype(np.uint64).reshape(-1, 2).T.copy()


def divide(batches: Iterable[pa.RecordBatch], division: Division) -> Iterator[tuple[int, pa.Table]]:
    """Yield the digests of readable rows (`schemas.ROWS`), by part (DIGESTS rows)."""
    held: list[np.ndarray] = []
    for batch in batches:
        rows = rows_with_both_texts(batch)
        if not len(rows):
            continue
        table = batch.take(pa.array(rows))
        shards = masked_shard_numbers(table, division.shards).astype(np.uint64)
        held.append(np.concatenate([shards[None], digests(table, masked=division.masked)]))
        if sum(each.shape[1] for each in held) >= PART_PAIRS:
            yield from _divided(held, division)
            held = []
    if held:
        yield from _divided(held, division)


def _divided(held: list[np.ndarray], division: Division) -> Iterator[tuple[int, pa.Table]]:
    shards, high, low = np.concatenate(held, axis=1)
    parts = shards * np.uint64(division.parts) + low % np.uint64(division.parts)
    order = np.argsort(parts, kind="stable")
    partitions, begins = np.unique(parts[order], return_index=True)
    for part, rows in zip(partitions.tolist(), np.split(order, begins[1:]), strict=True):
        yield int(part), pa.table({"high": high[rows], "low": low[rows]}, schema=DIGESTS)


def write(element: tuple[int, Iterable[pa.Table]], division: Division) -> int:
    """Write the distinct digests of a part; return its number."""
    part, tables = element
    columns = pa.concat_tables(tables)
    both = np.stack([columns.column(name).to_numpy() for name in DIGESTS.names])
    both = both[:, np.lexsort((both[1], both[0]))]
    new = np.ones(both.shape[1], np.bool_)
    new[1:] = (both[:, 1:] != both[:, :-1]).any(axis=0)
    buffer = io.BytesIO()
    np.save(buffer, both[:, new])
    files.write_bytes(division.path(part), buffer.getvalue())
    return part


def reject(rows: pa.Table, shard: int, division: Division, written: frozenset[int]) -> pa.Table:
    """Mark pairs that occur in the earlier corpus as rejected.

    Args:
        rows: SCORED rows (`filtered.SCORED`) of a shard.
        shard: Its number.
        division: How digests are divided.
        written: Parts that have digests.

    Raises:
        WorkerError: A file of digests cannot be read.
    """
    open_rows = np.flatnonzero(rows.column("reason").is_null().to_numpy())
    own = digests(rows.take(pa.array(open_rows)), masked=division.masked)
    are_known = np.zeros(len(open_rows), np.bool_)
    for number in range(division.parts):
        part = shard * division.parts + number
        if part in written:
            some = np.flatnonzero(own[1] % np.uint64(division.parts) == number)
            are_known[some] = _are_among(own[:, some], _read(division.path(part)))
    places = open_rows[are_known]
    return with_reason(rows, places, Reject.IN_EARLIER_CORPUS, [None] * len(places))


def _read(path: str) -> np.ndarray:
    try:
        return np.load(io.BytesIO(files.read_bytes(path)), allow_pickle=False)
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        raise WorkerError(f"{path}: cannot be read: {error}") from error


def _are_among(own: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Tell which digests are known, bool ``[pair]``."""
    both = np.concatenate([known, own], axis=1)
    order = np.lexsort((both[1], both[0]))  # stable: known digests first
    same = np.zeros(len(order), np.bool_)
    same[1:] = (both[:, order][:, 1:] == both[:, order][:, :-1]).all(axis=0)
    starts = np.flatnonzero(~same)
    lead = np.repeat(order[starts], np.diff(np.append(starts, len(order))))
    known_in_order = np.zeros(len(order), np.bool_)
    known_in_order[order] = lead < known.shape[1]
    return known_in_order[known.shape[1] :]
