"""What a run says at its end: a small table, what to look at, and where."""

from collections.abc import Mapping
from typing import Any

from pairweave.pipelines.process import terminal
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.run_files import DATA, REJECTS
from pairweave.transforms.report.rejected_languages import RATIO_ADVICE
from pairweave.transforms.screen import ScreenReject
from pairweave.transforms.storage import files

MUCH = 0.2
"""If more than this share of the pairs is rejected for their length ratio, a hint is printed."""

REASONS = 3
"""Reject reasons in the table; the report has all."""

Json = Mapping[str, Any]


def say_where(output: str) -> None:
    """Print the results of a run and where they are."""
    found = read_manifest(files.join(output, run_files.MANIFEST))
    lines = [*_table(found), *_hints(found)]
    lines += [f"notice: {notice}" for notice in found["notices"]]
    terminal.report("\n".join([*lines, *_places(output, found)]))


def _table(found: Json) -> list[str]:
    """Return numbers of pairs and rows, with the most frequent reject reasons.

    >>> for line in _table({"rows": {"read": 1219, "kept": 1200, "rejected": 19},
    ...                     "rejected": {"too_long": 15, "duplicate": 4}, "files": []}):
    ...     print(line)
    read     1,219
    kept     1,200
    rejected    19  too_long 15, duplicate 4
    """
    rows = dict(found["rows"])
    ordered = {name: rows.pop(name) for name in ("read", "kept", "rejected") if name in rows} | rows
    if found.get("configuration", {}).get("annotate_only"):
        # All pairs have their row, so the numbers of the run say nothing about the rules.
        would_keep = found["counts"]["kept_pairs"]
        ordered["would keep"] = would_keep
        ordered["would reject"] = ordered["read"] - would_keep
    written = [entry for entry in found["files"] if entry["name"].startswith(f"{DATA}/")]
    if written:
        ordered["rows"] = sum(entry["rows"] for entry in written)
    reasons = sorted(found.get("rejected", {}).items(), key=lambda item: (-item[1], item[0]))
    said = ", ".join(f"{reason} {number:,}" for reason, number in reasons[:REASONS])
    if len(reasons) > REASONS:
        more = len(reasons) - REASONS
        said += f", {more} other reason{'s' if more > 1 else ''}"
    cells = [(name, f"{number:,}") for name, number in ordered.items()]
    widths = [max(len(cell[column]) for cell in cells) for column in (0, 1)]
    return [
        f"{name:<{widths[0]}} {number:>{widths[1]}}"
        + (f"  {said}" if name == "rejected" and said else "")
        for name, number in cells
    ]


def _hints(found: Json) -> list[str]:
    uneven = found.get("rejected", {}).get(ScreenReject.LENGTH_RATIO, 0)
    is_told = any(RATIO_ADVICE in notice for notice in found["notices"])
    if is_told or uneven <= MUCH * found["rows"].get("read", 0):
        return []
    return [f"many pairs were rejected for their length ratio: {RATIO_ADVICE}"]


def _places(output: str, found: Json) -> list[str]:
    names = {entry["name"] for entry in found["files"]}
    wrote_rows = any(name.startswith(f"{DATA}/") for name in names)
    places = [("data", DATA)] if wrote_rows else [("model", "")]
    if "report.html" in names:
        places.append(("report", "report.html"))
    if found.get("rejected"):
        places.append(("rejects", REJECTS))
    places.append(("manifest", run_files.MANIFEST))
    return [
        f"{what + ':':<9} {files.join(output, name) if name else output}" for what, name in places
    ]
