"""Execute a planned job: claim, graph, commit."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import apache_beam as beam

from pairweave.pipelines.engines import engines
from pairweave.pipelines.process import terminal
from pairweave.pipelines.process.log import LOG
from pairweave.pipelines.run.retry import resume
from pairweave.pipelines.run.run import Graph, GraphT, Planned, Run
from pairweave.pipelines.run.run_summary import note_run
from pairweave.transforms.commit.claim import claim
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.output import attempt_marks, receipts
from pairweave.transforms.storage import files


def execute(
    run: Run[GraphT],
    graph: Callable[[beam.Pipeline, Run[GraphT], frozenset[int]], None],
    extra: Sequence[str],
    extra_files: dict[str, bytes],
    commit: Callable[[str], object] | None = None,
) -> bool:
    """Claim the directory, make the missing shards and commit.

    Args:
        run: The planned job.
        graph: Adds the job's steps to a pipeline, for the given shards.
        extra: Beam options of the user.
        extra_files: Files to commit along with the shards.
        commit: Commits the run's directory if nothing else is left to do; None for the default
            commit of jobs that write pairs.

    Returns:
        Whether the run is finished; always True unless the user chose not to wait.

    Raises:
        ConfigError: The user must fix something.
        SetAsideError: Some shards failed on every attempt; the others are finished.
        WorkerError: The run failed on every attempt.
    """
    output = files.absolute(run.options.output)
    reused = 0

    def missing(trying: Run[Any], only: frozenset[int] | None) -> Graph | None:
        nonlocal reused
        done = receipts.finished_shards(
            output, run.digest, run.shards, rejects_only=not run.options.WRITES_ROWS
        )
        unread = receipts.unread_units(output, run.digest, len(run.plan.units))
        reused = max(reused, len(done))
        fits = run.fits and run.find_fitted() is None
        if done:
            LOG.info("%d of %d shards already exist", len(done), run.shards)
        wanted = frozenset(range(run.shards)) - done
        if only is not None and wanted - only:
            trying, wanted = dataclasses.replace(trying, partial=True), wanted & only
        elif not wanted and not unread and not fits:
            if commit is not None:
                commit(output)
            else:
                commit_run(output, extra_files, allow_empty=run.options.may_be_empty)
            return None
        return lambda pipeline: graph(pipeline, trying, wanted)

    check_start(run, extra)
    claim(output, run.document)
    started = time.time()
    with attempt_marks.launched(output):
        outcome = resume(run, extra, missing)
        note_run(run, output, started, outcome.attempts, reused, outcome.sent, outcome.times)
    if outcome.sent is not None:
        terminal.say(outcome.sent.id)
    return outcome.sent is None


def check_start(run: Planned, extra: Sequence[str]) -> None:
    """Check, before a directory is claimed, for anything that would prevent the run's start.

    Raises:
        ConfigError: The engine lacks something, or the workers run on this machine and it cannot
            run the configured aligner.
    """
    engine, workers = run.engine_and_workers
    with engines.beam_options(engine, workers, "check", extra):
        pass
    if run.model is not None and engines.works_here(engine, extra):
        run.aligner.check_machine(run.model)
