"""Notices about files, and parts of files, of which more than half was rejected."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from pairweave.transforms.file_labels import file_labels
from pairweave.transforms.merged_notices import MAX_FILES
from pairweave.transforms.output.receipt_sums import ReceiptSums
from pairweave.transforms.report.rejected_languages import ADVICE

Json = dict[str, Any]

MAX_NOTICES = 20
"""Maximum number of files and parts to name; the rest is only counted."""

_WITH_SOURCES = ("pairs", "source")
"""Roles of the files after which units are named."""


class MostlyRejected(NamedTuple):
    """A file, several files or a part of a file, of which more than half was rejected.

    Attributes:
        place: The name of the file or files, and the lines if it is a part.
        pairs: The number of pairs that it has.
        rejected: The number of rejected pairs.
        reason: The most frequent reason.
        for_reason: The number of pairs rejected for that reason.
    """

    place: str
    pairs: int
    rejected: int
    reason: str
    for_reason: int


def mostly_rejected(plan: Json, sums: ReceiptSums) -> list[MostlyRejected]:
    """Return the files, and parts of files, with more than half of their pairs rejected.

    Args:
        plan: The run's plan.
        sums: The sums of all receipts.

    Returns:
        The files and parts in the plan's order; if more than a few files have the same most
        frequent reason, they form one entry.
    """
    reasons = _reasons_by_unit(sums)
    arrived = sums.units.sum(axis=1).tolist()
    by_file: dict[str, list[Json]] = {}
    for unit, label in zip(plan["units"], _labels(plan), strict=True):
        by_file.setdefault(label, []).append(unit)
    places: list[MostlyRejected | None] = []
    alike = _alike(by_file, reasons, arrived)
    for name, units in by_file.items():
        if name in alike:
            places.append(alike[name])
            continue
        whole = _judged(name, units, reasons, arrived)
        if whole is not None:
            places.append(whole)
            continue
        for unit in units:
            last = unit["line"] + unit["rows"] - 1
            place = f"{name}, lines {unit['line']} to {last}"
            places.append(_judged(place, [unit], reasons, arrived))
    return [place for place in places if place is not None]


def rejection_notices(places: Sequence[MostlyRejected], said: Collection[str] = ()) -> list[str]:
    """Return notices on files, or parts of files, with more than half of their pairs rejected.

    Args:
        places: The result of `mostly_rejected`.
        said: Reasons that already have a notice on the whole run, which names their files.
    """
    notices = [_notice(place) for place in places if place.reason not in said]
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
    if len(files) != len({*blocks}):  # a document with only one side has the name of that side
        return names
    by_unit = [files[block] for block in blocks]
    return [labels[file] for file in by_unit] if [name for _, name in by_unit] == names else names


def _alike(
    by_file: dict[str, list[Json]], reasons: dict[int, Counter[str]], arrived: Sequence[int]
) -> dict[str, MostlyRejected | None]:
    """Merge files with the same most frequent reason, if there are many; return them by name.

    The first file of each group stands for all; the other files have None.
    """
    groups: dict[str, list[str]] = {}
    for name, units in by_file.items():
        judged = _judged(name, units, reasons, arrived)
        if judged is not None:
            groups.setdefault(judged.reason, []).append(name)
    merged: dict[str, MostlyRejected | None] = {}
    for names in groups.values():
        if len(names) > MAX_FILES:
            first, *others = names
            units = [unit for name in names for unit in by_file[name]]
            label = f"{first} and {len(others):,} other files"
            merged |= {first: _judged(label, units, reasons, arrived), **dict.fromkeys(others)}
    return merged


def _reasons_by_unit(sums: ReceiptSums) -> dict[int, Counter[str]]:
    reasons: dict[int, Counter[str]] = {}
    for reason, column in sums.unit_reasons.items():
        for unit in np.flatnonzero(column).tolist():
            reasons.setdefault(unit, Counter())[reason] = int(column[unit])
    return reasons


def _notice(place: MostlyRejected) -> str:
    name, pairs, rejected, reason, count = place
    summary = f"{name}: {rejected:,} of {pairs:,} pairs were rejected, {count:,} as {reason}"
    advice = ADVICE.get(reason)
    return f"{summary}; {advice}" if advice else summary


def _judged(
    place: str, units: Sequence[Json], reasons: dict[int, Counter[str]], arrived: Sequence[int]
) -> MostlyRejected | None:
    """Count the rejects of some units; None if not more than half of their pairs was rejected."""
    # For documents, the plan knows only the number of lines, or of rows of their table.
    pairs = sum(arrived[unit["index"]] if unit.get("aligned") else unit["rows"] for unit in units)
    rejected: Counter[str] = Counter()
    for unit in units:
        rejected += reasons.get(unit["index"], Counter())
    if 2 * rejected.total() <= pairs:
        return None
    reason, count = min(rejected.items(), key=lambda item: (-item[1], item[0]))
    return MostlyRejected(place, pairs, rejected.total(), reason, count)
