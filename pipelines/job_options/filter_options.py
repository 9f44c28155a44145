"""The options of the job ``filter``."""

from typing import Annotated, ClassVar

import pydantic
from pydantic import Field

from pairweave.models.similarity.similarity_options import SimilarityOptions, of_scorer
from pairweave.pipelines.options.base import (
    FITTED_MODEL,
    OF_OUTPUT,
    Patterns,
    RowJobOptions,
    TrainedTokenOptions,
    several_corpora,
)
from pairweave.pipelines.options.corpus_options import ScoredCorpus
from pairweave.pipelines.options.first_help import (
    INPUT,
    LANGUAGES,
    PLACE,
    RUN,
    TWO_FILES,
    FirstHelp,
)
from pairweave.transforms.filtering.rule_options import (
    DuplicateConfig,
    RuleOptions,
    SelectionOptions,
)
from pairweave.transforms.inspection.look_options import LookOptions
from pairweave.transforms.known_options import KnownPairOptions
from pairweave.transforms.option_marks import (
    OF_COMMAND,
    PLANNED_OTHERWISE,
    UNPLANNED,
    in_short,
    listed_after,
    not_at_night,
    not_in_steps,
)
from pairweave.transforms.option_places import (
    EARLIER,
    FILE_OF_LAUNCHER,
    LINE_FILE,
    MODEL,
    OUTPUT_DIRECTORY,
)
from pairweave.transforms.plugins.pair_scorer import SCORER

GIVEN = "given"
"""The scorer that a plan names if pairs come with their scores."""


class FilterJobOptions(
    LookOptions,
    SelectionOptions,
    KnownPairOptions,
    DuplicateConfig,
    RuleOptions,
    SimilarityOptions,
    TrainedTokenOptions,
    RowJobOptions,
    ScoredCorpus,
):
    """Options of ``filter``."""

    corpora: tuple[ScoredCorpus, ...] = several_corpora()

    FIRST_HELP: ClassVar[FirstHelp | None] = FirstHelp(
        f"pairweave filter {TWO_FILES} \\\n  {LANGUAGES} --select_words 5000000 --output clean/",
        f"{INPUT} {PLACE} model scorer select_words detector exclude duplicates annotate_only "
        f"preview {RUN}",
    )
    PASSED: ClassVar[str] = "the screen and the rules"

    model: Annotated[str | None, MODEL] = Field(
        None,
        min_length=1,
        description="hmm: directory of a fitted aligner (default: fit one on the pairs that pass "
        "the rules)",
        json_schema_extra={**FITTED_MODEL, **of_scorer("hmm"), **listed_after("vocabulary")},
    )
    score_weights: Annotated[str | None, FILE_OF_LAUNCHER] = Field(
        None,
        min_length=1,
        description="hmm: weights of the score, as filter_fit makes them (default: those that "
        "ship)",
        json_schema_extra={**of_scorer("hmm"), **listed_after("model")},
    )
    scores: Annotated[str | None, LINE_FILE] = Field(
        None,
        min_length=1,
        description="file for the score of each input line, in input order [.gz .zst .xz .bz2]; 0 "
        "for a pair that was rejected before the selection",
        json_schema_extra={
            **listed_after("score_weights"),
            **UNPLANNED,
            **not_at_night("a table has no order of lines"),
        },
    )
    earlier: Annotated[Patterns, EARLIER] = Field(
        (),
        description="finished runs of bitext, filter or align, or files with both sides (.tsv "
        ".jsonl .parquet .tmx [.gz .zst .xz .bz2]), whose pairs are rejected; addresses and "
        "numbers are ignored unless --duplicates is exact",
        json_schema_extra={**PLANNED_OTHERWISE, **listed_after("near_threshold")},
    )
    output: Annotated[str, OUTPUT_DIRECTORY] = Field(
        "",
        description="directory or URI of the run's files; required unless --preview is given",
        json_schema_extra=OF_OUTPUT,
    )
    preview: int | None = Field(
        None,
        ge=1,
        description="print the result of each rule for the first N pairs of each corpus (value, "
        "limit, verdict), and how many pairs it rejects; run nothing, write nothing",
        json_schema_extra={
            **UNPLANNED,
            **OF_COMMAND,
            **not_at_night("run filter itself for a preview"),
            **not_in_steps("shows pairs and runs nothing"),
            **in_short("show what the rules do to the first N pairs, and stop"),
        },
    )

    @pydantic.model_validator(mode="after")
    def _near_alone_has_a_threshold(self) -> "FilterJobOptions":
        """Refuse a threshold of near-duplicates if these are not searched."""
        if "near_threshold" in self.model_fields_set and self.duplicates != "near":
            raise ValueError(
                f"--near_threshold: applies to --duplicates near, not to {self.duplicates}; leave "
                "it out"
            )
        return self

    @pydantic.model_validator(mode="after")
    def _scores_are_shares_unless_given(self) -> "FilterJobOptions":
        """Refuse a minimum score that no score, or every score, would reach."""
        least, any_number = self.select_score, self.scores_are_given or self.scored_by_plugin
        if least is not None and not any_number and not 0 <= least <= 1:
            raise ValueError(
                f"--select_score: {least:g}: scores are from 0 to 1, unless --score_field, "
                "--score_input or a --scorer of another package gives others"
            )
        return self

    @property
    def scores_are_given(self) -> bool:
        """Return True if pairs come with their scores."""
        return any(
            corpus.score_field is not None or corpus.score_input for corpus in (self, *self.corpora)
        )

    @property
    def scored_by_plugin(self) -> bool:
        """Return True if the scorer is from another package."""
        return self.scorer not in SCORER.built_in

    @property
    def aligns(self) -> bool:
        """Return True if the score needs an aligner."""
        return self.scorer == "hmm" and not self.scores_are_given

    @property
    def shards_are_independent(self) -> bool:
        """Return False if pairs are compared or ranked across shards."""
        ranked = self.select_words is not None or self.select_share is not None
        return not ranked and self.duplicates != "near" and self.scorer != "margin"

    @property
    def given_model(self) -> str | None:
        """Return the directory of the fitted aligner, if one is given."""
        return self.model if self.aligns else None

    @property
    def may_fit_nothing(self) -> bool:
        """Return True if the run writes pairs even if none passes the rules."""
        return self.allow_empty or self.annotate_only

    @property
    def writes_every_pair(self) -> bool:
        """Return True if pairs that would be rejected are written too."""
        return self.annotate_only
