"""The sums of a run's receipts, on which the manifest, the card and the report are based.

Sums of parts of a run can be added, in any order. They are small, whereas the receipts of a large
run do not fit into memory.
"""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pairweave.transforms.counts.histograms import Bars
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output.unit_counts import unpack_reasons, unpack_units

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True, order=True)
class ShardFacts:
    """Facts about a single shard.

    Attributes:
        shard: Its number.
        rows: Its rows, kept and rejected.
        reasons: The reasons why some of them were rejected.
        model: Digest of the model that aligned it, if its receipt names one.
    """

    shard: int
    rows: int
    reasons: frozenset[str]
    model: str | None


@dataclasses.dataclass(frozen=True)
class ReceiptSums:
    """The sums of receipts.

    Attributes:
        kept: Kept rows.
        kept_by_corpus: Kept rows by corpus.
        rejected: Rejected rows by (corpus, stage, reason).
        counts: Counts of the job.
        units: Rows by unit, int64 ``[unit, (kept, rejected)]``.
        unit_reasons: Rejected rows by reason and unit, int64 ``[unit]``.
        files: Entries of the shards' files.
        shards: Facts about each shard.
        read: The receipt of each unit, by its number.
        histograms: Number of values in each bar, by (histogram, group, bar).
        tag_shapes: Shapes of the drawn tags, by class.
    """

    kept: int
    kept_by_corpus: Counter[str]
    rejected: Counter[tuple[str, str, str]]
    counts: Counter[str]
    units: np.ndarray
    unit_reasons: Mapping[str, np.ndarray]
    files: list[Json]
    shards: list[ShardFacts]
    read: dict[int, Json]
    histograms: Counter[tuple[str, str, int]]
    tag_shapes: Counter[str] = dataclasses.field(default_factory=Counter)

    @property
    def rows(self) -> int:
        """Return the rows in all shards."""
        return sum(shard.rows for shard in self.shards)

    @property
    def bars(self) -> Bars:
        """Return the bars of all histograms by name and group, sorted."""
        histograms: Bars = {}
        for name, group, bar in sorted(self.histograms):
            bars = histograms.setdefault(name, {}).setdefault(group, [])
            bars += [0] * (bar + 1 - len(bars))
            bars[bar] = self.histograms[name, group, bar]
        return histograms

    @property
    def reasons(self) -> Counter[str]:
        """Return how many rows were rejected for each reason."""
        reasons: Counter[str] = Counter()
        for (_, _, reason), rows in self.rejected.items():
            reasons[reason] += rows
        return reasons

    @property
    def stages(self) -> dict[str, set[str]]:
        """Return the stages in which rows were rejected for each reason."""
        stages: dict[str, set[str]] = defaultdict(set)
        for _, stage, reason in self.rejected:
            stages[reason].add(stage)
        return stages


def no_sums(units: int) -> ReceiptSums:
    """Return the sums of no receipts, for a plan with this many units."""
    none = np.zeros((units, 2), np.int64)
    return ReceiptSums(0, Counter(), Counter(), Counter(), none, {}, [], [], {}, Counter())


def sum_receipts(
    receipts: Iterable[Json], units: int | None, read: Mapping[int, Json] | None = None
) -> ReceiptSums:
    """Add up receipts that were checked.

    Args:
        receipts: Receipts of shards.
        units: Units in the plan; None to leave out the counts by unit.
        read: Receipts of units, by their number.

    Raises:
        WorkerError: A receipt counts rows of a unit that is not in the plan.
    """
    kept = 0
    sums = no_sums(units or 0)
    reasons: dict[str, np.ndarray] = {}
    for receipt in receipts:
        kept += receipt["kept"]
        sums.kept_by_corpus.update(receipt["kept_by_corpus"])
        sums.counts.update(receipt["counts"])
        for item in receipt["rejected"]:
            sums.rejected[item["corpus"], item["stage"], item["reason"]] += item["rows"]
        sums.tag_shapes.update(receipt.get("tag_shapes", {}))
        for name, groups in receipt.get("histograms", {}).items():
            for group, bars in groups.items():
                rows_of_bars = {(name, group, bar): rows for bar, rows in enumerate(bars) if rows}
                sums.histograms.update(rows_of_bars)
        sums.files.extend(receipt["files"])
        sums.shards.append(_facts(receipt))
        if units is not None:
            _add_units(sums.units, reasons, receipt)
    return dataclasses.replace(sums, kept=kept, unit_reasons=reasons, read=dict(read or {}))


def _add_units(sums: np.ndarray, reasons: dict[str, np.ndarray], receipt: Json) -> None:
    counted = unpack_units(receipt["units"])
    by_reason = unpack_reasons(receipt.get("unit_reasons", []))
    last = max(int(rows[:, 0].max(initial=-1)) for rows in (counted, *by_reason.values()))
    if last >= len(sums):
        raise WorkerError(
            f"the receipt of shard {receipt['shard']} counts rows of unit {last}, which is not in "
            "the plan"
        )
    np.add.at(sums, counted[:, 0], counted[:, 1:])
    for reason, entries in by_reason.items():
        column = reasons.setdefault(reason, np.zeros(len(sums), np.int64))
        np.add.at(column, entries[:, 0], entries[:, 1])


def _facts(receipt: Json) -> ShardFacts:
    reasons = frozenset(item["reason"] for item in receipt["rejected"])
    return ShardFacts(receipt["shard"], receipt["rows"], reasons, receipt.get("model"))


def add_sums(several: Iterable[ReceiptSums]) -> ReceiptSums:
    """Add the sums of parts of one run, in any order; there must be at least one."""
    parts = list(several)
    total = no_sums(len(parts[0].units))
    reasons: dict[str, np.ndarray] = {}
    for part in parts:
        total.kept_by_corpus.update(part.kept_by_corpus)
        total.rejected.update(part.rejected)
        total.counts.update(part.counts)
        total.histograms.update(part.histograms)
        total.tag_shapes.update(part.tag_shapes)
        total.units[:] += part.units
        for reason, column in part.unit_reasons.items():
            reasons[reason] = reasons[reason] + column if reason in reasons else column
        total.files.extend(part.files)
        total.shards.extend(part.shards)
        total.read.update(part.read)
    total.files.sort(key=lambda entry: str(entry["name"]))
    total.shards.sort(key=lambda shard: shard.shard)
    return dataclasses.replace(total, kept=sum(part.kept for part in parts), unit_reasons=reasons)
