"""How a planned job runs: claim, resume, graph, commit."""

import shutil
import time
from collections.abc import Callable, Sequence

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pairweave.pipelines.engines import engines
from pairweave.pipelines.process import stopping
from pairweave.pipelines.run.progress import LOG, Progress
from pairweave.pipelines.run.run import Graph, Run
from pairweave.pipelines.run.run_note import note_run
from pairweave.transforms.commit.claim import claim
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.output import receipts, run_files
from pairweave.transforms.storage import files, hashed_files


def execute(
    run: Run,
    graph: Callable[[beam.Pipeline, Run, frozenset[int]], None],
    extra: Sequence[str],
    extra_files: dict[str, bytes],
    commit: Callable[[str], object] | None = None,
) -> None:
    """Claim the directory, make the shards that are missing, commit.

    Args:
        run: The planned job.
        graph: Adds the job's steps to a pipeline, for the shards that are wanted.
        extra: Beam options of the user.
        extra_files: Files to commit beside the shards.
        commit: How the run's directory is committed if nothing else is left to do; None for the
            way of a job that writes pairs.

    Raises:
        ConfigError: The user must fix something.
        WorkerError: The run failed on every attempt.
    """
    output = files.absolute(run.options.output)
    reused = 0

    def missing() -> Graph | None:
        nonlocal reused
        done = receipts.finished_shards(
            output, run.digest, run.shards, rejects_only=run.job == run_files.FIT
        )
        unread = receipts.unread_units(output, run.digest, len(run.plan.units))
        reused = max(reused, len(done))
        fitted = run.aligner.find_fitted(run.options, run.model_directory)
        fits = not run.model and fitted is None
        if done:
            LOG.info("%d of %d shards already exist", len(done), run.shards)
        wanted = frozenset(range(run.shards)) - done
        if not wanted and not unread and not fits:
            if commit is not None:
                commit(output)
            else:
                commit_run(output, extra_files, allow_empty=run.options.allow_empty)
            return None
        return lambda pipeline: graph(pipeline, run, wanted)

    check_start(run, extra)
    claim(output, run.document)
    started = time.time()
    attempts = resume(run, extra, missing)
    note_run(run, output, started, attempts, reused)


def check_start(run: Run, extra: Sequence[str]) -> None:
    """Check, before a directory is claimed, for anything that would stop a run at its start.

    Args:
        run: The planned job.
        extra: Beam options of the user.

    Raises:
        ConfigError: The engine lacks something, or this machine, where the workers are to be,
            cannot run the aligner as it is configured.
    """
    with engines.beam_options(run.options.engine, run.options.workers, "check", extra):
        pass
    if run.model is not None and engines.works_here(run.options.engine, extra):
        run.aligner.check_machine(run.model)


def resume(run: Run, extra: Sequence[str], missing: Callable[[], Graph | None]) -> int:
    """Run what is missing, and again after a failure, as often as the options allow.

    Args:
        run: The planned job.
        extra: Beam options of the user.
        missing: Returns the graph of what is still to be done, None if nothing is.

    Returns:
        How often a graph was run.

    Raises:
        ConfigError: The user must fix something.
        WorkerError: The run failed on every attempt.
    """
    for attempt in range(1, run.options.attempts + 1):
        graph = missing()
        if graph is None:
            return attempt - 1
        try:
            _attempt(run, graph, extra)
        except Exception as error:
            stopping.check()  # a stop is not a failure, whatever exception it became
            message, mendable = engines.failure_message(error)
            if mendable:
                raise ConfigError(message) from error
            if attempt == run.options.attempts:
                raise WorkerError(message) from error
            LOG.warning("attempt %d failed: %s; resuming", attempt, message)
        else:
            return attempt
    raise AssertionError("an attempt returns or raises")


def _attempt(run: Run, graph: Graph, extra: Sequence[str]) -> None:
    job_name = f"pairweave-{run.job}-{run.digest[:8]}"
    options = run.options
    # More workers than there are units or shards would have nothing to do.
    workers = min(options.workers, max(len(run.plan.units), run.shards))
    with engines.beam_options(options.engine, workers, job_name, extra) as arguments:
        pipeline = beam.Pipeline(options=PipelineOptions(arguments))
        try:
            graph(pipeline)
            output = files.absolute(options.output)
            model = None if run.model else files.join(run.model_directory, hashed_files.ABOUT)
            progress = Progress(output, len(run.plan.units), run.shards, run.plan.rows, model)
            with progress:
                pipeline.run().wait_until_finish()
        finally:
            # Beam deletes it at the end of a run, but not if the run never began.
            shutil.rmtree(pipeline.local_tempdir, ignore_errors=True)
