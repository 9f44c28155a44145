"""A planned job on a corpus."""

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic

import apache_beam as beam
from typing_extensions import TypeVar

from pairweave.models.aligner import AlignerReference, LoadableReference
from pairweave.models.similarity import idf
from pairweave.models.similarity.idf import IdfReference
from pairweave.models.translators import translator_reference
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.aligners.aligner_registry import aligner_of
from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.pipelines.model_choice.scorer_choice import PairScorer
from pairweave.pipelines.model_choice.similarity_choice import Similarity
from pairweave.pipelines.options.base import GraphOptions, PlannedOptions
from pairweave.transforms.filtering.rule_block import RuleBlockOptions
from pairweave.transforms.known_options import KnownPairOptions
from pairweave.transforms.known_pairs import KnownPairs
from pairweave.transforms.output import attempt_marks
from pairweave.transforms.output.origin_options import OriginOptions
from pairweave.transforms.output.run_files import WriteConfig
from pairweave.transforms.screen import ScreenConfig
from pairweave.transforms.storage import files
from pairweave.transforms.tags.glossary import Glossary
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import Plan, ReadLimits

if TYPE_CHECKING:
    from pairweave.pipelines.filtering.minimum_score import Minimum
    from pairweave.transforms.filtering.rules import RuleConfig

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
        screen: Limits of the screen.
        document: Content of ``_plan.json``, without absolute paths.
        digest: Digest of the document, written to every receipt.
        shards: Number of shards.
        model: The given model; None if one is fitted first.
        tokens: How text is cut; None if a SentencePiece model is trained first.
    """

    job: str
    options: _PlannedT
    plan: Plan
    limits: ReadLimits
    screen: ScreenConfig
    document: dict[str, object]
    digest: str
    shards: int
    model: AlignerReference | None
    tokens: TokenConfig | None

    @property
    def aligner(self) -> JobAligner:
        """Return the aligner's entry in the registry."""
        return aligner_of(self.options)

    @property
    def place(self) -> tuple[str, int]:
        """Return the engine and how many processes work at once."""
        return "local", 1

    @property
    def packages(self) -> tuple[str, ...]:
        """Return the distributions that run its models."""
        return self.aligner.packages


@dataclasses.dataclass(frozen=True)
class Run(Planned[_GraphT], Generic[_GraphT]):
    """A planned job whose graph makes shards; ``Run[AugmentOptions]`` is one of ``augment``.

    Attributes:
        second: The second aligner, if any.
        translator: The translator of sources without a translation, if any.
        scorer: The scorer of suggestions, if any.
        similarity: The encoder that scores pairs, if any.
        segmenter: Finds words in scripts without spaces (`transforms.text.segmenter`).
        glossary: The glossary of terms to tag, if any.
        earlier: Pairs to exclude, if any.
        attempt: The attempt that marks the shards it works on; empty if it does not.
        partial: Whether a graph leaves missing shards for later, so that it does not commit.
    """

    second: LoadableReference | None = None
    translator: TranslatorReference | None = None
    scorer: PairScorer | None = None
    similarity: Similarity | None = None
    segmenter: str = NONE
    glossary: Glossary | None = None
    earlier: Plan | None = None
    attempt: str = ""
    partial: bool = False

    @property
    def place(self) -> tuple[str, int]:
        """Return the engine and how many processes work at once."""
        return self.options.engine, self.options.workers

    @property
    def packages(self) -> tuple[str, ...]:
        """Return the distributions that run its models."""
        scorers = () if self.scorer is None else (self.scorer.forward, self.scorer.reverse)
        translators = filter(None, (self.translator, *scorers))
        own = (name for each in translators for name in translator_reference.packages(each))
        neural = () if self.similarity is None else ("torch", "transformers")
        return (*super().packages, *own, *neural)

    @property
    def fits(self) -> bool:
        """Return True if the run fits an aligner first, or counts the pieces of an encoder."""
        if self.similarity is not None:
            return self.similarity.counts
        return self.model is None and self.options.aligns

    def find_fitted(self) -> AlignerReference | IdfReference | None:
        """Return what an earlier attempt of the run fitted, if it is complete."""
        if self.similarity is not None:
            return idf.find_whole(self.model_directory)
        return self.aligner.find_fitted(self.options, self.model_directory)

    @property
    def settings(self) -> "dict[str, object]":
        """Return the settings in the plan."""
        found = self.document["configuration"]
        assert isinstance(found, dict)
        return found

    @property
    def known(self) -> KnownPairs | None:
        """Return the pairs that are dealt with already, if any are given."""
        options = self.options
        if not isinstance(options, KnownPairOptions) or not options.known_files():
            return None
        given = (options.known_pairs, options.taken_down)
        return KnownPairs(*(None if path is None else files.absolute(path) for path in given))

    @property
    def rules(self) -> "RuleConfig | None":
        """Return the rules that are applied after the screen, if there are any."""
        if not isinstance(self.options, RuleBlockOptions) or self.options.filter is None:
            return None
        from pairweave.transforms.filtering.rules import rule_config

        block = self.settings["filter"]
        assert isinstance(block, dict)
        return rule_config(self.options.filter, block["detector"])

    @property
    def minimum(self) -> "Minimum | None":
        """Return the score that a pair must have behind the rules, if there is one."""
        if self.rules is None:
            return None
        from pairweave.models.hmm.hmm_reference import HmmReference
        from pairweave.pipelines.filtering.minimum_score import Minimum

        assert isinstance(self.options, RuleBlockOptions)
        block, planned = self.options.filter, self.settings["filter"]
        if block is None or block.min_score is None or block.score_model is None:
            return None
        assert isinstance(planned, dict)
        place = files.absolute(block.score_model)
        return Minimum(block.min_score, HmmReference(place, planned["score_model"]))

    @property
    def write_config(self) -> WriteConfig:
        """Return the location of the run's files, and metadata for them."""
        line = str(self.document["signature"])
        translator = None if self.translator is None else self.translator.digest
        output = files.absolute(self.options.output)
        origin = isinstance(self.options, OriginOptions) and self.options.keep_origin
        return WriteConfig(
            output,
            self.shards,
            self.digest,
            line,
            translator,
            origin=origin,
            attempt=self.attempt,
            partial=self.partial,
        )

    @property
    def begin(self) -> Callable[[int], None] | None:
        """Return what marks a shard as begun, if the attempt marks its shards."""
        if not self.attempt:
            return None
        output = files.absolute(self.options.output)
        return functools.partial(
            attempt_marks.begin, output=output, shards=self.shards, attempt=self.attempt
        )

    @property
    def model_directory(self) -> str:
        """Return the directory of a model that this run fits."""
        output = files.absolute(self.options.output)
        if not self.options.WRITES_ROWS:
            return output
        if self.similarity is not None:
            return files.join(output, idf.DIRECTORY)
        return files.join(output, self.aligner.model_name(self.options))

    def language_facts(self) -> dict[str, object]:
        """Return the languages that a model fitted by this run is for."""
        return {
            "source_lang": sorted({unit.source_lang for unit in self.plan.units}),
            "target_lang": sorted({unit.target_lang for unit in self.plan.units}),
        }
