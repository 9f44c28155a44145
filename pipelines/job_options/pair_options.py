"""The options of the jobs on a corpus that align or train: one frozen model a job."""

import math
from typing import Annotated, ClassVar, Literal

import pydantic
from pydantic import Field

from pairweave.models.finetune.finetune_config import TrainingOptions
from pairweave.pipelines.aligners.aligner_options import AlignerOptions
from pairweave.pipelines.job_options.representation_options import RepresentationOptions
from pairweave.pipelines.options.base import (
    GIVEN_TOKENS,
    JobOptions,
    Options,
    PairInputOptions,
    PlannedOptions,
    RowJobOptions,
    SegmenterOptions,
    TrainedTokenOptions,
    TranslatorOptions,
    WordAlignerOptions,
)
from pairweave.pipelines.options.corpus_options import LinkedCorpus, PairCorpus, TaggedCorpus
from pairweave.transforms.config import StepOptions
from pairweave.transforms.filtering.rule_block import RuleBlockOptions
from pairweave.transforms.indexed_tag import RESERVED_PATTERN
from pairweave.transforms.known_options import KnownPairOptions
from pairweave.transforms.links.link_options import (
    ConfidenceLimitOptions,
    DrawOptions,
    PhraseOptions,
    SymmetrizeOptions,
)
from pairweave.transforms.option_facts import (
    FILE_OF_LAUNCHER,
    HUB_MODEL,
    LINE_FILE,
    PLANNED_OTHERWISE,
    SUBWORDS,
    UNPLANNED,
    UNSAID,
    not_at_night,
)
from pairweave.transforms.output.origin_options import OriginOptions
from pairweave.transforms.screen_options import MaxRatio, MaxTokenChars, MaxTokens
from pairweave.transforms.tags.injection_options import (
    FRAGMENT_DEFAULTS,
    GlossaryOptions,
    MaxIdOptions,
    MaxTagsOptions,
    NestingOptions,
    ShapeOptions,
    TaggedRowOptions,
    TagShareOptions,
)


class FitOptions(RuleBlockOptions, TrainedTokenOptions, PairInputOptions, JobOptions, PairCorpus):
    """Options of ``fit``."""

    WRITES_ROWS: ClassVar[bool] = False

    corpora: tuple[PairCorpus, ...] = ()


class TrainedOptions(StepOptions):
    """The encoder to train, and the objectives."""

    model: Annotated[str, HUB_MODEL] = Field(
        min_length=1,
        description="encoder to start from: directory or hub name",
    )
    revision: str | None = Field(
        None,
        description="branch, tag or commit of a hub model",
        json_schema_extra=PLANNED_OTHERWISE,
    )
    objectives: str = Field(
        "mlm,tlm,so,psi",
        pattern=r"^(mlm|tlm|so|psi|co)(,(mlm|tlm|so|psi|co))*$",
        description="training objectives: mlm and tlm (predicting masked pieces of a sentence or a "
        "pair), so (strengthening the encoder's own links), psi (distinguishing translations from "
        "other pairs), co (agreement of both directions)",
    )


class TrainedPairsOptions(WordAlignerOptions, Options):
    """Fitting a word aligner: an encoder, on pairs of the input."""

    tokens: Annotated[str, SUBWORDS] = Field(
        "words",
        pattern=GIVEN_TOKENS,
        description="objective so: units to link: words, whitespace, sentencepiece:MODEL",
    )
    fit_pairs: int = Field(200_000, ge=1, description="approximate number of pairs to train on")


class FinetuneOptions(
    TrainingOptions,
    TrainedOptions,
    TrainedPairsOptions,
    PairInputOptions,
    PlannedOptions,
    PairCorpus,
):
    """Options of ``finetune``. It runs in one process."""

    corpora: tuple[PairCorpus, ...] = ()

    @property
    def aligner_name(self) -> str:
        """Return the encoder to start from."""
        return "finetune"

    @property
    def given_model(self) -> str | None:
        """Return the encoder's directory or hub name."""
        return self.model


class AlignOptions(
    KnownPairOptions,
    RuleBlockOptions,
    SymmetrizeOptions,
    AlignerOptions,
    PairInputOptions,
    RowJobOptions,
    LinkedCorpus,
):
    """Options of ``align``."""

    corpora: tuple[LinkedCorpus, ...] = ()
    max_tokens: MaxTokens = Field(1_000, description="longest side, in tokens")
    max_ratio: MaxRatio = Field(
        math.inf, description="largest ratio of the sides' token counts; inf for none"
    )
    max_token_chars: MaxTokenChars = Field(1_000, description="longest token, in characters")
    pharaoh: Annotated[str | None, LINE_FILE] = Field(
        None,
        min_length=1,
        description="file for the links of each input line, in input order",
        json_schema_extra={**UNPLANNED, **not_at_night("a table has no order of lines")},
    )


class MethodOptions(StepOptions):
    """The phrases to tag."""

    method: Literal["alignment", "fragment", "glossary"] = Field(
        "alignment",
        description="text to tag: alignment, phrase pairs of links; fragment, source fragments "
        "whose translation, by the model's phrases and lexicon or --translator, occurs in the "
        "target; glossary, terms of --glossary that occur on both sides and are linked (for "
        "fragment, max_words 6, max_tags 2, self_closing_share 0.27, damage_share 0.1 by default)",
        json_schema_extra=UNSAID,
    )


class KeptLinksOptions(StepOptions):
    """Keeping links."""

    keep_links: bool = Field(
        default=False,
        description="add the column word_links, the linked words of the untagged texts; "
        "export writes them as an alignment column",
        json_schema_extra=UNSAID,
    )


class AugmentOptions(
    ShapeOptions,
    DrawOptions,
    ConfidenceLimitOptions,
    OriginOptions,
    KeptLinksOptions,
    KnownPairOptions,
    RuleBlockOptions,
    TaggedRowOptions,
    NestingOptions,
    TagShareOptions,
    MaxTagsOptions,
    MaxIdOptions,
    RepresentationOptions,
    PhraseOptions,
    SymmetrizeOptions,
    GlossaryOptions,
    MethodOptions,
    TranslatorOptions,
    SegmenterOptions,
    AlignerOptions,
    PairInputOptions,
    RowJobOptions,
    TaggedCorpus,
):
    """Options of ``augment``.

    Help lists those of the last class first.
    """

    corpora: tuple[TaggedCorpus, ...] = ()
    tag_profile: Annotated[str | None, FILE_OF_LAUNCHER] = Field(
        None,
        description="file of tags profile: draw numbers, forms, lengths, positions and nesting of "
        "tags from it, and with --representation raw their names",
        json_schema_extra=UNSAID,
    )

    @property
    def aligns(self) -> bool:
        """Return True if any rows are tagged; only tagged rows need links."""
        return self.mix > 0

    def reserved_text(self) -> str:
        """Return a pattern of tags in any representation, and of masks."""
        # They read profiles, which takes long to import.
        from pairweave.pipelines.job_options.representation import output_symbols
        from pairweave.transforms.suggestions.span_lengths import MASK

        return "|".join(
            filter(None, (RESERVED_PATTERN, MASK, output_symbols(self, self.tag_profile)))
        )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _fragment_defaults(cls, values: object) -> object:
        """Apply the defaults of fragments."""
        if isinstance(values, dict) and values.get("method") == "fragment":
            return {**FRAGMENT_DEFAULTS, **values}
        return values
