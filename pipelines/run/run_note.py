"""Record what differs between runs with the same output: time, place and speed."""

import dataclasses
import importlib.metadata
import os
import platform
import time

from pairweave.pipelines.engines.dataflow.service import SentJob
from pairweave.pipelines.engines.flink.job_jar import JobJar
from pairweave.pipelines.process.log import utc
from pairweave.pipelines.run.run import Planned
from pairweave.pipelines.steps.steps import StepTimes
from pairweave.transforms.output import run_files
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files


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
