"""Run a job's graph, and after a failure run it again for the shards still missing."""

import contextlib
import dataclasses
import shutil
import threading
from collections.abc import Callable, Sequence
from typing import Any

import apache_beam as beam

from pairweave.pipelines.engines import engine_flags, engines
from pairweave.pipelines.engines.dataflow import service
from pairweave.pipelines.engines.dataflow.service import SentJob
from pairweave.pipelines.engines.failures import failure_message, is_of_machine
from pairweave.pipelines.engines.flink import job_jar
from pairweave.pipelines.engines.flink.job_jar import JobJar
from pairweave.pipelines.engines.run_options import RunOptions
from pairweave.pipelines.process import interrupt
from pairweave.pipelines.process.log import LOG
from pairweave.pipelines.run.attempts.progress import Progress
from pairweave.pipelines.run.attempts.set_aside import finish_others
from pairweave.pipelines.run.attempts.standstill import Standstill, StandstillError
from pairweave.pipelines.run.run import Graph, Run
from pairweave.pipelines.steps.steps import StepTimes, step_times
from pairweave.transforms.errors import ConfigError, worker_error
from pairweave.transforms.output import attempt_marks, receipts
from pairweave.transforms.storage import files, hashed_files

STANDSTILL_MINUTES = 60.0
"""Time limit for an attempt that stands still, if all its workers are on this machine: on other
machines, a worker that computes cannot be distinguished from one that waits."""

CANCEL_SECONDS = 30.0
"""Time for an engine to end an attempt that stood still."""


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """How a run's attempts ended.

    Attributes:
        attempts: The number of times that a graph was run.
        sent: The job that continues without this process; None if nothing is left to do.
        times: How long each step worked in the last attempt (`step_times`); empty if the engine
            does not report it.
    """

    attempts: int
    sent: SentJob | JobJar | None = None
    times: StepTimes = dataclasses.field(default_factory=dict)


Missing = Callable[[Run, frozenset[int] | None], Graph | None]
"""Returns the graph of a run's missing parts, or of the given shards alone; None if nothing is left
to do."""


def resume(run: Run, extra: Sequence[str], missing: Missing) -> Outcome:
    """Run the missing parts of a job; after a failure, try again as often as the options allow.

    If the last attempt fails in a shard, that shard is set aside and the others are finished
    (`pipelines.run.attempts.set_aside`).

    Args:
        run: The planned job.
        extra: Beam options of the user.
        missing: Returns the graph of the missing parts, None if there are none.

    Returns:
        How the last attempt ended.

    Raises:
        ConfigError: The user must fix something.
        SetAsideError: Some shards failed on every attempt; the others are finished.
        FullError: A file had no room on the last attempt.
        WorkerError: The run failed on every attempt.
    """
    attempts = run.options.attempts
    for attempt in range(1, attempts + 1):
        last = attempt == attempts
        trying = _marking(run) if last else run
        graph = missing(trying, None)
        if graph is None:
            return Outcome(attempt - 1)
        try:
            sent, times = _attempt(trying, graph, extra)
        except Exception as error:  # noqa: BLE001 - `message_of` raises any other error again
            message = message_of(error)
            if last:
                _finish_others(trying, extra, missing, message, error)
                return Outcome(attempts + 1)
            LOG.warning("attempt %d failed: %s; resuming", attempt, message)
        else:
            return Outcome(attempt, sent, times)
    raise AssertionError("an attempt returns or raises")


def message_of(error: Exception) -> str:
    """Return the message of a graph that failed.

    Raises:
        ConfigError: The user must fix something before another attempt.
        Stopped: The user has stopped the run.
    """
    interrupt.raise_again()  # a stop is not a failure, whatever exception it raised
    message, user_error = failure_message(error)
    if user_error:
        raise ConfigError(message) from error
    return message


def _marking(run: Run) -> Run:
    """Return the run with a new attempt that marks the shards it works on."""
    if not run.options.shards_are_independent or not run.options.max_set_aside:
        return run
    return dataclasses.replace(run, attempt=attempt_marks.new_attempt())


def _finish_others(
    run: Run, extra: Sequence[str], missing: Missing, message: str, error: Exception
) -> None:
    """Finish the shards that do not fail, and commit if none fails.

    Raises:
        ConfigError: The user must fix something.
        SetAsideError: Some shards fail alone; the others are finished.
        WorkerError: The failure is not caused by a few shards.
    """
    if not run.attempt:
        raise worker_error(message) from error
    output = files.absolute(run.options.output)
    try:
        if is_of_machine(error, message):
            raise worker_error(message) from error
        rest = MissingShards(run, extra, missing)
        finish_others(rest, run.shards, run.options.max_set_aside, message)
        if missing(run, None) is not None:
            raise worker_error(message) from error
    finally:
        with contextlib.suppress(OSError):  # the marks are useless now, and `gc` removes them
            attempt_marks.forget(output, run.attempt)


