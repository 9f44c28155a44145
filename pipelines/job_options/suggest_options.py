"""The options of ``suggest``."""

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar

import pydantic
from pydantic import Field

from pairweave.models.encoder.encoder_options import IN_NAME, CompareUnit, HeadName
from pairweave.pipelines.aligners.aligner_options import TranslationAlignerOptions
from pairweave.pipelines.options.base import Patterns, RowJobOptions, several_corpora
from pairweave.pipelines.options.corpus_options import TranslatedCorpus
from pairweave.pipelines.options.first_help import LANGUAGES, PLACE, RUN, TWO_FILES, FirstHelp
from pairweave.pipelines.options.text_options import (
    SegmenterOptions,
    TranslatorName,
    TranslatorOptions,
)
from pairweave.transforms.filtering.rule_block import RuleBlockOptions
from pairweave.transforms.inspection.look_options import LookOptions
from pairweave.transforms.known_options import KnownPairOptions
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.option_marks import listed_after
from pairweave.transforms.option_places import FILES_OF_LAUNCHER
from pairweave.transforms.output.origin_options import OriginOptions
from pairweave.transforms.screen_options import MAX_TOKENS, MaxTokens
from pairweave.transforms.suggestions.suggestion_options import (
    AlignedConfig,
    FilterConfig,
    HintConfig,
    MaskOptions,
    RandomConfig,
)
from pairweave.transforms.symbols.mask import MASK
from pairweave.transforms.units import Notice


class SuggestOptions(
    LookOptions,
    OriginOptions,
    KnownPairOptions,
    RuleBlockOptions,
    HintConfig,
    FilterConfig,
    AlignedConfig,
    RandomConfig,
    MaskOptions,
    SymmetrizeConfig,
    TranslatorOptions,
    SegmenterOptions,
    TranslationAlignerOptions,
    RowJobOptions,
    TranslatedCorpus,
):
    """Options of ``suggest``.

    Help lists those of the last class first.
    """

    TRANSLATIONS: ClassVar[bool] = True
    FIRST_HELP: ClassVar[FirstHelp | None] = FirstHelp(
        f"pairweave suggest {TWO_FILES} \\\n  --translation_input mt.de.gz {LANGUAGES} "
        "--output suggestions/",
        f"source_input target_input translation_input {PLACE} methods aligner translator mix hint "
        f"fit_lengths {RUN}",
    )

    corpora: tuple[TranslatedCorpus, ...] = several_corpora()
    fit_lengths: Annotated[Patterns, FILES_OF_LAUNCHER] = Field(
        (),
        description="golden set to imitate and compare with: its .mask, .tgt and optional .src "
        "files",
        json_schema_extra=listed_after("variants"),
    )
    scorer: TranslatorName = Field(
        None,
        description="model from source to target, given as in --translator; with --reverse_scorer "
        "it fills the column score: the dual conditional cross-entropy, lower is better",
        json_schema_extra=listed_after("min_confidence"),
    )
    reverse_scorer: TranslatorName = Field(
        None,
        description="model from target to source, given as in --translator",
        json_schema_extra=listed_after("scorer"),
    )
    max_tokens: MaxTokens = Field(
        250,
        description="longest side, in tokens; Chinese and Japanese have one per character, Thai "
        "one per grapheme (with --max_source_words: that times --max_ratio, if it is more)",
    )
    head: HeadName = Field(
        "ot", description="encoder: how links are found", json_schema_extra=IN_NAME
    )
    unit: CompareUnit = Field(
        "words",
        description="encoder: units to compare: its pieces, or words (tokens), each the mean of "
        "its pieces",
        json_schema_extra=IN_NAME,
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _room_for_targets(cls, values: object) -> object:
        """Raise ``max_tokens`` so that targets of the longest allowed source pass the screen."""
        if not isinstance(values, dict) or "max_tokens" in values:
            return values
        try:
            words, ratio = int(values["max_source_words"]), float(values.get("max_ratio", 3.0))
        except (KeyError, TypeError, ValueError):
            return values  # the fields report a missing value, or one that is not a number
        needed = math.ceil(min(words * ratio, MAX_TOKENS))
        return {**values, "max_tokens": needed} if needed > 250 else values

    @property
    def used_methods(self) -> set[str]:
        """Return the methods that make examples: ``mix`` can exclude some of those named."""
        named: set[str] = set(self.methods)
        if self.mix == 0 and named != {"parallel"}:
            return named - {"parallel"}
        if math.isinf(self.mix) and "parallel" in named:
            return {"parallel"}
        return named

    @property
    def segmented(self) -> tuple[str, ...]:
        """Return the sides whose word boundaries matter: none if whole sentences are masked."""
        return () if self.used_methods == {"parallel"} else ("target",)

    def reserved_text(self) -> str:
        """Return the mask."""
        return MASK

    def notices(self) -> Iterator[Notice]:
        """Yield a notice if the screen may reject sources that ``max_source_words`` accepts."""
        words, tokens = self.max_source_words, self.max_tokens
        if "max_source_words" not in self.model_fields_set or tokens >= words * self.max_ratio:
            return
        message = (
            f"--max_tokens {tokens} applies to every side, so a source of up to "
            f"--max_source_words {words} words is rejected as too_long if its target or "
            f"translation is longer than {tokens} tokens (Chinese and Japanese have one per "
            "character); leave --max_tokens out to accept them"
        )
        yield Notice("side_limit", "options", 1, message)
