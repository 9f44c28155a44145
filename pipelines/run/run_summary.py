"""The end of a run: ``_run.json``, then a small table, notices, and where the files are."""

import dataclasses
import importlib.metadata
import os
import platform
import time
from collections.abc import Mapping
from typing import Any

from pairweave.pipelines.engines.dataflow.service import SentJob
from pairweave.pipelines.engines.flink.job_jar import JobJar
from pairweave.pipelines.process import terminal
from pairweave.pipelines.process.log import utc
from pairweave.pipelines.run.run import Planned
from pairweave.pipelines.steps.steps import StepTimes
from pairweave.transforms.counted import counted
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.run_files import DATA, REJECTS, to_json
from pairweave.transforms.storage import files

REASONS = 3
"""Maximum number of reject reasons in the table; the report lists all of them."""

Json = Mapping[str, Any]


def note_run(
    run: Planned,
    output: str,
    started: float,
    attempts: int,
    reused: int,
    sent: SentJob | JobJar | None = None,
    times: StepTimes | None = None,
) -> None:
    """Write ``_run.json``: what differs between runs with the same output.

    If there is nothing left to do, the existing file is kept.

    Args:
        run: The run.
        output: Its directory.
        started: Start time, in seconds since 1970.
        attempts: Number of times that a graph was run.
        reused: Number of shards that existed before.
        sent: The job that continues without this process, whose time is not known; None if the run
            is finished.
        times: How long each step worked, over all workers.
    """
    if not attempts and files.exists(files.join(output, run_files.RUN)):
        return
    seconds = None if sent is not None else time.time() - started
    packages: tuple[str, ...] = ("pairweave", "apache-beam", "pyarrow", "numpy", "numba")
    packages += run.packages
    engine, workers = run.engine_and_workers
    note: dict[str, object] = {
        "started": utc(started),
        "seconds": None if seconds is None else round(seconds, 3),
        "pairs_per_second": round(run.plan.rows / seconds, 1) if seconds else None,
        "engine": engine,
        "workers": workers,
        "attempts": attempts,
        "shards_reused": reused,
        "machine": {"cores": os.cpu_count(), "platform": platform.platform()},
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in packages},
    }
    if isinstance(sent, SentJob):
        note["dataflow_job"] = dataclasses.asdict(sent)
    if times:
        note["steps"] = times
    files.write_bytes(files.join(output, run_files.RUN), to_json(note))


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
        listed += f", {counted(more, 'other reason')}"
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
