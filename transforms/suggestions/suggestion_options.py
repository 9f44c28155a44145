"""Options of the examples of translation suggestion."""

import math
from typing import Annotated, Literal

import pydantic
from pydantic import Field

from pairweave.transforms.config import Config, Mix, PositiveShare, Share, Variants
from pairweave.transforms.option_marks import UNSAID, Marks, in_short, listed_after

MAX_WORDS = 512
"""Maximum length of a span that can be drawn, in words."""


def split_words(value: object) -> object:
    """Split comma-separated words."""
    words = (value,) if isinstance(value, str) else value
    if isinstance(words, list | tuple) and all(isinstance(word, str) for word in words):
        return tuple(part for word in words for part in word.split(","))
    return value


Methods = Annotated[
    tuple[Literal["random", "alignment", "parallel"], ...], pydantic.BeforeValidator(split_words)
]


OF_METHODS = "of_methods"
"""The mark that `of_methods` makes."""


def of_methods(*names: str) -> Marks:
    """Mark an option that only some methods of making masks use."""
    return {OF_METHODS: list(names)}


OF_LENGTHS = "of_lengths"
"""The mark that `of_lengths` makes."""


def of_lengths(*names: str) -> Marks:
    """Mark an option that only some distributions of the lengths of random spans use."""
    return {OF_LENGTHS: list(names)}


_DRAWN = of_lengths("geometric", "uniform")
_OF_SPANS = of_methods("random", "alignment")


class MaskOptions(Config):
    """The methods of making masks.

    ``random`` masks spans of the reference, ``alignment`` masks spans of the machine translation
    that differ from the reference, ``parallel`` masks the whole reference.
    """

    methods: Methods = Field(
        ("random", "alignment", "parallel"),
        min_length=1,
        description="how masks are made: random spans of the reference, differences between "
        "translation and reference found by alignment, parallel for whole references",
        json_schema_extra=in_short("how masks are made (default: in all three ways)"),
    )
    mix: Mix = Field(
        1.0,
        description="parallel examples per other example, at most one for each pair; 0 no parallel "
        "ones, inf no others",
    )


class RandomConfig(Config):
    """The draws of random masks.

    The default of ``start_probability`` is that of Zhu et al. (appendix B).
    """

    start_probability: PositiveShare = Field(
        0.15,
        description="random: probability that a token begins a span",
        json_schema_extra=_DRAWN,
    )
    lengths: Literal["geometric", "uniform", "empirical"] | None = Field(
        None,
        description="random: distribution of the spans' lengths (default geometric, or empirical "
        "with --fit_lengths)",
    )
    mean_words: float = Field(
        3.0,
        ge=1,
        description="random: mean length with geometric",
        json_schema_extra=of_lengths("geometric"),
    )
    max_mask_words: int = Field(
        16,
        ge=1,
        le=MAX_WORDS,
        description="random: longest span with geometric and uniform",
        json_schema_extra=_DRAWN,
    )
    variants: Variants = Field(
        1, description="random: most examples per pair", json_schema_extra=_DRAWN
    )


class AlignedConfig(Config):
    """The differences that become masks.

    The share of placeholders is relative to placeholders and remaining tokens.
    """

    max_placeholders: int = Field(
        20,
        ge=1,
        description="alignment: most placeholders of a translation, before they are joined",
    )
    max_placeholder_share: PositiveShare = Field(
        0.5, description="alignment: largest share of placeholders in the masked translation"
    )
    deletions: bool = Field(
        default=False,
        description="alignment: mask words without a counterpart, with an empty suggestion",
    )


class FilterConfig(Config):
    """Limits of an example. A word here is a token of `transforms.text.tokens`.

    Zhu et al., section 4, use sources of 50 to 200 words. A deletion suggests no word and is exempt
    from ``min_suggestion_words``; masking one word is always allowed. The confidence is that of the
    links that a mask is based on: those inside it and those of the adjacent kept words; a mask
    without such links passes if the minimum is 0. The score is the pair's
    (`transforms.reading.given_scores`) or the example's
    (`transforms.suggestions.suggestion_scores`).
    """

    min_source_words: int = Field(1, ge=1, description="fewest words of a source")
    max_source_words: int = Field(250, ge=1, description="most words of a source")
    min_suggestion_words: int = Field(
        1, ge=1, description="fewest words of a suggestion", json_schema_extra=_OF_SPANS
    )
    max_suggestion_words: int = Field(
        32,
        ge=1,
        description="most words of a suggestion, except with parallel",
        json_schema_extra=_OF_SPANS,
    )
    max_masked_share: PositiveShare = Field(
        0.5,
        description="largest share of masked words, except with parallel",
        json_schema_extra=_OF_SPANS,
    )
    keep_punctuation: bool = Field(
        default=False, description="keep suggestions without a letter or digit"
    )
    min_confidence: Share = Field(
        0.0,
        description="alignment: lowest probability of the links that a mask is based on",
        json_schema_extra=of_methods("alignment"),
    )
    min_score: float | None = Field(
        None,
        allow_inf_nan=False,
        description="lowest score of an example, or of its pair with --score_field",
        json_schema_extra={**UNSAID, **listed_after("reverse_scorer")},
    )
    max_score: float = Field(
        math.inf,
        description="highest score of an example, or of its pair with --score_field; inf for any",
        json_schema_extra=listed_after("min_score"),
    )


class HintConfig(Config):
    """The content of a hint.

    ``letters``: the suggestion's first characters; ``initials``: the first character of each of its
    words, separated by spaces; ``word``: a random one of its words.
    """

    hint: Literal["none", "letters", "initials", "word"] = Field(
        "none",
        description="column hint: the suggestion's first letters, its words' initials, or a word",
        json_schema_extra=in_short("hints in the rows (default none)"),
    )
    hint_letters: int = Field(1, ge=1, le=100, description="number of letters with --hint letters")
