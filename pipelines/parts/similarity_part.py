"""The encoder that scores the pairs of a job."""

import dataclasses

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.similarity import idf, scorer_reference, vector_projection
from pairweave.models.similarity.idf import IdfReference
from pairweave.models.similarity.scorer_reference import SimilarityReference
from pairweave.models.similarity.similarity_options import (
    OF_SCORER,
    SimilarityConfig,
    SimilarityOptions,
    options_of_scorer,
)
from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.options.base import FITTING
from pairweave.pipelines.parts.part import Fitting, Learned, Part, Planning, Settled
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import mark_of
from pairweave.transforms.option_values import dashed

OF_HMM = FITTING | options_of_scorer(FilterJobOptions, "hmm")
"""Options that only the statistical aligner's scores need."""


@dataclasses.dataclass(frozen=True)
class Similarity:
    """The encoder that scores a run's pairs.

    Attributes:
        reference: The encoder and how it scores.
        idf: Document frequencies of its pieces; None if the run counts them.
        idf_pairs: Number of pairs to count them on.
    """

    reference: SimilarityReference
    idf: IdfReference | None
    idf_pairs: int

    @property
    def encoder(self) -> EncoderConfig:
        """Return the encoder's settings."""
        return self.reference.encoder

    @property
    def settings(self) -> dict[str, object]:
        """Return everything that determines the scores."""
        source: dict[str, object] = {}
        if self.counts:
            source = {"idf": "corpus", "idf_pairs": self.idf_pairs}
        elif self.idf is not None:
            source = {"idf": self.idf.digest}
        return {**self.reference.settings, **source}

    @property
    def counts(self) -> bool:
        """Return True if the run counts the encoder's pieces."""
        return self.reference.scorer == "yisi2" and self.idf is None

    def with_threads(self, threads: int) -> "Similarity":
        """Return a copy whose encoder processes up to ``threads`` batches at once."""
        return dataclasses.replace(self, reference=self.reference.with_threads(threads))

    def learned(self) -> tuple[Learned, ...]:
        """Return the models learned from pairs of two languages: counts of pieces, a projection."""
        projection = self.reference.projection
        models = (("--idf", "counts", self.idf), ("--projection", "a map", projection))
        return tuple(
            Learned(option, each.directory, kind, each.load().about)
            for option, kind, each in models
            if each is not None
        )


class SimilarityPart(Part[FilterJobOptions, Similarity | None]):
    """The encoder that scores pairs; None if no encoder does."""

    name = "similarity"
    options = SimilarityOptions

    def plan(self, options: FilterJobOptions, planning: Planning) -> Settled[Similarity | None]:
        """Find the encoder, and the models learned from its vectors.

        Raises:
            ConfigError: It cannot be used, or an option of another scorer is given.
        """
        if options.scores_are_given:
            _check_nothing_scores(options)
            return Settled(None, left_out=OF_HMM)
        if options.scorer == "hmm":
            _check_no_encoder(options)
            return Settled(None)
        if options.scored_by_plugin:
            _check_no_encoder(options)
            _check_no_hmm(options)
            return Settled(None, left_out=OF_HMM)
        similarity = _find(options)
        fitting = None
        if similarity.counts:
            fitting = Fitting(idf.DIRECTORY, options.idf_pairs, idf.find_whole)
        reference = similarity.reference
        return Settled(
            similarity,
            settings=similarity.settings,
            left_out=OF_HMM,
            models=tuple(
                each
                for each in (reference.encoder, reference.projection, similarity.idf)
                if each is not None
            ),
            packages=("torch", "transformers"),
            learned=similarity.learned(),
            fitting=fitting,
        )


def _check_nothing_scores(options: FilterJobOptions) -> None:
    of_others = sorted(options.model_fields_set & (SimilarityOptions.model_fields.keys() | OF_HMM))
    if of_others:
        raise ConfigError(
            f"{dashed(of_others)}: the pairs come with their scores (score_field or score_input); "
            "leave out one or the other"
        )


def _check_no_encoder(options: SimilarityOptions) -> None:
    foreign = sorted(options.model_fields_set & SimilarityOptions.model_fields.keys() - {"scorer"})
    if foreign:
        raise ConfigError(
            f"{dashed(foreign)}: applies to an encoder; give --scorer yisi2 or margin as well"
        )


def _check_no_hmm(options: SimilarityOptions) -> None:
    foreign = sorted(options.model_fields_set & OF_HMM)
    if foreign:
        raise ConfigError(
            f"{dashed(foreign)}: applies to the statistical aligner, which --scorer "
            f"{options.scorer} does not use; leave it out"
        )


def _find(options: SimilarityOptions) -> Similarity:
    _check_scorer(options)
    _check_no_hmm(options)
    if options.encoder is None:
        raise ConfigError(
            f"--scorer {options.scorer} needs --encoder DIRECTORY, or --encoder OWNER/NAME"
        )
    if options.projection is not None and options.sweep_layers is not None:
        raise ConfigError(
            "--sweep_layers: a projection is fitted on one layer; leave --projection out, or fit "
            "one for the layer that the sweep shows to be best"
        )
    if options.idf is not None and "idf_pairs" in options.model_fields_set:
        raise ConfigError("--idf_pairs: pieces are not counted if --idf is given; leave one out")
    counted = None if options.idf is None else idf.find(options.idf)
    fitted = None if options.projection is None else vector_projection.find(options.projection)
    config = pick(SimilarityConfig, options)
    reference = scorer_reference.find(
        options, config, options.long_pairs, fitted, options.scorer, options.sweep_layers
    )
    if counted is not None:
        scorer_reference.check_idf(reference, counted)
    return Similarity(reference, counted, options.idf_pairs)


def _check_scorer(options: SimilarityOptions) -> None:
    """Refuse options of the other scorer that has an encoder."""
    owners = {
        name: mark_of(SimilarityOptions.model_fields[name], OF_SCORER)
        for name in options.model_fields_set & SimilarityOptions.model_fields.keys()
    }
    unused = sorted(name for name in owners if owners[name] not in (None, options.scorer))
    if unused:
        raise ConfigError(
            f"{dashed(unused)}: applies to --scorer {owners[unused[0]]}, not to {options.scorer}; "
            "leave it out"
        )


SIMILARITY = SimilarityPart()