class MissingShards:
    """The shards of a run that are not finished; see `set_aside.Rest`."""

    def __init__(self, run: Run, extra: Sequence[str], missing: Missing) -> None:
        """Set the run, whose attempt marks shards, and the function that makes its graphs."""
        self._run, self._extra, self._graph = run, extra, missing
        self._whole: frozenset[int] = frozenset()

    def missing(self) -> frozenset[int]:
        """Return the unfinished shards; the files of a finished shard are checked only once."""
        run = self._run
        self._whole = receipts.finished_shards(
            files.absolute(run.options.output), run.digest, run.shards, known=self._whole
        )
        return frozenset(range(run.shards)) - self._whole

    def begun(self) -> frozenset[int]:
        """Return the shards that the last graph worked on and did not finish."""
        return attempt_marks.begun(files.absolute(self._run.options.output), self._run.attempt)

    def make(self, shards: frozenset[int]) -> str | None:
        """Make some shards and leave the others; return the failure, or None."""
        attempt_marks.forget(files.absolute(self._run.options.output), self._run.attempt)
        graph = self._graph(self._run, shards)
        try:
            if graph is not None:
                _attempt(self._run, graph, self._extra)
        except Exception as error:
            message = message_of(error)
            if is_of_machine(error, message):
                raise worker_error(message) from error
            return message
        return None


def _attempt(
    run: Run, graph: Graph, extra: Sequence[str]
) -> tuple[SentJob | JobJar | None, StepTimes]:
    job_name = f"pairweave-{run.job}-{run.digest[:8]}"
    options = run.options
    # More workers than units or shards would be idle.
    workers = min(options.workers, max(len(run.plan.units), run.shards))
    with engines.beam_options(options.engine, workers, job_name, extra) as arguments:
        pipeline = beam.Pipeline(options=RunOptions(arguments))
        try:
            graph(pipeline)
            output = files.absolute(options.output)
            if options.engine == "dataflow":
                return _send(pipeline, run, output), {}
            jar = job_jar.wanted(engine_flags.given_options(extra))
            if jar is not None:
                _finish(pipeline)
                jar.tell(output)
                return jar, {}
            standstill = _standstill(run, extra)
            with standstill.ending(), _progress(run, output, standstill):
                result = _finish(pipeline)
            # On other engines, the times are on a server that may be gone.
            return None, step_times(result) if options.engine == "local" else {}
        finally:
            # Beam deletes the directory at the end of a run, but not if the run never began.
            shutil.rmtree(pipeline.local_tempdir, ignore_errors=True)


def _finish(pipeline: beam.Pipeline) -> Any:  # noqa: ANN401 - a runner's own result
    """Run a pipeline and return its result.

    If it stands still, let the engine end it, since it may hold workers.
    """
    result = None
    try:
        result = pipeline.run()
        result.wait_until_finish()
    except StandstillError:
        if result is not None:
            cancel = threading.Thread(target=_try, args=(result.cancel,), daemon=True)
            cancel.start()
            cancel.join(CANCEL_SECONDS)
        raise
    return result


def _try(call: Callable[[], object]) -> None:
    with contextlib.suppress(Exception):  # the engine does not answer, or cannot cancel the job
        call()


def _send(pipeline: beam.Pipeline, run: Run, output: str) -> SentJob | None:
    """Send a job to Dataflow, and wait for its end unless ``--wait false`` is given."""
    service.let_beam_know_errors()
    with service.plain_errors("Dataflow refuses the job"):
        result = pipeline.run()
        sent = service.sent_job(result)
        LOG.info("%s", sent.how_to_look(output))
        if not run.options.wait:
            return sent
        standstill = _standstill(run, ())
        try:
            with standstill.ending(), _progress(run, output, standstill):
                result.wait_until_finish()
        except (interrupt.Stopped, StandstillError):
            LOG.warning("job %s goes on without this command", sent.id)
            raise
    return None


def _standstill(run: Run, extra: Sequence[str]) -> Standstill:
    """Return the watch over an attempt, with the limit from the options or the default."""
    minutes = run.options.standstill_minutes
    if minutes is None:
        minutes = STANDSTILL_MINUTES if engines.works_here(run.options.engine, extra) else 0
    what = f"engine {run.options.engine} stands still"
    return Standstill(minutes * 60 or None, what, lambda: engines.processes_here(extra))


def _progress(run: Run, output: str, standstill: Standstill) -> Progress:
    model = files.join(run.model_directory, hashed_files.ABOUT) if run.fits else None
    units, pairs = len(run.plan.units), run.plan.rows
    alignments = 1 if getattr(run.options, "second_aligner", None) is None else 2
    return Progress(output, units, run.shards, pairs, model, standstill, alignments)
