"""Options of the examples of translation suggestion."""

import math
from typing import Annotated, Literal

import pydantic
from pydantic import Field

from pairweave.transforms.config import UNSAID, Mix, PositiveShare, Share, StepOptions, Variants

MOST_WORDS = 512
"""Words of the longest span that is drawn."""


def split_words(value: object) -> object:
    """Let several words be given in one, parted by commas."""
    words = (value,) if isinstance(value, str) else value
    if isinstance(words, list | tuple) and all(isinstance(word, str) for word in words):
        return tuple(part for word in words for part in word.split(","))
    return value


Methods = Annotated[
    tuple[Literal["random", "alignment", "parallel"], ...], pydantic.BeforeValidator(split_words)
]


class MaskOptions(StepOptions):
    """How masks are made.

    ``random`` masks spans of the reference, ``alignment`` what the machine translation has
    otherwise, ``parallel`` the whole reference.
    """

    methods: Methods = Field(
        ("random", "alignment", "parallel"),
        min_length=1,
        description="how masks are made: random spans of the reference, differences between "
        "translation and reference found by alignment, parallel for whole references",
    )
    mix: Mix = Field(
        1.0, description="parallel examples per other example; 0 no parallel ones, inf no others"
    )


class RandomOptions(StepOptions):
    """How masks are drawn (Zhu et al., appendix B: 0.15)."""

    start_probability: PositiveShare = Field(
        0.15, description="random: how likely a token begins a span"
    )
    lengths: Literal["geometric", "uniform", "empirical"] | None = Field(
        None,
        description="random: distribution of the spans' lengths (default geometric, or empirical "
        "with --fit_lengths)",
    )
    mean_words: float = Field(3.0, ge=1, description="random: mean length, of geometric")
    max_mask_words: int = Field(
        16, ge=1, le=MOST_WORDS, description="random: longest span, of geometric and uniform"
    )
    variants: Variants = Field(1, description="random: most examples of a pair")


class AlignedOptions(StepOptions):
    """Which differences become masks."""

    max_placeholders: int = Field(
        20,
        ge=1,
        description="alignment: most placeholders of a translation, before they are joined",
    )
    max_placeholder_share: PositiveShare = Field(
        0.5, description="alignment: largest share of them in the masked translation"
    )
    deletions: bool = Field(
        default=False, description="alignment: mask what has no counterpart, suggestion empty"
    )


class FilterOptions(StepOptions):
    """Limits of an example. A word here is a token of `transforms.text.tokens`."""

    min_source_words: int = Field(1, ge=1, description="fewest words of a source")
    max_source_words: int = Field(250, ge=1, description="most words of a source")
    min_suggestion_words: int = Field(1, ge=1, description="fewest words of a suggestion")
    max_suggestion_words: int = Field(
        32, ge=1, description="most words of a suggestion, but for parallel"
    )
    max_masked_share: PositiveShare = Field(
        0.5, description="largest share of the words masked, but for parallel"
    )
    keep_punctuation: bool = Field(
        default=False, description="keep suggestions without a letter or digit"
    )
    min_confidence: Share = Field(
        0.0, description="alignment: least probability of the links a mask rests on"
    )


class ScoreLimitOptions(StepOptions):
    """Limits of an example's score."""

    min_score: float | None = Field(
        None,
        allow_inf_nan=False,
        description="least score of an example, or of its pair, of --score_field",
        json_schema_extra=UNSAID,
    )
    max_score: float = Field(math.inf, description="largest score likewise; inf for any")


class HintOptions(StepOptions):
    """What a hint tells of a suggestion.

    ``letters``: its first characters; ``initials``: the first character of each of its words,
    parted by blanks; ``word``: one of its words, drawn.
    """

    hint: Literal["none", "letters", "initials", "word"] = Field(
        "none",
        description="column hint: the suggestion's first letters, its words' initials, or a word",
    )
    hint_letters: int = Field(1, ge=1, le=100, description="letters of --hint letters")
