"""Near-duplicates: pairs that share most of their shingles, found by MinHash with banding.

A signature has `VALUES` minima (`transforms.kernels.filtering.minhash`), computed on the masked
texts with case folded and symbols removed. It is divided into bands of equal size; pairs with an
equal band share a bucket (Broder 1997; Leskovec, Rajaraman and Ullman, Mining of Massive Datasets,
section 3.4). Two pairs with Jaccard index s share a bucket with probability
1 - (1 - s^rows)^bands. `bands_of` chooses the largest number of rows that finds at least
`MIN_RECALL` of the pairs at the threshold:

========= ===== ==== ============================================================
threshold bands rows probability at threshold - 0.2, - 0.1, threshold, + 0.1
========= ===== ==== ============================================================
0.7          25    5 0.55, 0.87, 0.99, 1.00
0.8          18    7 0.40, 0.79, 0.99, 1.00
0.9          10   12 0.13, 0.51, 0.96, 1.00
========= ===== ==== ============================================================

Every pair of a bucket is compared with the `LEADERS` best pairs of the bucket: those with the
highest score, and of equal scores the first by corpus name, file name, line and id. It is a
near-duplicate if one of these is better and the Jaccard index estimated from their signatures
reaches the threshold; the standard error is about 0.035 at 0.8. Buckets of up to ``LEADERS + 1``
pairs are therefore compared in full, and the cost of a larger one (boilerplate) grows linearly.

Chains: a pair is rejected if it is similar to a better pair, even if that pair is rejected too. So
every rejected pair was compared with a better one; each connected component keeps its best pair,
and every pair that is not similar to a better one. The result depends only on the pairs.
"""

import functools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.filtering import minhash
from pairweave.transforms.kernels.filtering.marks import find_marks, mask_texts
from pairweave.transforms.kernels.sampling import mix64
from pairweave.transforms.kernels.text.utf8 import CODE_POINTS
from pairweave.transforms.text import codepoints

VALUES = 128
"""Number of minima in a signature; the default of `datasketch`."""

MIN_RECALL = 0.95
"""Minimum share of the pairs at the threshold that share a bucket."""

LEADERS = 64
"""Number of pairs of a bucket that its other pairs are compared with."""

_CODE_VALUES = 256

KEYS = pa.schema([pa.field("key", pa.uint64()), pa.field("shard", pa.int32())])
"""A key that occurs in a shard."""

PLACE = ("score", "corpus", "file", "line", "id")
"""Sort keys that put the best pair first; scores are sorted in descending order."""

CANDIDATES = pa.schema(
    [
        pa.field("key", pa.uint64()),
        pa.field("shard", pa.int32()),
        pa.field("row", pa.int32()),
        pa.field("score", pa.float32()),
        pa.field("corpus", pa.string()),
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
        pa.field("id", pa.string()),
        pa.field("codes", pa.binary(VALUES)),
    ]
)
"""A pair in a bucket. ``row`` is its index among the pairs of its shard without a reason."""

COPIES = pa.schema(
    [pa.field("row", pa.int32()), *(CANDIDATES.field(name) for name in PLACE)],
)
"""A near-duplicate, and the better pair that it is similar to."""

_BEST_FIRST = [(name, "descending" if name == "score" else "ascending") for name in PLACE]


@functools.cache
def bands_of(threshold: float) -> tuple[int, int]:
    """Return the number of bands in a signature and of values in a band.

    >>> bands_of(0.8)
    (18, 7)
    """
    for rows in range(VALUES, 1, -1):
        bands = VALUES // rows
        if meeting(threshold, bands, rows) >= MIN_RECALL:
            return bands, rows
    return VALUES, 1


def meeting(jaccard: float, bands: int, rows: int) -> float:
    """Return the probability that two pairs with a given Jaccard index share a bucket."""
    return float(1 - (1 - jaccard**rows) ** bands)


def least_equal(threshold: float) -> int:
    """Return the number of codes of two signatures that must agree; 1 in 256 agrees by chance."""
    return int(np.ceil(VALUES * (threshold + (1 - threshold) / _CODE_VALUES) - 1e-9))


