"""The options of ``suggest``."""

import math
from typing import Annotated, ClassVar, Literal

import pydantic
from pydantic import Field

from pairweave.models.encoder.encoder_config import CompareUnit, HeadName
from pairweave.pipelines.options.base import (
    UNSAID,
    AlignerSettings,
    Heuristic,
    JobOptions,
    Patterns,
    SegmenterOptions,
    TranslatorOptions,
)


def split_words(value: object) -> object:
    """Let several words be given in one, parted by commas."""
    words = (value,) if isinstance(value, str) else value
    if isinstance(words, list | tuple) and all(isinstance(word, str) for word in words):
        return tuple(part for word in words for part in word.split(","))
    return value


Methods = Annotated[
    tuple[Literal["random", "alignment", "parallel"], ...], pydantic.BeforeValidator(split_words)
]


MOST_TOKENS = 32_000


class SuggestOptions(TranslatorOptions, SegmenterOptions, AlignerSettings, JobOptions):
    """Options of ``suggest``."""

    SEGMENTED: ClassVar[tuple[str, ...]] = ("target",)

    max_tokens: int = Field(
        250,
        ge=1,
        le=MOST_TOKENS,
        description="longest side, in tokens, of which Chinese and Japanese have one a character "
        "and Thai one a grapheme (with --max_source_words: so many times --max_ratio, if that is "
        "more)",
    )
    max_ratio: float = Field(
        3.0, ge=1, description="largest ratio of two sides' token counts; inf for none"
    )
    aligner: Literal["ter", "hmm", "encoder", "given"] = Field(
        "ter",
        description="aligns translation and reference: by edits (no model), statistically, by a "
        "Transformer, or by the links that come with the input (links, attention)",
    )
    head: HeadName = Field("ot", description="encoder: how links are read off")
    unit: CompareUnit = Field(
        "words",
        description="encoder: what is compared, its pieces, or words (tokens), each the mean of "
        "its pieces",
    )
    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")
    methods: Methods = Field(
        ("random", "alignment", "parallel"),
        min_length=1,
        description="how masks are made: random spans of the reference, what the alignment of "
        "translation and reference finds different, parallel for whole references",
    )
    mix: float = Field(
        1.0, ge=0, description="parallel examples to one other; 0 no parallel ones, inf no others"
    )
    start_probability: float = Field(
        0.15, gt=0, le=1, description="random: how likely a token begins a span"
    )
    lengths: Literal["geometric", "uniform", "empirical"] | None = Field(
        None,
        description="random: distribution of the spans' lengths (default geometric, or empirical "
        "with --fit_lengths)",
    )
    mean_words: float = Field(3.0, ge=1, description="random: mean length, of geometric")
    max_mask_words: int = Field(
        16, ge=1, le=512, description="random: longest span, of geometric and uniform"
    )
    variants: int = Field(1, ge=1, le=100, description="random: most examples of a pair")
    fit_lengths: Patterns = Field(
        (),
        description="golden set to follow and be compared with: its .mask and .tgt files, and .src",
    )
    max_placeholders: int = Field(
        20,
        ge=1,
        description="alignment: most placeholders of a translation, before they are joined",
    )
    max_placeholder_share: float = Field(
        0.5, gt=0, le=1, description="alignment: largest share of them in the masked translation"
    )
    deletions: bool = Field(
        default=False, description="alignment: mask what has no counterpart, suggestion empty"
    )
    min_source_words: int = Field(1, ge=1, description="fewest words of a source")
    max_source_words: int = Field(250, ge=1, description="most words of a source")
    min_suggestion_words: int = Field(1, ge=1, description="fewest words of a suggestion")
    max_suggestion_words: int = Field(
        32, ge=1, description="most words of a suggestion, but for parallel"
    )
    max_masked_share: float = Field(
        0.5, gt=0, le=1, description="largest share of the words masked, but for parallel"
    )
    keep_punctuation: bool = Field(
        default=False, description="keep suggestions without a letter or digit"
    )
    min_confidence: float = Field(
        0.0, ge=0, le=1, description="alignment: least probability of the links a mask rests on"
    )
    scorer: str | None = Field(
        None,
        pattern=r"^(ctranslate2|transformers):.+$",
        description="translates source to target and fills the column score, with "
        "--reverse_scorer: the dual conditional cross-entropy, lower is better; as --translator",
    )
    reverse_scorer: str | None = Field(
        None,
        pattern=r"^(ctranslate2|transformers):.+$",
        description="translates target to source, likewise",
    )
    min_score: float | None = Field(
        None,
        allow_inf_nan=False,
        description="least score of an example, or of its pair, of --score_field",
        json_schema_extra=UNSAID,
    )
    max_score: float = Field(math.inf, description="largest score likewise; inf for any")
    hint: Literal["none", "letters", "initials", "word"] = Field(
        "none",
        description="column hint: the suggestion's first letters, its words' initials, or a word",
    )
    hint_letters: int = Field(1, ge=1, le=100, description="letters of --hint letters")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _room_for_targets(cls, values: object) -> object:
        """Let targets of the longest source that is asked for pass the screen."""
        if not isinstance(values, dict) or "max_tokens" in values:
            return values
        try:
            words, ratio = int(values["max_source_words"]), float(values.get("max_ratio", 3.0))
        except (KeyError, TypeError, ValueError):
            return values  # nothing is asked for, or what is no number: the fields say so
        most = math.ceil(min(words * ratio, MOST_TOKENS))
        return {**values, "max_tokens": most} if most > 250 else values
