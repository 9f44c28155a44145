"""Notices about files, and parts of files, of which more than half was rejected."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from pairweave.transforms.output.receipt_sums import ReceiptSums
from pairweave.transforms.rejects import Reject
from pairweave.transforms.report.rejected_languages import ADVICE

Json = dict[str, Any]

MAX_NOTICES = 20
"""Files and units named before the rest is only counted."""


_OF_THE_INPUT = (
    *(Reject.MISSING_FIELD, Reject.WRONG_TYPE, Reject.FIELD_COUNT, Reject.INVALID_JSON),
)
_FORMAT_ADVICE = "look at its format and at the options that name its fields"


def rejection_notices(plan: Json, sums: ReceiptSums) -> list[str]:
    """Return notices on files, or units of files, with more than half of their pairs rejected.

    Args:
        plan: The run's plan.
        sums: The sums of all receipts.

    Returns:
        A sentence for each, with the most frequent reason, in the plan's order.
    """
    reasons = _reasons_by_unit(sums)
    arrived = sums.units.sum(axis=1).tolist()
    by_file: dict[str, list[Json]] = {}
    for unit in plan["units"]:
        by_file.setdefault(unit["file"], []).append(unit)
    notices = []
    for name, units in by_file.items():
        whole = _notice(name, units, reasons, arrived)
        if whole is not None:
            notices.append(whole)
            continue
        for unit in units:
            last = unit["line"] + unit["rows"] - 1
            place = f"{name}, lines {unit['line']} to {last}"
            part = _notice(place, [unit], reasons, arrived)
            notices += [part] if part is not None else []
    more = len(notices) - MAX_NOTICES
    if more > 0:
        rest = f"{more} more files or parts of files had more than half of their pairs rejected"
        notices = [*notices[:MAX_NOTICES], rest]
    return notices


def _reasons_by_unit(sums: ReceiptSums) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {}
    for reason, column in sums.unit_reasons.items():
        for unit in np.flatnonzero(column).tolist():
            found.setdefault(unit, Counter())[reason] = int(column[unit])
    return found


def _notice(
    name: str, units: Sequence[Json], reasons: dict[int, Counter[str]], arrived: Sequence[int]
) -> str | None:
    # The plan gives no more than the lines of documents, or the rows of their table.
    rows = sum(arrived[unit["index"]] if unit.get("aligned") else unit["rows"] for unit in units)
    rejected: Counter[str] = Counter()
    for unit in units:
        rejected += reasons.get(unit["index"], Counter())
    if 2 * rejected.total() <= rows:
        return None
    reason, count = min(rejected.items(), key=lambda item: (-item[1], item[0]))
    said = f"{name}: {rejected.total():,} of {rows:,} pairs were rejected, {count:,} as {reason}"
    advice = _FORMAT_ADVICE if reason in _OF_THE_INPUT else ADVICE.get(reason)
    return f"{said}; {advice}" if advice else said