def signatures(pairs: pa.Table, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the bucket keys and codes by which near-duplicates are found.

    Args:
        pairs: Rows with the texts and languages of `transforms.schemas.PAIRS`; no text is null.
        threshold: Minimum Jaccard index of near-duplicates.

    Returns:
        Keys of the buckets, uint64 ``[band, pair]``, and codes, uint8 ``[pair, VALUES]``. Languages
        are part of a key. A pair without a letter or digit has keys of 0, which form no bucket.
    """
    sides = [_masked(pairs.column(side)) for side in ("source", "target")]
    values, counts = minhash.signatures(*sides[0], *sides[1], _folded(), *_permutations())
    keys = minhash.band_keys(values, *bands_of(threshold))
    keys = np.maximum(keys ^ _language_keys(pairs), np.uint64(1))
    keys[:, counts == 0] = 0
    return keys, minhash.codes(values)


def _masked(column: pa.ChunkedArray | pa.Array) -> tuple[np.ndarray, np.ndarray]:
    texts = texts_of(column)
    data, offsets = mask_texts(*texts, find_marks(*texts, codepoints.all_properties()))
    return data, offsets


def _language_keys(pairs: pa.Table) -> np.ndarray:
    tags = [pairs.column(f"{side}_lang").cast(pa.string()) for side in ("source", "target")]
    joined = pc.binary_join_element_wise(*tags, "\x1f").to_pylist()
    known = {tag: xxhash.xxh3_64_intdigest(tag.encode()) for tag in set(joined)}
    return np.array([known[tag] for tag in joined], np.uint64)


@functools.cache
def _permutations() -> tuple[np.ndarray, np.ndarray]:
    """Return factors and terms of the signature's permutations, equal on every machine."""
    drawn = [int(mix64(np.uint64(number + 1))) for number in range(VALUES)]
    factors = np.array([each >> 32 | 1 for each in drawn], np.uint32)
    return factors, np.array([each & 0xFFFFFFFF for each in drawn], np.uint32)


@functools.cache
def _folded() -> np.ndarray:
    """Return the replacement of each code point, its folded form or a space, uint32.

    Letters, their marks and digits are kept; U+0001 to U+0007 represent masked text.
    """
    table = np.full(CODE_POINTS, minhash.SPACE, np.uint32)
    for run in codepoints.code_point_runs(r"\p{L}\p{M}\p{N}\u0001-\u0007"):
        table[slice(*run)] = codepoints.folds()[slice(*run)]
    table.flags.writeable = False
    return table


def key_tables(keys: np.ndarray, shard: int, partitions: int) -> dict[int, pa.Table]:
    """Return the keys of a shard, each once or twice, by partition.

    Args:
        keys: From `signatures`.
        shard: The shard's number.
        partitions: Number of partitions.

    Returns:
        KEYS rows by partition. A key that several pairs of the shard have occurs twice, because
        it is known to be a bucket.
    """
    distinct, times = np.unique(keys[keys != 0], return_counts=True)
    every = np.sort(np.concatenate([distinct, distinct[times > 1]]))
    return _divided(pa.table({"key": every}), every, partitions, shard)


def _divided(table: pa.Table, keys: np.ndarray, partitions: int, shard: int) -> dict[int, pa.Table]:
    """Return rows by the partition of their keys, with the shard's number."""
    shards = pa.array(np.full(len(keys), shard, np.int32))
    table = table.append_column("shard", shards)
    numbers = ((keys >> np.uint64(32)) * np.uint64(partitions)) >> np.uint64(32)
    order = np.argsort(numbers, kind="stable")
    table = table.take(pa.array(order))
    bounds = np.searchsorted(numbers[order], np.arange(partitions + 1, dtype=np.uint64))
    return {
        part: table.slice(bounds[part], bounds[part + 1] - bounds[part])
        for part in range(partitions)
        if bounds[part + 1] > bounds[part]
    }


def repeated_keys(tables: list[pa.Table]) -> dict[int, pa.Table]:
    """Return the keys of a partition that more than one pair has, by shard (KEYS rows)."""
    keys = np.concatenate([table.column("key").to_numpy() for table in tables])
    shards = np.concatenate([table.column("shard").to_numpy() for table in tables])
    order = np.lexsort((shards, keys))
    keys, shards = keys[order], shards[order]
    same = keys[1:] == keys[:-1]
    common = np.zeros(len(keys), np.bool_)
    common[1:] |= same
    common[:-1] |= same
    common[1:] &= ~(same & (shards[1:] == shards[:-1]))
    repeated = pa.table({"key": keys[common], "shard": shards[common]}, schema=KEYS)
    return {
        shard: repeated.filter(pc.equal(repeated.column("shard"), shard))
        for shard in np.unique(shards[common]).tolist()
    }


def candidates(
    pairs: pa.Table,
    keys: np.ndarray,
    codes: np.ndarray,
    repeated: np.ndarray,
    shard: int,
    partitions: int,
) -> dict[int, pa.Table]:
    """Return the pairs of a shard that share a bucket with others, by partition.

    Args:
        pairs: Rows with the columns `PLACE`.
        keys: From `signatures`.
        codes: From `signatures`.
        repeated: Keys of buckets with several pairs, uint64.
        shard: The shard's number.
        partitions: Number of partitions.
    """
    bands, rows = np.nonzero(np.isin(keys, repeated))
    every = keys[bands, rows]
    table = pairs.select(PLACE).take(pa.array(rows))
    data = np.ascontiguousarray(codes[rows])
    for name, column in (
        ("key", pa.array(every, pa.uint64())),
        ("row", pa.array(rows, pa.int32())),
        ("codes", pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(VALUES), len(rows), [None, pa.py_buffer(data)]
        )),
    ):  # fmt: skip
        table = table.append_column(name, column)
    divided = _divided(table, every, partitions, shard)
    return {part: rows.select(CANDIDATES.names).cast(CANDIDATES) for part, rows in divided.items()}


