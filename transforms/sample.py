"""The sample that an aligner is fitted on: picked by hash, the same on every run."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from transforms import arrow_coder, ids, schemas
from transforms.kernels import sampling
from transforms.shards import merge_rows, pairs_of

arrow_coder.register()


def sample_share(rows: int, wanted: int) -> float:
    """Return the share of rows to pick so that about the wanted number comes out."""
    return 1.0 if rows <= wanted else wanted / rows


def sample_rows(batch: pa.RecordBatch, share: float, seed: int) -> Iterator[tuple[int, pa.Table]]:
    """Pick the kept rows of a batch whose hash lies under the share.

    Args:
        batch: Rows (`schemas.ROWS`).
        share: Wanted share, in (0, 1].
        seed: The run's seed.

    Yields:
        The picked rows under key 0, if there are any; of an empty batch none, so that the key is
        there where no row is picked.
    """
    kept = pa.Table.from_batches([batch]).filter(batch.column("reason").is_null())
    if kept.num_rows and share < 1:
        keys = ids.pair_keys(kept.column("id"))
        chosen = sampling.picked(np.uint64(seed), keys, sampling.STEP_FIT_SAMPLE, np.float64(share))
        kept = kept.filter(pa.array(chosen))
    if kept.num_rows or not batch.num_rows:
        yield 0, kept


def gather_sample(parts: Iterable[pa.Table]) -> pa.Table:
    """Join the parts of a sample, whatever their order: `schemas.PAIRS`, by id, each id once."""
    parts = list(parts)
    if not parts:
        return schemas.PAIRS.empty_table()
    kept, _ = merge_rows(parts)
    return pairs_of(kept)
