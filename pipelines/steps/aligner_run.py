"""The facts about a run that an aligner needs."""

from typing import Protocol, TypeAlias

import apache_beam as beam

from pairweave.models.aligner import AlignerReference
from pairweave.pipelines.options.base import JobOptions
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import Plan

Model: TypeAlias = AlignerReference | beam.pvalue.AsSingleton
"""A model that was given, or that the graph makes."""


class AlignerRun(Protocol):
    """A planned run, as far as fitting and using its aligner need it (`pipelines.run.run.Run`)."""

    @property
    def options(self) -> JobOptions:
        """Return the options of the job."""

    @property
    def plan(self) -> Plan:
        """Return the input, divided into units."""

    @property
    def model(self) -> AlignerReference | None:
        """Return the given model; None if one is fitted first."""

    @property
    def tokens(self) -> TokenConfig | None:
        """Return how text is cut; None if a SentencePiece model is trained first."""

    @property
    def model_directory(self) -> str:
        """Return the directory of the model that the run fits."""

    def language_facts(self) -> dict[str, object]:
        """Return the languages of a model fitted by the run."""
