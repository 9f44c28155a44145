"""The kept rows that a report shows: some in their order, and the extremes of a few shards.

Ids are hashes, so the first rows by id are drawn at random, and are the same for the same bytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import chunk_of, fields_of
from pairweave.transforms.kernels.row_counts import distinct_by_row, sums_of_millionths

SCANNED = 50_000
"""Number of rows of a shard among which extremes are searched, the first by id."""

EACH = 8
"""Number of rows for every extreme."""

AT_RANDOM = "At random"
LONGEST, UNSURE, TAGGED = "Longest", "Least confident", "Most tags"

_TEXTS = ("source", "target", "masked")
_SURE = ("confidence", "score")

Row = dict[str, Any]


class Group(NamedTuple):
    """Rows that were chosen for one reason."""

    name: str
    rows: Sequence[Row]


def choose(first: Sequence[Row], shards: Iterable[pa.Table]) -> list[Group]:
    """Return the groups of a page; no pair is in two.

    Args:
        first: The rows that are shown in their order.
        shards: A few shards, one after another, without the rows that must not be shown.
    """
    candidates: dict[str, list[tuple[float, str, Row]]] = {UNSURE: [], TAGGED: [], LONGEST: []}
    for table in shards:
        _look(candidates, table.slice(0, SCANNED), len(first) + len(candidates) * EACH)
    groups = [Group(AT_RANDOM, first)]
    seen = {row["id"] for row in first}
    for name, ranked in candidates.items():
        rows: list[Row] = []
        for _, key, row in sorted(ranked, key=lambda each: each[:2]):
            if key not in seen and len(rows) < EACH:
                seen.add(key)
                rows.append(row)
        groups.append(Group(name, rows))
    return [group for group in groups if group.rows]


def _look(
    candidates: Mapping[str, list[tuple[float, str, Row]]], table: pa.Table, most: int
) -> None:
    """Add the extremes of a shard, with spare ones, as some may already be in other groups."""
    measures = measures_of(table)
    for name, measure, sign in (
        (UNSURE, "confidence", 1),
        (TAGGED, "tags", -1),
        (LONGEST, "length", -1),
    ):
        values = sign * measures.get(measure, np.full(table.num_rows, np.nan))
        order = np.argsort(values, kind="stable")  # NaN is last
        order = order[~np.isnan(values[order])][:most]
        rows = table.take(pa.array(order, pa.int64())).to_pylist()
        several = zip(values[order].tolist(), rows, strict=True)
        candidates[name].extend((value, row["id"], row) for value, row in several)


def measures_of_row(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the values of a row that samples are sorted by, except those that it lacks.

    ``length`` is in characters of both sides. ``confidence`` is the mean probability of the links,
    to a millionth; where rows have no links, the column ``confidence`` or ``score``.
    """
    measures = {"length": float(sum(len(row.get(name) or "") for name in _TEXTS))}
    if "links" in row:
        parts = [round(link["probability"] * 1e6) for link in row["links"]]
        if parts:
            measures["confidence"] = sum(parts) // len(parts) / 1e6
    else:
        value = next((row[name] for name in _SURE if name in row), None)
        if value is not None:
            measures["confidence"] = float(value)
    if "tags" in row:
        measures["tags"] = float(len({tag["index"] for tag in row["tags"]}))
    return measures


def measures_of(rows: pa.Table) -> dict[str, np.ndarray]:
    """Return `measures_of_row` of every row, float64 ``[row]``; NaN for values that it lacks."""
    texts = [rows.column(name) for name in _TEXTS if name in rows.column_names]
    lengths = [pc.fill_null(pc.utf8_length(text), 0).to_numpy() for text in texts]
    measures: dict[str, np.ndarray] = {"length": np.asarray(sum(lengths), np.float64)}
    sure = next((name for name in _SURE if name in rows.column_names), None)
    if "links" in rows.column_names:
        measures["confidence"] = _mean_probability(rows.column("links"))
    elif sure is not None:
        values = chunk_of(rows.column(sure)).to_numpy(zero_copy_only=False)
        measures["confidence"] = values.astype(np.float64)
    if "tags" in rows.column_names:
        measures["tags"] = _distinct_tags(rows.column("tags"))
    return measures


def _mean_probability(column: pa.ChunkedArray) -> np.ndarray:
    offsets, links = fields_of(column)
    sums = sums_of_millionths(offsets, links["probability"])
    numbers = np.diff(offsets)
    return np.where(numbers > 0, sums // np.maximum(1, numbers) / 1e6, np.nan)


def _distinct_tags(column: pa.ChunkedArray) -> np.ndarray:
    offsets, tags = fields_of(column, "index")
    return distinct_by_row(offsets, tags["index"]).astype(np.float64)
