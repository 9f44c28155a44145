"""A job: its parts, its graph, and how its command runs."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Generic

import apache_beam as beam

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.engines import engine_flags
from pairweave.pipelines.options.base import GraphOptions
from pairweave.pipelines.parts.part import Part
from pairweave.pipelines.run import plan_text, run_summary
from pairweave.pipelines.run.beside_output import BesideFile
from pairweave.pipelines.run.execute import execute
from pairweave.pipelines.run.prepare import planned, prepare
from pairweave.pipelines.run.run import GraphT, Planned, PlannedT, Run
from pairweave.transforms.storage import files


@dataclasses.dataclass(frozen=True, kw_only=True)
class _PlannedJob(Generic[PlannedT]):
    """A job on a corpus, which is planned before it runs.

    Attributes:
        name: Its name.
        options: The class of its options.
        parts: Its parts, in the order in which they are planned.
        check: Checks the options, and raises an error for those that cannot be combined.
        refuses: The word for its input in the message that refuses a model for other languages;
            None if such a model only causes a notice.
    """

    name: str
    options: type[PlannedT]
    parts: tuple[Part[Any, Any], ...]
    check: Callable[[PlannedT], object] = lambda _: None
    refuses: str | None = None

    def main(self, _name: str, arguments: Sequence[str]) -> int:
        """Run the job from its command line; return the exit status."""
        options, extra = flags.parse_command(self.options, self.name, arguments)
        if isinstance(options, GraphOptions):
            engine_flags.check_used({options.engine}, engine_flags.given_options(extra))
        return self.start(options, extra)

    def start(self, options: PlannedT, extra: Sequence[str] = ()) -> int:
        """Plan the job, and run it or show its plan; return the exit status.

        Args:
            options: Its options.
            extra: Beam options of the user.

        Raises:
            ConfigError: The user must fix something.
            WorkerError: The run failed.
        """
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingJob(_PlannedJob[PlannedT], Generic[PlannedT]):
    """A job that trains a model in one process.

    Attributes:
        train: Trains the model, unless that is already done, and commits it.
    """

    train: Callable[[Planned[PlannedT]], None]

    def start(self, options: PlannedT, extra: Sequence[str] = ()) -> int:
        """Plan the job, and run it or show its plan; return the exit status."""
        self.check(options)
        run = planned(Planned, self.name, self.parts, options, self.refuses)
        if options.plan_only:
            return plan_text.show(run, (), extra)
        self.train(run)
        run_summary.say_where(files.absolute(options.output))
        return 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job(_PlannedJob[GraphT], Generic[GraphT]):
    """A job whose graph makes shards.

    Attributes:
        graph: Adds its steps to a pipeline, for the given shards.
        without_run: Handles options that need no run, and returns the exit status; returns None if
            a run is needed.
        check_run: Checks a planned run, and raises an error to refuse it.
        extra_files: Returns the files that are committed along with the shards.
        beside: Returns the files that are written in addition to the output; called before the run,
            it checks that they can be.
        commit: Commits the run's directory if nothing else is left to do; None for the commit of
            jobs that write pairs.
        after: Cleans up after a finished run.
    """

    graph: Callable[[beam.Pipeline, Run[GraphT], frozenset[int]], None]
    without_run: Callable[[GraphT], int | None] = lambda _: None
    check_run: Callable[[Run[GraphT]], None] = lambda _: None
    extra_files: Callable[[Run[GraphT]], dict[str, bytes]] = lambda _: {}
    beside: Callable[[Run[GraphT]], Sequence[BesideFile]] = lambda _: ()
    commit: Callable[[str], object] | None = None
    after: Callable[[Run[GraphT]], None] = lambda _: None

    def prepare(self, options: GraphT, extra: Sequence[str] = ()) -> Run[GraphT]:
        """Plan the job: read every input once, write nothing.

        Raises:
            ConfigError: The options or the input cannot be used.
        """
        return prepare(self.name, self.parts, options, extra, self.refuses)

    def start(self, options: GraphT, extra: Sequence[str] = ()) -> int:
        """Plan the job, and run it or show its plan; return the exit status."""
        self.check(options)
        answered = self.without_run(options)
        if answered is not None:
            return answered
        run = self.prepare(options, extra)
        self.check_run(run)
        beside = self.beside(run)
        if options.plan_only:
            return plan_text.show(run, plan_text.labels_of(run, self.graph), extra)
        if not execute(run, self.graph, extra, self.extra_files(run), self.commit):
            return 0
        self.after(run)
        for file in beside:
            file.write()
        run_summary.say_where(files.absolute(options.output) if self.commit else options.output)
        return 0
