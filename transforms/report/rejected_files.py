"""Notices about files, and parts of files, of which more than half was rejected."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from pairweave.transforms.file_labels import file_labels
from pairweave.transforms.merged_notices import MOST_FILES
from pairweave.transforms.output.receipt_sums import ReceiptSums
from pairweave.transforms.report.rejected_languages import ADVICE

Json = dict[str, Any]

MAX_NOTICES = 20
"""Number of files and units that are named; the rest is only counted."""

_WITH_SOURCES = ("pairs", "source")
"""Roles of the files after which units are named."""


def rejection_notices(plan: Json, sums: ReceiptSums, said: Collection[str] = ()) -> list[str]:
    """Return notices on files, or units of files, with more than half of their pairs rejected.

    Args:
        plan: The run's plan.
        sums: The sums of all receipts.
        said: Reasons that a notice on the whole run names; one on its only file would repeat it.

    Returns:
        A sentence for each, with the most frequent reason, in the plan's order.
    """
    reasons = _reasons_by_unit(sums)
    arrived = sums.units.sum(axis=1).tolist()
    by_file: dict[str, list[Json]] = {}
    for unit, label in zip(plan["units"], _labels(plan), strict=True):
        by_file.setdefault(label, []).append(unit)
    notices = []
    alike = _alike(by_file, reasons, arrived)
    for name, units in by_file.items():
        if len(by_file) == 1 and _main_reason(units, reasons, arrived) in said:
            continue
        if name in alike:
            notices += [alike[name]] if alike[name] else []
            continue
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


def _labels(plan: Json) -> list[str]:
    """Return the name of the file of each unit.

    The units of a plan name no corpus, but they are in the order of its input files.
    """
    units, blocks = plan["units"], list[int]()
    for number, unit in enumerate(units):
        before = units[number - 1] if number else None
        begins = before is None or before["file"] != unit["file"] or before["line"] >= unit["line"]
        blocks.append((blocks[-1] if blocks else -1) + begins)
    files = [
        (entry["corpus"], entry["name"])
        for entry in plan.get("inputs", ())
        if entry["role"] in _WITH_SOURCES and entry["rows"]
    ]
    labels = file_labels(files)
    names = [unit["file"] for unit in units]
    if len(files) != len({*blocks}):  # a document of one side alone is named by that side
        return names
    by_unit = [files[block] for block in blocks]
    return [labels[file] for file in by_unit] if [name for _, name in by_unit] == names else names


def _alike(
    by_file: dict[str, list[Json]], reasons: dict[int, Counter[str]], arrived: Sequence[int]
) -> dict[str, str]:
    """Return one notice for many files with the same most frequent reason, by the files' names.

    The first file of each group has the notice, the others an empty text.
    """
    groups: dict[str, list[str]] = {}
    for name, units in by_file.items():
        rejections = _mostly_rejected(units, reasons, arrived)
        if rejections is not None:
            groups.setdefault(_most_frequent(rejections[0])[0], []).append(name)
    notices: dict[str, str] = {}
    for names in groups.values():
        if len(names) > MOST_FILES:
            first, *others = names
            units = [unit for name in names for unit in by_file[name]]
            label = f"{first} and {len(others):,} other files"
            notices |= {
                first: _notice(label, units, reasons, arrived) or "",
                **dict.fromkeys(others, ""),
            }
    return notices


def _reasons_by_unit(sums: ReceiptSums) -> dict[int, Counter[str]]:
    reasons: dict[int, Counter[str]] = {}
    for reason, column in sums.unit_reasons.items():
        for unit in np.flatnonzero(column).tolist():
            reasons.setdefault(unit, Counter())[reason] = int(column[unit])
    return reasons


def _notice(
    name: str, units: Sequence[Json], reasons: dict[int, Counter[str]], arrived: Sequence[int]
) -> str | None:
    rejections = _mostly_rejected(units, reasons, arrived)
    if rejections is None:
        return None
    rejected, rows = rejections
    reason, count = _most_frequent(rejected)
    summary = f"{name}: {rejected.total():,} of {rows:,} pairs were rejected, {count:,} as {reason}"
    advice = ADVICE.get(reason)
    return f"{summary}; {advice}" if advice else summary


def _main_reason(
    units: Sequence[Json], reasons: dict[int, Counter[str]], arrived: Sequence[int]
) -> str | None:
    """Return the most frequent reason if most rows were rejected; None if they were not."""
    rejections = _mostly_rejected(units, reasons, arrived)
    return None if rejections is None else _most_frequent(rejections[0])[0]


def _most_frequent(rejected: Counter[str]) -> tuple[str, int]:
    return min(rejected.items(), key=lambda item: (-item[1], item[0]))


def _mostly_rejected(
    units: Sequence[Json], reasons: dict[int, Counter[str]], arrived: Sequence[int]
) -> tuple[Counter[str], int] | None:
    """Return the rejects by reason, and the rows; None if not more than half was rejected."""
    # The plan gives no more than the lines of documents, or the rows of their table.
    rows = sum(arrived[unit["index"]] if unit.get("aligned") else unit["rows"] for unit in units)
    rejected: Counter[str] = Counter()
    for unit in units:
        rejected += reasons.get(unit["index"], Counter())
    return (rejected, rows) if 2 * rejected.total() > rows else None