def best_of_buckets(parts: list[pa.Table]) -> pa.Table:
    """Return the `LEADERS` best pairs of each bucket, sorted by key and best first.

    Args:
        parts: CANDIDATES rows, including the leaders returned by earlier calls.
    """
    rows = pa.concat_tables(parts)
    order = pc.sort_indices(rows, sort_keys=[("key", "ascending"), *_BEST_FIRST])
    rows = rows.take(order)
    keys = rows.column("key").to_numpy()
    begins = np.searchsorted(keys, keys, side="left")
    return rows.filter(pa.array(np.arange(len(keys)) - begins < LEADERS)).combine_chunks()


def copies_of(rows: pa.Table, leaders: pa.Table, threshold: float) -> pa.Table:
    """Return the near-duplicates among the pairs of some buckets.

    Args:
        rows: CANDIDATES rows.
        leaders: Best pairs of all their buckets (`best_of_buckets`).
        threshold: Minimum Jaccard index.

    Returns:
        COPIES rows, with ``shard`` as an additional last column.
    """
    heads = leaders.column("key").to_numpy()
    keys = rows.column("key").to_numpy()
    begins = np.searchsorted(heads, keys, side="left").astype(np.int64)
    ends = np.searchsorted(heads, keys, side="right").astype(np.int64)
    ends = np.minimum(ends, _own_places(rows, leaders, ends))
    least = least_equal(threshold)
    leader_of = minhash.first_alike(_codes(rows), _codes(leaders), begins, ends, least)
    alike = np.flatnonzero(leader_of >= 0)
    better = leaders.select(PLACE).take(pa.array(leader_of[alike]))
    copies = rows.select(["row", "shard"]).take(pa.array(alike))
    for name in PLACE:
        copies = copies.append_column(COPIES.field(name), better.column(name))
    return copies.select([*COPIES.names, "shard"])


def _own_places(rows: pa.Table, leaders: pa.Table, ends: np.ndarray) -> np.ndarray:
    """Return each pair's index among the leaders, or their number; earlier leaders are better."""
    keys = np.concatenate([each.column("key").to_numpy() for each in (leaders, rows)])
    shards = np.concatenate([each.column("shard").to_numpy() for each in (leaders, rows)])
    numbers = np.concatenate([each.column("row").to_numpy() for each in (leaders, rows)])
    # The sort is stable, so a leader comes right before itself among the rows.
    order = np.lexsort((numbers, shards, keys))
    same = np.logical_and.reduce(
        [each[order][1:] == each[order][:-1] for each in (keys, shards, numbers)]
    )
    places = ends.copy()
    places[order[1:][same] - len(leaders)] = order[:-1][same]
    return places


def _codes(rows: pa.Table) -> np.ndarray:
    column = rows.column("codes").combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else pa.array([], pa.binary(VALUES))
    data = np.frombuffer(column.buffers()[1] or b"", np.uint8)
    first = column.offset * VALUES
    return data[first : first + len(column) * VALUES].reshape(-1, VALUES)


def best_reasons(parts: list[pa.Table]) -> pa.Table:
    """Return each near-duplicate of a shard once, with the best pair it is similar to.

    Args:
        parts: COPIES rows of the shard.
    """
    rows = pa.concat_tables([part.select(COPIES.names) for part in parts])
    order = pc.sort_indices(rows, sort_keys=[("row", "ascending"), *_BEST_FIRST])
    rows = rows.take(order)
    numbers = rows.column("row").to_numpy()
    first = np.ones(len(numbers), np.bool_)
    first[1:] = numbers[1:] != numbers[:-1]
    return rows.filter(pa.array(first))
