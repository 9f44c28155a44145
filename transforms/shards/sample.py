"""The sample that an aligner is fitted on: picked by hash, the same on every run."""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow import arrow_coder
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.kernels import sampling
from pairweave.transforms.shards.merge import merge_rows, pairs_of, require_room

arrow_coder.register()

_EXAMPLES = 100
"""Number of rejected rows that represent a batch without a kept row."""


def sample_share(rows: int, wanted: int) -> float:
    """Return the share of rows to pick for about the wanted number of rows."""
    return 1.0 if rows <= wanted else wanted / rows


def sample_rows(batch: pa.RecordBatch, share: float, seed: int) -> Iterator[tuple[int, pa.Table]]:
    """Pick the kept rows of a batch whose hash is below the share.

    Args:
        batch: Rows (`schemas.ROWS`).
        share: Wanted share, in (0, 1].
        seed: The run's seed.

    Yields:
        The picked rows under key 0, if there are any; for an empty batch no rows, so that the key
        exists even if no row is picked; for a batch without a kept row some of its rejected rows,
        without their texts, for `why_empty`.
    """
    kept = pa.Table.from_batches([batch]).filter(batch.column("reason").is_null())
    if batch.num_rows and not kept.num_rows:
        yield 0, _without_texts(batch[:_EXAMPLES])
        return
    if kept.num_rows and share < 1:
        keys = ids.pair_keys(kept.column("id"))
        chosen = sampling.picked(np.uint64(seed), keys, sampling.STEP_FIT_SAMPLE, np.float64(share))
        kept = kept.filter(pa.array(chosen))
    if kept.num_rows or not batch.num_rows:
        yield 0, kept


def _without_texts(rows: pa.RecordBatch) -> pa.Table:
    table = pa.Table.from_batches([rows])
    for name in ("source", "target", "translation", "raw", "markup"):
        table = replaced(table, name, pa.nulls(rows.num_rows, table.column(name).type))
    return table


def why_empty(parts: Iterable[pa.Table]) -> str:
    """Return the most frequent reject reason of a sample without pairs, with its first row.

    Returns:
        A clause; empty if no rejected row is known.
    """
    _, rejected = merge_rows(parts)
    reasons = Counter(rejected.column("reason").to_pylist())
    if not reasons:
        return ""
    reason = min(reasons, key=lambda name: (-reasons[name], name))
    rows = rejected.select(["file", "line", "reason", "detail"]).to_pylist()
    places = [(row["file"], row["line"], row["detail"]) for row in rows if row["reason"] == reason]
    file, line, detail = min(places, key=lambda place: place[:2])
    suffix = f": {detail}" if detail else ""
    return f"most often rejected as {reason}, as at {file} line {line}{suffix}"


def gather_sample(
    parts: Iterable[pa.Table],
    purpose: str = "the aligner is fitted on",
    advice: str = "lower --fit_pairs",
) -> pa.Table:
    """Join the parts of a sample, given in any order: `schemas.PAIRS`, by id, each id once.

    Args:
        parts: The parts.
        purpose: The purpose of the sample, for messages.
        advice: Advice if it is too large.

    Raises:
        ConfigError: The sample is larger than a table can hold.
    """
    parts = list(parts)
    if not parts:
        return schemas.PAIRS.empty_table()
    kept, _ = merge_rows(parts)
    require_room(kept, f"the sample that {purpose}", advice)
    return pairs_of(kept)
