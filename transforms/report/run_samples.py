"""A few rows of a finished run to look at, from at most three shards.

Ids are hashes, so the first rows by id are a fair sample of a run, and the same for every run of
the same bytes.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.ids import pair_keys
from pairweave.transforms.kernels.sampling import STEP_PREVIEW, draw
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.receipt_sums import ReceiptSums
from pairweave.transforms.report.border_samples import border_samples
from pairweave.transforms.report.sample_groups import Group, choose

MAX_SHARDS = 3
BATCH_ROWS = 1_024
"""Number of rows to read at once; few, because only the first rows of a shard may be needed."""
FILTER = "filter"
"""The job whose rules have borders."""

Row = dict[str, Any]
Json = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Samples:
    """The rows of a run that a report shows.

    Attributes:
        kept: Rows of the shards, in groups.
        rejected: Rows of the rejects, by reason.
        borders: Rows at the border of each rule of ``filter`` (`border_samples`).
    """

    kept: Sequence[Group]
    rejected: dict[str, list[Row]]
    borders: Sequence[Json] = ()


def gather(run: FinishedRun, sums: ReceiptSums, kept: int = 24, each_reason: int = 3) -> Samples:
    """Read a report's samples.

    Args:
        run: The run; its manifest may be a draft.
        sums: The sums of its receipts.
        kept: Maximum number of kept rows, of different pairs, besides extremes.
        each_reason: Maximum number of rejected rows for each reason.

    Raises:
        WorkerError: A shard cannot be read.
    """
    rejected = _rejected(run, sums, each_reason)
    borders = _borders(run, sums) if run.job == FILTER else ()
    first = first_kept(run, kept)
    return Samples(choose(first, _shown_shards(run)) if first else [], rejected, borders)


def _shown_shards(run: FinishedRun) -> Iterator[pa.Table]:
    """Yield a few shards, without rows that are shown only if there are no better ones."""
    for name in run.filled[:MAX_SHARDS]:
        rows = run.table(name)
        better = rows.filter(pc.invert(_is_plain(rows)))
        yield better if better.num_rows else rows


def _borders(run: FinishedRun, sums: ReceiptSums) -> Sequence[Json]:
    data = [run.table(name) for name in run.filled[:MAX_SHARDS]]
    rejects = [run.table(run.rejects_name(n)) for n in sorted(_covering_shards(sums))]
    return border_samples(run.settings, data, rejects)


def first_kept(run: FinishedRun, count: int) -> list[Row]:
    """Return the first kept rows by id, of different pairs; tagged rows where there are any.

    Raises:
        WorkerError: A shard cannot be read.
    """
    preferred: list[Row] = []
    others: list[Row] = []
    seen: set[str] = set()
    for batch in run.batches(names=run.filled[:MAX_SHARDS], batch_rows=BATCH_ROWS):
        plain = _is_plain(batch)
        if len(others) < count:
            others += batch.filter(plain).slice(0, count - len(others)).to_pylist()
        for row in batch.filter(pc.invert(plain)).to_pylist():
            if row["id"] not in seen:
                seen.add(row["id"])
                preferred.append(row)
            if len(preferred) == count:
                return preferred
    return preferred or others


def first_rows(run: FinishedRun, count: int) -> list[Row]:
    """Return the texts and languages of the first rows of the first shard with any.

    Raises:
        WorkerError: The shard cannot be read.
    """
    rows = [run.table(name).slice(0, count) for name in run.filled[:1]]
    wanted = ("source", "target", "masked", "source_lang", "target_lang")
    return [
        row
        for table in rows
        for row in table.select([name for name in wanted if name in table.schema.names]).to_pylist()
    ]


def first_pairs(run: FinishedRun, count: int) -> dict[str, list[Row]]:
    """Return all rows of the first pairs by id, by id.

    Args:
        run: The run.
        count: Maximum number of pairs.

    Raises:
        WorkerError: A shard cannot be read.
    """
    rows_by_id: dict[str, list[Row]] = {}
    for row in run.rows(names=run.filled):
        if row["id"] not in rows_by_id and len(rows_by_id) == count:
            return rows_by_id
        rows_by_id.setdefault(row["id"], []).append(row)
    return rows_by_id


def drawn_kept(run: FinishedRun, count: int, seed: int) -> list[Row]:
    """Return kept rows of different pairs, drawn by seed; tagged rows where there are any.

    Raises:
        WorkerError: A shard cannot be read.
    """
    names = run.filled
    order = _drawn_order(np.arange(len(names), dtype=np.uint64), seed)
    tables = [run.table(names[shard]) for shard in order[:MAX_SHARDS].tolist()]
    if not tables:
        return []
    return drawn_rows(pa.concat_tables(tables), count, seed)


def drawn_from_all(run: FinishedRun, count: int, seed: int) -> list[Row]:
    """Return tagged rows of different pairs, drawn by seed from as many shards as necessary.

    Raises:
        WorkerError: A shard cannot be read.
    """
    names = run.filled
    drawn: list[Row] = []
    for shard in _drawn_order(np.arange(len(names), dtype=np.uint64), seed).tolist():
        if len(drawn) == count:
            break
        rows = run.table(names[shard])
        tagged = rows.filter(pc.invert(_is_plain(rows)))
        drawn += drawn_rows(tagged, count - len(drawn), seed)
    return drawn


def drawn_rows(rows: pa.Table, count: int, seed: int) -> list[Row]:
    """Return some rows of a table, of different pairs, drawn by seed; tagged ones if there are any.

    Args:
        rows: A table with the column ``id``.
        count: Maximum number of rows.
        seed: Another seed draws other rows.
    """
    tagged = rows.filter(pc.invert(_is_plain(rows)))
    rows = tagged if tagged.num_rows else rows
    taken: dict[str, int] = {}
    ids = rows.column("id")
    for row in _drawn_order(pair_keys(ids), seed).tolist():
        if len(taken) == count:
            break
        taken.setdefault(ids[row].as_py(), row)
    return rows.take(pa.array(taken.values(), type=pa.int64())).to_pylist()


def _drawn_order(keys: np.ndarray, seed: int) -> np.ndarray:
    draws = np.fromiter(
        (draw(np.uint64(seed), key, STEP_PREVIEW, np.uint64(0)) for key in keys),
        dtype=np.uint64,
        count=len(keys),
    )
    return np.argsort(draws, kind="stable")


def _is_plain(rows: pa.RecordBatch | pa.Table) -> pa.Array | pa.ChunkedArray:
    """Flag rows that are shown only if there are no better ones.

    For each pair, the suggestions of one method are preferred. The last digit of the pair's id
    selects the method, so that a few pairs show several methods.
    """
    if "method" in rows.schema.names:
        aligned = pc.match_substring_regex(rows.column("id"), "[02468ace]$")
        return pc.not_equal(rows.column("method"), pc.if_else(aligned, "alignment", "random"))
    if "kind" not in rows.schema.names:
        return pa.array(np.zeros(rows.num_rows, dtype=np.bool_))
    return pc.equal(rows.column("kind"), "plain")


def _rejected(run: FinishedRun, sums: ReceiptSums, each_reason: int) -> dict[str, list[Row]]:
    samples: dict[str, list[Row]] = {}
    for shard in sorted(_covering_shards(sums)):
        name = run.rejects_name(shard)
        reasons = run.table(name, ["reason"]).column("reason").to_pylist()
        wanted: list[int] = []
        room: dict[str, int] = {}
        for row, reason in enumerate(reasons):
            left = room.setdefault(reason, each_reason - len(samples.get(reason, [])))
            if left:
                room[reason] = left - 1
                wanted.append(row)
        for sample in run.table(name).take(pa.array(wanted, type=pa.int64())).to_pylist():
            samples.setdefault(sample["reason"], []).append(sample)
    return dict(sorted(samples.items()))


def _covering_shards(sums: ReceiptSums) -> list[int]:
    """Return up to three shards with rejects, each with the most reasons that earlier ones lack."""
    reasons = {shard.shard: shard.reasons for shard in sums.shards if shard.reasons}
    chosen: list[int] = []
    covered: set[str] = set()
    while len(chosen) < MAX_SHARDS and reasons:
        best = min(reasons, key=lambda shard: (-len(reasons[shard] - covered), shard))
        covered |= reasons.pop(best)
        chosen.append(best)
    return chosen
