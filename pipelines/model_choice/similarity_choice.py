"""Choose the encoder that scores the pairs of a job from its options."""

import dataclasses

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.similarity import idf, scorer_reference, vector_projection
from pairweave.models.similarity.idf import IdfReference
from pairweave.models.similarity.scorer_reference import SimilarityReference
from pairweave.models.similarity.similarity_config import SimilarityConfig
from pairweave.models.similarity.similarity_options import (
    MarginOptions,
    SimilarityOptions,
    YisiOptions,
)
from pairweave.pipelines.options.base import PlannedOptions
from pairweave.pipelines.options.filter_options import FilterJobOptions
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError

OF_HMM = frozenset({"model", "score_weights", "fit_pairs", "decode"})
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


def choose_similarity(options: PlannedOptions) -> Similarity | None:
    """Return the encoder that scores a job's pairs, if one does.

    Raises:
        ConfigError: It cannot be used, or an option of another scorer is given.
    """
    if not isinstance(options, SimilarityOptions):
        return None
    given = options.model_fields_set
    if isinstance(options, FilterJobOptions) and options.scores_are_given:
        of_others = sorted(given & (SimilarityOptions.model_fields.keys() | OF_HMM))
        if of_others:
            raise ConfigError(
                f"{_named(of_others)}: the pairs come with their scores (score_field or "
                "score_input); leave out one or the other"
            )
        return None
    if options.scorer == "hmm":
        foreign = sorted(given & SimilarityOptions.model_fields.keys() - {"scorer"})
        if foreign:
            raise ConfigError(
                f"{_named(foreign)}: applies to an encoder; give --scorer yisi2 or margin as well"
            )
        return None
    _check_scorer(options)
    foreign = sorted(given & OF_HMM)
    if foreign:
        raise ConfigError(
            f"{_named(foreign)}: applies to the statistical aligner, which --scorer "
            f"{options.scorer} does not use; leave it out"
        )
    if options.encoder is None:
        raise ConfigError(
            f"--scorer {options.scorer} needs --encoder DIRECTORY, or --encoder OWNER/NAME"
        )
    if options.projection is not None and options.sweep_layers is not None:
        raise ConfigError(
            "--sweep_layers: a projection is fitted on one layer; leave --projection out, or fit "
            "one for the layer that the sweep shows to be best"
        )
    if options.idf is not None and "idf_pairs" in given:
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
    """Refuse options of the other scorer that has an encoder.

    Raises:
        ConfigError: There are such options.
    """
    of_yisi = {*YisiOptions.model_fields, "idf", "idf_pairs", "projection", "sweep_layers"}
    own, other = ("margin", of_yisi), ("yisi2", set(MarginOptions.model_fields))
    scorer, foreign = other if options.scorer == "yisi2" else own
    unused = sorted(foreign & options.model_fields_set)
    if unused:
        wanted = "margin" if scorer == "yisi2" else "yisi2"
        raise ConfigError(
            f"{_named(unused)}: applies to --scorer {wanted}, not to {scorer}; leave it out"
        )


def _named(options: list[str]) -> str:
    return ", ".join(f"--{name}" for name in options)
