"""What scores the pairs of ``filter``, unless they come with their scores."""

import dataclasses
from collections.abc import Sequence

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.learned_languages import Learned
from pairweave.models.similarity import idf, scorer_reference, vector_projection
from pairweave.models.similarity.idf import IdfReference
from pairweave.models.similarity.scorer_reference import SimilarityReference
from pairweave.models.similarity.similarity_options import (
    SimilarityConfig,
    SimilarityOptions,
    options_of_scorer,
)
from pairweave.pipelines.job_options.filter_options import GIVEN, FilterJobOptions
from pairweave.pipelines.options.base import FITTING
from pairweave.pipelines.parts.part import Fitting, Part, Planning, Settled
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.score import Weights, read_weights
from pairweave.transforms.option_values import refuse_given
from pairweave.transforms.plugins import pair_scorer
from pairweave.transforms.plugins.entry_points import Plugin, plan_plugin
from pairweave.transforms.units import CorpusInput

OF_HMM = FITTING | options_of_scorer(FilterJobOptions, "hmm")
"""Options that only the statistical aligner's scores need."""

_OF_ENCODER = SimilarityOptions.model_fields.keys() - {"scorer"}
_NEEDS_ENCODER = "{applies} to an encoder; give --scorer yisi2 or margin as well"


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


Scorer = Similarity | Weights | Plugin
"""What scores pairs: an encoder, the weights of an aligner's evidence, or another package."""


def _check_scorer(options: FilterJobOptions) -> Plugin | None:
    """Load the scorer of another package, so that its faults are found before any reading."""
    if not options.scored_by_plugin:
        return None
    return plan_plugin(pair_scorer.SCORER, options.scorer, "--scorer")[0]


def _check_scores(options: FilterJobOptions, corpora: Sequence[CorpusInput]) -> None:
    """Refuse corpora of which only some come with scores: all scores are compared."""
    for corpus in corpora if options.scores_are_given else ():
        if corpus.score_field is None and not corpus.score_input:
            name = corpus.name or ", ".join((*corpus.input, *corpus.source_input))
            raise ConfigError(
                f"corpus {name} has no scores, but others have: give score_field or "
                "score_input for each, or for none"
            )


def _plan_scorer(options: FilterJobOptions, planning: Planning) -> Settled[Scorer | None]:
    """Find the encoder and the models learned from its vectors, or read the weights.

    Raises:
        ConfigError: They cannot be used, or an option of another scorer is given.
    """
    if options.scores_are_given:
        why = (
            "the pairs come with their scores (score_field or score_input); leave out one or the "
            "other"
        )
        refuse_given(options, SimilarityOptions.model_fields.keys() | OF_HMM, why)
        return Settled(None, settings={"scorer": GIVEN}, left_out=OF_HMM)
    if options.scorer == "hmm":
        refuse_given(options, _OF_ENCODER, _NEEDS_ENCODER)
        weights = read_weights(options.score_weights)
        return Settled(weights, settings={"score_weights": weights.digest})
    plugin: Plugin | None = planning.checked[SCORER.name]
    if plugin is not None:
        refuse_given(options, _OF_ENCODER, _NEEDS_ENCODER)
        _check_no_hmm(options)
        return Settled(
            plugin,
            settings={"scorer": plugin.name, "scorer_plugin": plugin.facts},
            left_out=OF_HMM,
            packages=(plugin.distribution,),
        )
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


SCORER = Part("scorer", _plan_scorer, check=_check_scorer, check_corpora=_check_scores)
"""What scores the pairs; None if they come with their scores."""


def _check_no_hmm(options: SimilarityOptions) -> None:
    why = (
        f"{{applies}} to the statistical aligner, which --scorer {options.scorer} does not use; "
        "leave {it} out"
    )
    refuse_given(options, OF_HMM, why)


def _find(options: SimilarityOptions) -> Similarity:
    for other in {"yisi2", "margin"} - {options.scorer}:
        why = f"{{applies}} to --scorer {other}, not to {options.scorer}; leave {{it}} out"
        refuse_given(options, options_of_scorer(SimilarityOptions, other), why)
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
    if options.idf is not None:
        why = "pieces are not counted if --idf is given; leave one out"
        refuse_given(options, ["idf_pairs"], why)
    counted = None if options.idf is None else idf.find(options.idf)
    fitted = None if options.projection is None else vector_projection.find(options.projection)
    config = pick(SimilarityConfig, options)
    reference = scorer_reference.find(
        options, config, options.long_pairs, fitted, options.scorer, options.sweep_layers
    )
    if counted is not None:
        scorer_reference.check_idf(reference, counted)
    return Similarity(reference, counted, options.idf_pairs)
