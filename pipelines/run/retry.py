"""Run a job's graph, and again after a failure for the shards still missing."""

import dataclasses
import shutil
from collections.abc import Callable, Sequence

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pairweave.pipelines.engines import engines
from pairweave.pipelines.engines.dataflow import service
from pairweave.pipelines.engines.dataflow.service import SentJob
from pairweave.pipelines.process import interrupt
from pairweave.pipelines.run.progress import LOG, Progress
from pairweave.pipelines.run.run import Graph, Run
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage import files, hashed_files


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """How a run's attempts ended.

    Attributes:
        attempts: The number of times that a graph was run.
        sent: The job that continues without this process; None if nothing is left to do.
    """

    attempts: int
    sent: SentJob | None = None


def resume(run: Run, extra: Sequence[str], missing: Callable[[], Graph | None]) -> Outcome:
    """Run the missing parts of a job; after a failure, try again as often as the options allow.

    Args:
        run: The planned job.
        extra: Beam options of the user.
        missing: Returns the graph of the missing parts, None if there are none.

    Returns:
        How the last attempt ended.

    Raises:
        ConfigError: The user must fix something.
        WorkerError: The run failed on every attempt.
    """
    for attempt in range(1, run.options.attempts + 1):
        graph = missing()
        if graph is None:
            return Outcome(attempt - 1)
        try:
            sent = _attempt(run, graph, extra)
        except Exception as error:
            interrupt.check()  # a stop is not a failure, whatever exception it raised
            message, user_error = engines.failure_message(error)
            if user_error:
                raise ConfigError(message) from error
            if attempt == run.options.attempts:
                raise WorkerError(message) from error
            LOG.warning("attempt %d failed: %s; resuming", attempt, message)
        else:
            return Outcome(attempt, sent)
    raise AssertionError("an attempt returns or raises")


def _attempt(run: Run, graph: Graph, extra: Sequence[str]) -> SentJob | None:
    job_name = f"pairweave-{run.job}-{run.digest[:8]}"
    options = run.options
    # More workers than units or shards would be idle.
    workers = min(options.workers, max(len(run.plan.units), run.shards))
    with engines.beam_options(options.engine, workers, job_name, extra) as arguments:
        pipeline = beam.Pipeline(options=PipelineOptions(arguments))
        try:
            graph(pipeline)
            output = files.absolute(options.output)
            if options.engine == "dataflow":
                return _send(pipeline, run, output)
            with _progress(run, output):
                pipeline.run().wait_until_finish()
            return None
        finally:
            # Beam deletes it at the end of a run, but not if the run never began.
            shutil.rmtree(pipeline.local_tempdir, ignore_errors=True)


def _send(pipeline: beam.Pipeline, run: Run, output: str) -> SentJob | None:
    """Send a job to Dataflow, and wait for its end if that is wanted."""
    with service.plain_errors("Dataflow refuses the job"):
        result = pipeline.run()
        sent = service.sent_job(result)
        LOG.info("%s", sent.how_to_look(output))
        if not run.options.wait:
            return sent
        try:
            with _progress(run, output):
                result.wait_until_finish()
        except interrupt.Stopped:
            LOG.warning("job %s goes on without this command", sent.id)
            raise
    return None


def _progress(run: Run, output: str) -> Progress:
    model = files.join(run.model_directory, hashed_files.ABOUT) if run.fits else None
    return Progress(output, len(run.plan.units), run.shards, run.plan.rows, model)
