"""Duplicates after masking: pairs that are equal but for addresses and numbers.

The shuffle is keyed by the masked pair, so that all copies meet in one shard. There the best stays,
once the pairs are scored.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import xxhash

from pairweave.transforms import ids
from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.filtering import scripts
from pairweave.transforms.kernels.filtering.marks import find_marks, mask_texts

_SEPARATOR = b"\x1f"


def masked_keys(pairs: pa.Table | pa.RecordBatch) -> np.ndarray:
    """Return a key for each pair that addresses and numbers do not change.

    Args:
        pairs: With the texts and languages of `transforms.schemas.PAIRS`; no text is null.

    Returns:
        xxh3-64 of languages and masked texts, joined by U+001F, uint64 ``[pair]``.
    """
    forms = masked_forms(pairs, masked=True)
    return np.fromiter(map(xxhash.xxh3_64_intdigest, forms), np.uint64, len(pairs.column("source")))


def masked_forms(pairs: pa.Table | pa.RecordBatch, *, masked: bool) -> Iterator[bytes]:
    """Yield languages and texts of each pair, joined by U+001F.

    Args:
        pairs: As for `masked_keys`.
        masked: Whether addresses and numbers are replaced; if not, texts are as they were read.
    """
    cut = _masked if masked else _plain
    sides = [cut(pairs.column(side)) for side in ("source", "target")]
    tags = [pairs.column(f"{side}_lang").cast(pa.string()).to_pylist() for side in _LANGUAGES]
    heads: dict[tuple[str, str], bytes] = {}
    for source, target, *languages in zip(*sides, *tags, strict=True):
        pair = (languages[0], languages[1])
        head = heads.get(pair)
        if head is None:
            head = heads[pair] = _SEPARATOR.join([*(tag.encode() for tag in pair), b""])
        yield b"%b%b\x1f%b" % (head, source, target)


_LANGUAGES = ("source", "target")


def _masked(column: pa.ChunkedArray | pa.Array) -> list[bytes]:
    texts = texts_of(column)
    data, offsets = mask_texts(*texts, find_marks(*texts, scripts.classes()))
    whole, bounds = data.tobytes(), offsets.tolist()
    return [whole[start:end] for start, end in itertools.pairwise(bounds)]


def _plain(column: pa.ChunkedArray | pa.Array) -> list[bytes]:
    return column.cast(pa.binary()).to_pylist()


def whole_rows(batch: pa.RecordBatch) -> np.ndarray:
    """Return the places of rows (`schemas.ROWS`) that have both texts, int64."""
    whole = pa.compute.and_(batch.column("source").is_valid(), batch.column("target").is_valid())
    return np.flatnonzero(whole.to_numpy(zero_copy_only=False))


def masked_shard_numbers(batch: pa.RecordBatch, shards: int) -> np.ndarray:
    """Return the shard of each row by its masked pair, int64 ``[row]``.

    A row without both texts is placed as any job places it (`transforms.ids.shard_numbers`).
    """
    numbers = ids.shard_numbers(batch, shards)
    rows = whole_rows(batch)
    if len(rows):
        keys = masked_keys(batch if len(rows) == len(numbers) else batch.take(pa.array(rows)))
        numbers[rows] = ((keys >> np.uint64(32)) * np.uint64(shards)) >> np.uint64(32)
    return numbers


def worse_copies(pairs: pa.Table, scores: np.ndarray) -> np.ndarray:
    """Find pairs of which a copy is there that scores better, or as well and is named first.

    Args:
        pairs: Pairs (with the columns of `transforms.schemas.PAIRS`).
        scores: float32 ``[pair]``.

    Returns:
        The row of the copy that stays, int64 ``[pair]``; -1 for a pair that stays itself. Of
        copies with equal scores the first by the names of corpus and file, line and id stays,
        wherever it stands in the input.
    """
    stays = np.full(pairs.num_rows, -1, np.int64)
    if not pairs.num_rows:
        return stays
    order = pa.table(
        {
            "key": masked_keys(pairs),
            "score": -scores.astype(np.float64),
            **{name: pairs.column(name) for name in ("corpus", "file", "line", "id")},
        }
    )
    places = pa.compute.sort_indices(
        order, sort_keys=[(name, "ascending") for name in order.column_names]
    ).to_numpy()
    keys = order.column("key").to_numpy()[places]
    begins = np.ones(len(keys), np.bool_)
    begins[1:] = keys[1:] != keys[:-1]
    first = places[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    stays[places[~begins]] = first[~begins]
    return stays
