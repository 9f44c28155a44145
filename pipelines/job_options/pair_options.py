"""The options of the jobs on a corpus that align or train: one frozen model a job."""

import math
from typing import Annotated, ClassVar

import pydantic
from pydantic import Field

from pairweave.models.finetune.finetune_config import TrainingOptions
from pairweave.pipelines.aligners.aligner_options import AlignerOptions
from pairweave.pipelines.job_options.drawn_tag_options import DrawnTagOptions
from pairweave.pipelines.options.base import (
    JobOptions,
    Options,
    PlannedOptions,
    RowJobOptions,
    TrainedTokenOptions,
    WordAlignerOptions,
    several_corpora,
)
from pairweave.pipelines.options.corpus_options import LinkedCorpus, PairCorpus, TaggedCorpus
from pairweave.pipelines.options.first_help import (
    INPUT,
    LANGUAGES,
    PLACE,
    RUN,
    TWO_FILES,
    FirstHelp,
)
from pairweave.pipelines.options.text_options import SegmenterOptions, TranslatorOptions
from pairweave.pipelines.options.token_names import GIVEN_TOKENS
from pairweave.transforms.filtering.rule_block import RuleBlockOptions
from pairweave.transforms.indexed_tag import RESERVED_PATTERN
from pairweave.transforms.inspection.look_options import LookOptions
from pairweave.transforms.known_options import KnownPairOptions
from pairweave.transforms.links.link_options import NO_LINKS, ConfidenceConfig, SymmetrizeConfig
from pairweave.transforms.option_marks import (
    AGREES,
    PLANNED_OTHERWISE,
    UNPLANNED,
    UNSAID,
    in_short,
    listed_after,
    not_at_night,
    not_by,
)
from pairweave.transforms.option_places import HUB_MODEL, LINE_FILE, MODEL, SUBWORDS
from pairweave.transforms.option_values import has_form
from pairweave.transforms.output.origin_options import OriginOptions
from pairweave.transforms.screen_options import MaxRatio, MaxTokenChars, MaxTokens
from pairweave.transforms.symbols.mask import MASK
from pairweave.transforms.tags.injection_options import FRAGMENT_DEFAULTS, MethodOptions


class FitOptions(LookOptions, RuleBlockOptions, TrainedTokenOptions, JobOptions, PairCorpus):
    """Options of ``fit``."""

    WRITES_ROWS: ClassVar[bool] = False
    FIRST_HELP: ClassVar[FirstHelp | None] = FirstHelp(
        f"pairweave fit {TWO_FILES} \\\n  {LANGUAGES} --output model/",
        f"{INPUT} {PLACE} tokens fit_pairs {RUN}",
    )

    corpora: tuple[PairCorpus, ...] = several_corpora()
    prior: Annotated[str | None, MODEL] = Field(
        None,
        min_length=1,
        description="directory of an earlier fit of the same languages on other text; what it says "
        "about a word counts as a few occurrences (default: none)",
        json_schema_extra=PLANNED_OTHERWISE,
    )


class TrainedPairsOptions(WordAlignerOptions, Options):
    """Fitting a word aligner: an encoder, on pairs of the input."""

    tokens: Annotated[str, SUBWORDS, *GIVEN_TOKENS] = Field(
        "words",
        description="objective so: units to link: words, whitespace, sentencepiece:MODEL, or those "
        "of another installed package",
        json_schema_extra={**AGREES, **in_short("units that objective so links (default words)")},
    )
    fit_pairs: int = Field(200_000, ge=1, description="approximate number of pairs to train on")


