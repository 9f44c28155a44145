"""Preview of the rules on a few pairs, as text, for setting limits before a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pairweave.transforms.counted import counted
from pairweave.transforms.filtering import languages
from pairweave.transforms.filtering.rules import Judged, Rule, RuleConfig, judge, rules_of
from pairweave.transforms.text_columns import text_columns

KEEPS, REJECTS = "keeps", "rejects"

Row = Mapping[str, Any]


def preview_lines(rows: pa.Table, config: RuleConfig) -> Iterator[str]:
    """Yield the results of the screen and the rules, for each pair and then for each rule.

    Args:
        rows: Screened rows (`transforms.schemas.ROWS`).
        config: Limits of the rules.
    """
    open_rows = np.flatnonzero(rows.column("reason").is_null().to_numpy())
    pairs = rows.take(pa.array(open_rows))
    judged = judge(pairs, config)
    first, reasons = judged.first(), list(judged.hits)
    places = {int(row): place for place, row in enumerate(open_rows.tolist())}
    for number, row in enumerate(rows.to_pylist()):
        place = places.get(number)
        yield from _pair_head(row)
        if place is None:
            detail = f" ({row['detail']})" if row["detail"] else ""
            yield f"  {REJECTS}: {row['stage']}, {row['reason']}{detail}"
        else:
            yield from _table(_pair_table(judged, place, row, config))
            rejecting = first[place]
            yield f"  {REJECTS}: {reasons[rejecting]}" if rejecting >= 0 else f"  {KEEPS}"
        yield ""
    yield from _summary(rows.num_rows, judged, config)


def _pair_head(row: Row) -> Iterator[str]:
    yield f"{row['corpus']} {row['file']} line {row['line']}"
    for side in ("source", "target"):
        yield f"  {row[f'{side}_lang']}: {row[side] if row[side] is not None else '(no text)'}"


def _pair_table(judged: Judged, place: int, row: Row, config: RuleConfig) -> list[tuple[str, ...]]:
    """Return a pair's row for each rule: reason, value, limit, verdict."""
    table: list[tuple[str, ...]] = [("rule", "value", "limit", "")]
    for rule in rules_of(config):
        measured = [f"{judged.values[name][place]:.3g}" for name in rule.columns]
        verdict = REJECTS if judged.hits[rule.reason][place] else KEEPS
        table.append((str(rule.reason), ", ".join(measured), _limit(rule, config), verdict))
    for side, reason in languages.REASONS.items():
        if reason in judged.hits:
            language = judged.detected[f"{side}_detected"][place] or "not sure"
            verdict = REJECTS if judged.hits[reason][place] else KEEPS
            table.append((str(reason), language, str(row[f"{side}_lang"]), verdict))
    return table


def _limit(rule: Rule, config: RuleConfig) -> str:
    return f"{'>=' if rule.least else '<='} {rule.limit(config):g}"


def _summary(read: int, judged: Judged, config: RuleConfig) -> Iterator[str]:
    """Yield how many pairs each rule rejects: in total, as the first rule, as the only one."""
    hits = np.array(list(judged.hits.values()), np.bool_)
    first, together = judged.first(), hits.sum(axis=0)
    table: list[tuple[str, ...]] = [
        ("rule", "limit", "rejects", "first", "only", "median", "worst")
    ]
    rules = {rule.reason: rule for rule in rules_of(config)}
    for number, reason in enumerate(judged.hits):
        counts = (hits[number], first == number, hits[number] & (together == 1))
        spread = _spread(judged, rules.get(reason))
        rule = rules.get(reason)
        option = rule.option if rule else "detector"
        value = config.detector if rule is None else format(rule.limit(config), "g")
        limit = f"--{option} {value}"
        table.append((str(reason), limit, *(str(int(each.sum())) for each in counts), *spread))
    yield from _table(table)
    kept = int((first < 0).sum())
    yield (
        f"{counted(read, 'pair')}: {read - len(first)} rejected before the rules, "
        f"{len(first) - kept} by a rule, {kept} kept"
    )


def _spread(judged: Judged, rule: Rule | None) -> tuple[str, str]:
    """Return the median and the worst value of a rule; nothing for a detector."""
    if rule is None or not len(judged.target_words):
        return "", ""
    every = np.concatenate([judged.values[name] for name in rule.columns])
    return f"{np.median(every):.3g}", f"{every.min() if rule.least else every.max():.3g}"


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows with columns padded to equal width."""
    for line in text_columns(rows, left=len(rows[0])):
        yield f"  {line}".rstrip()
