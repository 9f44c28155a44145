"""A planned job on a corpus."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, Generic

import apache_beam as beam
from typing_extensions import TypeVar

from pairweave.models.aligner import AlignerReference
from pairweave.models.model_store import ModelReference
from pairweave.pipelines.aligners.aligner_registry import aligner_of
from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.pipelines.options.base import GraphOptions, PlannedOptions
from pairweave.pipelines.parts.aligner_parts import ALIGNER
from pairweave.pipelines.parts.part import Fitting, Part, ResultT, Settled
from pairweave.pipelines.parts.text_parts import SCREEN
from pairweave.transforms.output import attempt_marks
from pairweave.transforms.output.origin_options import OriginOptions
from pairweave.transforms.output.run_files import WriteConfig
from pairweave.transforms.screen import ScreenConfig
from pairweave.transforms.storage import files
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import Plan, ReadLimits

Graph = Callable[[beam.Pipeline], None]
"""Adds a job's steps to a pipeline."""


PlannedT = TypeVar("PlannedT", bound=PlannedOptions)
GraphT = TypeVar("GraphT", bound=GraphOptions)
_PlannedT = TypeVar("_PlannedT", bound=PlannedOptions, default=PlannedOptions, covariant=True)
_GraphT = TypeVar("_GraphT", bound=GraphOptions, default=GraphOptions, covariant=True)


@dataclasses.dataclass(frozen=True)
class Planned(Generic[_PlannedT]):
    """A planned job on a corpus, whose input has been read once and which is ready to start.

    Attributes:
        job: The job's name.
        options: Its options.
        plan: Its input, divided into units.
        limits: Limits of the readers.
        settled: The planning results of its parts, by their names.
        document: Content of ``_plan.json``, without absolute paths.
        digest: Digest of the document, written to every receipt.
        shards: Number of shards.
    """

    job: str
    options: _PlannedT
    plan: Plan
    limits: ReadLimits
    settled: Mapping[str, Settled[Any]]
    document: dict[str, object]
    digest: str
    shards: int

    def result_of(self, part: Part[Any, ResultT]) -> ResultT:
        """Return what a part of the job provides for its steps; the job must have the part."""
        result: ResultT = self.settled[part.name].result
        return result

    def find(self, part: Part[Any, ResultT]) -> ResultT | None:
        """Return what a part provides for its steps; None if the job does not have the part."""
        return self.result_of(part) if part.name in self.settled else None

    @property
    def aligner(self) -> JobAligner:
        """Return the aligner's entry in the registry."""
        return aligner_of(self.options)

    @property
    def model(self) -> AlignerReference | None:
        """Return the aligner's given model; None if one is fitted first."""
        return self.result_of(ALIGNER).reference

    @property
    def tokens(self) -> TokenConfig | None:
        """Return how text is cut; None if a SentencePiece model is trained first."""
        return self.result_of(ALIGNER).tokens

    @property
    def screen(self) -> ScreenConfig:
        """Return the limits of the screen."""
        return self.result_of(SCREEN)

    @property
    def engine_and_workers(self) -> tuple[str, int]:
        """Return the engine and how many processes work at once."""
        return "local", 1

    @property
    def packages(self) -> tuple[str, ...]:
        """Return the Python distributions that run its models and read its input."""
        of_formats = (unit.plugin.distribution for unit in self.plan.units if unit.plugin)
        of_parts = (name for part in self.settled.values() for name in part.packages)
        return tuple(dict.fromkeys((*of_parts, *of_formats)))


@dataclasses.dataclass(frozen=True)
class Run(Planned[_GraphT], Generic[_GraphT]):
    """A planned job whose graph makes shards; ``Run[AugmentOptions]`` is one of ``augment``.

    Attributes:
        attempt: The attempt that marks the shards it works on; empty if it does not.
        partial: Whether a graph leaves missing shards for later, so that it does not commit.
    """

    attempt: str = ""
    partial: bool = False

    @property
    def engine_and_workers(self) -> tuple[str, int]:
        """Return the engine and how many processes work at once."""
        return self.options.engine, self.options.workers

    @property
    def fitting(self) -> Fitting | None:
        """Return the model that the run makes first; None if it makes none."""
        every = (part.fitting for part in self.settled.values())
        return next((fitting for fitting in every if fitting is not None), None)

    @property
    def fits(self) -> bool:
        """Return True if the run makes a model first, such as an aligner."""
        return self.fitting is not None

    def find_fitted(self) -> ModelReference | None:
        """Return the model that an earlier attempt of the run made, if it is complete."""
        return None if self.fitting is None else self.fitting.find(self.model_directory)

    @property
    def write_config(self) -> WriteConfig:
        """Return the location of the run's files, and metadata for them."""
        recorded = {k: v for part in self.settled.values() for k, v in part.recorded.items()}
        return WriteConfig(
            files.absolute(self.options.output),
            self.shards,
            self.digest,
            str(self.document["signature"]),
            recorded,
            origin=isinstance(self.options, OriginOptions) and self.options.keep_origin,
            attempt=self.attempt,
            partial=self.partial,
        )

    @property
    def begin(self) -> Callable[[int], None] | None:
        """Return the function that marks a shard as begun; None if the attempt marks no shards."""
        if not self.attempt:
            return None
        output = files.absolute(self.options.output)
        return functools.partial(
            attempt_marks.begin, output=output, shards=self.shards, attempt=self.attempt
        )

    @property
    def model_directory(self) -> str:
        """Return the directory of the model that this run makes, which may be its output."""
        output = files.absolute(self.options.output)
        if self.fitting is None or not self.options.WRITES_ROWS:
            return output
        return files.join(output, self.fitting.directory)

    def language_facts(self) -> dict[str, object]:
        """Return the languages of a model fitted by this run."""
        return {
            side: sorted({getattr(unit, side) for unit in self.plan.units})
            for side in ("source_lang", "target_lang")
        }
