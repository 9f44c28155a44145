"""Running a job on a table in this process, and reading its rows back.

A small table goes through the steps of the job's graph one by one (`TablePipeline`), without a
runner of Beam. For a large table, or if the run's directory is kept, the job runs as it does from
the command. The rows are the same.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset

from pairweave.pipelines.command_line.command_table import job_of
from pairweave.pipelines.engines.local.table_pipeline import TablePipeline, UnsupportedStepError
from pairweave.pipelines.in_memory.keyword_options import (
    FIELD,
    OWN_DEFAULTS,
    SHARED_MODELS,
    job_model,
    options_of_files,
    pairs_in_file,
    refuse,
    text_columns,
    validated,
)
from pairweave.pipelines.process import terminal
from pairweave.pipelines.run.job import Job
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.run_files import DATA, REJECTS
from pairweave.transforms.reading.python_tables import Pairs, as_table, made_like
from pairweave.transforms.report.rejected_shares import table_notices

STEPWISE_PAIRS = 200_000
"""Maximum number of pairs that go through the steps without a runner. This keeps the elements of
every step in memory: some 2 GB for pairs of news text."""

_MEMORY = "/dev/shm"
_MEMORY_BYTES = 1 << 30
"""Free bytes that the file system in memory must have for small runs to be written there."""


class Result(NamedTuple):
    """The rows that a job made from a table, and its rejects.

    Attributes:
        rows: The rows, of the kind of table that was given; an Arrow table for tuples.
        rejects: The pairs that gave no row, with stage, reason and detail
            (`transforms.schemas.REJECTS`), of the same kind.
    """

    rows: Any
    rejects: Any


def run_table(job: str, pairs: Pairs, options: Mapping[str, Any]) -> Result:
    """Run a job on pairs.

    Args:
        job: Its name.
        pairs: The caller's pairs.
        options: Its options; with ``output``, the run's directory is kept.

    Raises:
        ConfigError: An option or the pairs cannot be used.
    """
    like = made_like(pairs)
    with finished(job, pairs, options, stepwise=True) as output:
        rows, rejects = (
            pyarrow.dataset.dataset(str(output / name), format="parquet").to_table()
            for name in (DATA, REJECTS)
        )
    return Result(like(rows), like(rejects))


@contextlib.contextmanager
def finished(
    job: str, pairs: Pairs, options: Mapping[str, Any], *, stepwise: bool = False
) -> Iterator[Path]:
    """Run a job on pairs in a temporary directory, and yield the directory of its output.

    Args:
        job: Its name.
        pairs: The caller's pairs.
        options: Its options.
        stepwise: Whether rows and rejects are enough: no manifest, card or report.
    """
    known = [*options_of_files(job), *(name for name in options if name.endswith(FIELD))]
    refuse(options, known, "pairs in memory are the input")
    refuse(options, SHARED_MODELS, "only processes of the command share a model")
    columns = text_columns(job, options)
    table = as_table(pairs, columns, lists=job == "bitext", options=options)
    if job == "fit" and not table.num_rows:
        raise ConfigError("pairs: there are none to fit the aligner on")
    stepwise &= "output" not in options and table.num_rows <= STEPWISE_PAIRS
    stepwise &= options.get("workers", 1) == 1 and options.get("engine", "local") == "local"
    with pairs_in_file(job, table, _place(stepwise)) as (directory, own):
        usual = {"engine": "local", "workers": 1, "output": str(Path(directory, "output"))}
        if "check" in job_model(job).model_fields:
            rejects = options.get("misaligned") == "reject"
            usual["check"] = "all" if rejects else OWN_DEFAULTS["check"]
        checked = validated(job, {**usual, **options}, own)
        job_definition: Job[Any] = job_of(job)
        output = Path(checked.output)
        if not (stepwise and _run_steps(job_definition, checked)):
            shutil.rmtree(Path(directory, "output"), ignore_errors=True)
            with terminal.saying_to(lambda _text: None):
                job_definition.start(checked, ())
        if checked.WRITES_ROWS:
            _warn_of_rejects(job, table, output, checked.model_dump())
        yield output


def _warn_of_rejects(job: str, table: pa.Table, output: Path, settings: dict[str, Any]) -> None:
    """Warn of reasons for which many pairs were rejected, as a command's notices do."""
    made, rejects = (
        pyarrow.dataset.dataset(output / name, format="parquet") for name in (DATA, REJECTS)
    )
    rejected = rejects.to_table(columns=["reason", "detail"])
    documents = job == "bitext"  # in documents, each bead is a row or a reject
    rows = made.count_rows() + rejected.num_rows if documents else table.num_rows
    for notice in table_notices(rejected, rows, job, settings):
        terminal.warn(notice)


def _place(stepwise: bool) -> str | None:  # noqa: FBT001
    """Return the place for the files of a run; None for the usual place of temporary files.

    No file of a small run is kept, so its files need no disk.
    """
    with contextlib.suppress(OSError):
        has_room = shutil.disk_usage(_MEMORY).free >= _MEMORY_BYTES
        if stepwise and has_room and os.access(_MEMORY, os.W_OK):
            return _MEMORY
    return None


def _run_steps(job: Job[Any], options: Any) -> bool:  # noqa: ANN401
    """Run the steps of a job without its commit; return False if a step needs a runner."""
    job.check(options)
    run = job.prepare(options)
    job.check_run(run)
    if job.beside(run):
        return False
    try:
        job.graph(TablePipeline(without=("Commit",)), run, frozenset(range(run.shards)))
    except UnsupportedStepError:
        return False
    return True
