"""The messages at the end of a run: a small table, notices, and where the files are."""

from collections.abc import Mapping
from typing import Any

from pairweave.pipelines.process import terminal
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.run_files import DATA, REJECTS
from pairweave.transforms.storage import files

REASONS = 3
"""Maximum number of reject reasons in the table; the report lists all of them."""

Json = Mapping[str, Any]


def say_where(output: str) -> None:
    """Print the results of a run and where they are."""
    manifest = read_manifest(files.join(output, run_files.MANIFEST))
    lines = _table(manifest)
    lines += [f"notice: {notice}" for notice in manifest["notices"]]
    terminal.report("\n".join([*lines, *_places(output, manifest)]))


def _table(manifest: Json) -> list[str]:
    """Return numbers of pairs and rows, with the most frequent reject reasons.

    >>> for line in _table({"rows": {"read": 1219, "kept": 1200, "rejected": 19},
    ...                     "rejected": {"too_long": 15, "duplicate": 4}, "files": []}):
    ...     print(line)
    read     1,219
    kept     1,200
    rejected    19  too_long 15, duplicate 4
    """
    rows = dict(manifest["rows"])
    ordered = {name: rows.pop(name) for name in ("read", "kept", "rejected") if name in rows} | rows
    if manifest.get("configuration", {}).get("annotate_only"):
        # All pairs have their row, so the numbers of the run say nothing about the rules.
        would_keep = manifest["counts"]["kept_pairs"]
        ordered["would keep"] = would_keep
        ordered["would reject"] = ordered["read"] - would_keep
    written = [entry for entry in manifest["files"] if entry["name"].startswith(f"{DATA}/")]
    if written:
        ordered["rows"] = sum(entry["rows"] for entry in written)
    reasons = sorted(manifest.get("rejected", {}).items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(f"{reason} {number:,}" for reason, number in reasons[:REASONS])
    if len(reasons) > REASONS:
        more = len(reasons) - REASONS
        listed += f", {more} other reason{'s' if more > 1 else ''}"
    cells = [(name, f"{number:,}") for name, number in ordered.items()]
    widths = [max(len(cell[column]) for cell in cells) for column in (0, 1)]
    return [
        f"{name:<{widths[0]}} {number:>{widths[1]}}"
        + (f"  {listed}" if name == "rejected" and listed else "")
        for name, number in cells
    ]


def _places(output: str, manifest: Json) -> list[str]:
    names = {entry["name"] for entry in manifest["files"]}
    wrote_rows = any(name.startswith(f"{DATA}/") for name in names)
    places = [("data", DATA)] if wrote_rows else [("model", "")]
    if "report.html" in names:
        places.append(("report", "report.html"))
    if manifest.get("rejected"):
        places.append(("rejects", REJECTS))
    places.append(("manifest", run_files.MANIFEST))
    return [
        f"{what + ':':<9} {files.join(output, name) if name else output}" for what, name in places
    ]