class FinetuneOptions(
    TrainingOptions,
    TrainedPairsOptions,
    PlannedOptions,
    PairCorpus,
):
    """Options of ``finetune``. It runs in one process."""

    ALIGNER: ClassVar[str] = "finetune"
    WRITES_ROWS: ClassVar[bool] = False
    FIRST_HELP: ClassVar[FirstHelp | None] = FirstHelp(
        f"pairweave finetune --model DIR --layer 8 \\\n  {TWO_FILES} --output tuned/",
        f"source_input target_input {PLACE} objectives layer plan_only",
    )

    corpora: tuple[PairCorpus, ...] = several_corpora()
    model: Annotated[str, HUB_MODEL] = Field(
        min_length=1,
        description="encoder to start from: directory or hub name",
        json_schema_extra=listed_after("fit_pairs"),
    )
    revision: str | None = Field(
        None,
        description="branch, tag or commit of a hub model",
        json_schema_extra={**PLANNED_OTHERWISE, **listed_after("model")},
    )
    objectives: Annotated[
        str,
        has_form(
            "(mlm|tlm|so|psi|co)(,(mlm|tlm|so|psi|co))*",
            "one or more of mlm, tlm, so, psi and co, such as mlm,tlm",
        ),
    ] = Field(
        "mlm,tlm,so,psi",
        description="training objectives: mlm and tlm (predicting masked pieces of a sentence or a "
        "pair), so (strengthening the encoder's own links), psi (distinguishing translations from "
        "other pairs), co (agreement of both directions)",
        json_schema_extra=listed_after("revision"),
    )


class AlignOptions(
    LookOptions,
    KnownPairOptions,
    RuleBlockOptions,
    SymmetrizeConfig,
    AlignerOptions,
    RowJobOptions,
    LinkedCorpus,
):
    """Options of ``align``."""

    FIRST_HELP: ClassVar[FirstHelp | None] = FirstHelp(
        f"pairweave align {TWO_FILES} \\\n  {LANGUAGES} --pharaoh links.txt --output linked/",
        f"{INPUT} {PLACE} pharaoh aligner model tokens heuristic {RUN}",
    )

    corpora: tuple[LinkedCorpus, ...] = several_corpora()
    max_tokens: MaxTokens = Field(1_000, description="longest side, in tokens")
    max_ratio: MaxRatio = Field(
        math.inf, description="largest ratio of the sides' token counts; inf for none"
    )
    max_token_chars: MaxTokenChars = Field(1_000, description="longest token, in characters")
    pharaoh: Annotated[str | None, LINE_FILE] = Field(
        None,
        min_length=1,
        description="file for the links of each input line, in input order [.gz .zst .xz .bz2]",
        json_schema_extra={**UNPLANNED, **not_at_night("a table has no order of lines")},
    )


class AugmentOptions(
    LookOptions,
    ConfidenceConfig,
    OriginOptions,
    KnownPairOptions,
    RuleBlockOptions,
    DrawnTagOptions,
    SymmetrizeConfig,
    MethodOptions,
    TranslatorOptions,
    SegmenterOptions,
    AlignerOptions,
    RowJobOptions,
    TaggedCorpus,
):
    """Options of ``augment``.

    Help lists those of the last class first.
    """

    FIRST_HELP: ClassVar[FirstHelp | None] = FirstHelp(
        f"pairweave augment {TWO_FILES} \\\n  {LANGUAGES} --max_tags 3 --output tagged/",
        f"{INPUT} {PLACE} model mix max_tags representation exclude filter keep_links {RUN}",
    )

    corpora: tuple[TaggedCorpus, ...] = several_corpora()
    keep_links: bool = Field(
        default=False,
        description="add the column word_links, the linked words of the untagged texts; "
        "export writes them as an alignment column",
        json_schema_extra={
            **UNSAID,
            **listed_after("taken_down"),
            **not_by(fragment=NO_LINKS),
            **in_short("keep links, for export and stream"),
        },
    )

    @property
    def aligns(self) -> bool:
        """Return True if any rows are tagged; only tagged rows need links."""
        return self.mix > 0

    def reserved_text(self) -> str:
        """Return a pattern of tags in any representation, and of masks."""
        # These modules read profiles, and take long to import.
        from pairweave.pipelines.job_options.representation import output_symbols

        return "|".join(filter(None, (RESERVED_PATTERN, MASK, output_symbols(self))))

    @pydantic.model_validator(mode="before")
    @classmethod
    def _fragment_defaults(cls, values: object) -> object:
        """Apply the defaults of fragments."""
        if isinstance(values, dict) and values.get("method") == "fragment":
            return {**FRAGMENT_DEFAULTS, **values}
        return values
