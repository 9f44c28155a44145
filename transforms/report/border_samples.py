"""Pairs of a run of ``filter`` at the border of each rule: the last kept and the first rejected.

They come from the same shards as the other samples of a report, so in a large run they are the
nearest to the border among only a part of its pairs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.filtering.rule_options import SELECTIONS
from pairweave.transforms.rejects import PluginReason, Reject

EACH_SIDE = 2
"""Number of pairs on each side of a border."""

_TEXTS = ("source", "target", "source_lang", "target_lang", "corpus", "file", "line")
_VALUE = re.compile(r"-?(?:inf|[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)(?=,| [<>]|$)")

Row = Mapping[str, Any]


def border_samples(
    settings: Mapping[str, Any], data: Sequence[pa.Table], rejects: Sequence[pa.Table]
) -> list[Row]:
    """Return the pairs at the border of each rule and of the selection, where there are any.

    Args:
        settings: The configuration of the run, with the limits.
        data: Some shards that it wrote.
        rejects: Some shards of rejected pairs.

    Returns:
        Rule, limit, and pairs with their values, nearest to the border first: those just ``kept``,
        and those just ``rejected``.
    """
    # Not at the top: rules load their kernels, which reports of other jobs do not need.
    from pairweave.transforms.filtering.rules import RULES

    borders: list[Row] = []
    measured = [
        (rule.reason, rule.columns, settings.get(rule.option), rule.least) for rule in RULES
    ]
    for reason, every, limit, least in (*measured, *_of_plugins(settings)):
        columns = [name for name in every if data and name in data[0].column_names]
        if columns and limit is not None:
            kept = _kept(data, columns, least=least)
            rejected = _rejected(data, rejects, reason, columns)
            borders.append(_border(str(reason), limit, kept, rejected, least=least))
    kept = _kept(data, ["score"], least=True) if _selects(settings) else []
    rejected = _rejected(data, rejects, Reject.LOW_SCORE, ["score"])
    if rejected:
        limit = settings.get("select_score")
        borders.append(_border(str(Reject.LOW_SCORE), limit, kept, rejected, least=True))
    return [each for each in borders if each["kept"] or each["rejected"]]


def _of_plugins(
    settings: Mapping[str, Any],
) -> Iterator[tuple[PluginReason, tuple[str, ...], object, bool]]:
    """Yield reason, columns, limit and direction of the rules of other packages, in their order."""
    rules = settings.get("plugin_rules") or {}
    for name in sorted(
        (name for name in rules if "." not in name), key=lambda name: rules[f"{name}.applied"]
    ):
        reason = PluginReason.of(name)
        yield reason, (str(reason),), rules[name], rules[f"{name}.limit"] == "minimum"


def _selects(settings: Mapping[str, Any]) -> bool:
    return any(settings.get(name) is not None for name in SELECTIONS)


def _border(rule: str, limit: object, kept: list[Row], rejected: list[Row], *, least: bool) -> Row:
    """Return the nearest pairs: kept ones with bad values, rejected ones with good values."""
    sign = 1 if least else -1
    return {
        "rule": rule,
        "limit": limit,
        "least": least,
        "kept": sorted(kept, key=lambda row: (sign * row["value"], row["id"]))[:EACH_SIDE],
        "rejected": sorted(rejected, key=lambda row: (-sign * row["value"], row["id"]))[:EACH_SIDE],
    }


def _kept(data: Iterable[pa.Table], columns: Sequence[str], *, least: bool) -> list[Row]:
    """Return the kept pairs of each shard that are nearest to a border.

    A pair with a value of 0 has nothing that the rule looks for, so it is not near.
    """
    rows: list[Row] = []
    for table in data:
        if "keep" in table.column_names:
            table = table.filter(table.column("keep"))
        values = _values(table, columns)
        near = np.flatnonzero((values < 1) if least else (values > 0))
        order = near[np.argsort(values[near] if least else -values[near], kind="stable")]
        rows += _with_values(table, order[:EACH_SIDE], values)
    return rows


def _rejected(
    data: Iterable[pa.Table],
    rejects: Iterable[pa.Table],
    reason: Reject | PluginReason,
    columns: Sequence[str],
) -> list[Row]:
    """Return the pairs that were rejected for a reason, with the values."""
    rows: list[Row] = []
    for table in data:
        if "reason" in table.column_names:
            some = table.filter(_is(table, reason))
            rows += _with_values(some, np.arange(some.num_rows), _values(some, columns))
    for table in rejects:
        some = table.filter(_is(table, reason))
        numbers = [_VALUE.findall(detail or "") for detail in some.column("detail").to_pylist()]
        values = np.array([min(map(float, each[: len(columns)]), default=0.0) for each in numbers])
        rows += _with_values(some, np.arange(some.num_rows), values)
    return rows


def _is(table: pa.Table, reason: Reject | PluginReason) -> pa.ChunkedArray:
    return pc.fill_null(pc.equal(table.column("reason").cast(pa.string()), str(reason)), False)  # noqa: FBT003


def _values(table: pa.Table, columns: Sequence[str]) -> np.ndarray:
    """Return the decisive values: the smallest of several columns."""
    every = [table.column(name).to_numpy().astype(np.float64) for name in columns]
    return np.minimum.reduce(every)


def _with_values(table: pa.Table, rows: np.ndarray, values: np.ndarray) -> list[Row]:
    texts = table.select([*_TEXTS, "id"]).take(pa.array(rows, pa.int64())).to_pylist()
    return [{**row, "value": float(value)} for row, value in zip(texts, values[rows], strict=True)]
