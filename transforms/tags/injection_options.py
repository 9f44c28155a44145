"""Options of the tags that are injected into pairs."""

from typing import Annotated, Literal

from pydantic import Field

from pairweave.transforms.config import Mix, PositiveShare, Share, StepOptions, Variants
from pairweave.transforms.indexed_tag import INDICES, MAX_TAGS
from pairweave.transforms.option_facts import FILE_OF_LAUNCHER, UNSAID

MAX_IDS = 10_000
"""Largest id whose symbols can be listed."""

MaxTags = Annotated[int, Field(ge=1, le=MAX_TAGS)]
_UnsaidShare = Annotated[Share, Field(json_schema_extra=UNSAID)]
"""A share that settings include only if it differs from the default."""


class MaxIdOptions(StepOptions):
    """The ids of tags."""

    max_id: int | None = Field(
        None,
        ge=INDICES,
        le=MAX_IDS,
        description="with --representation xliff: draw each row's ids from 1 to this, instead of "
        "counting them from 1",
    )


class MaxTagsOptions(StepOptions):
    """The number of tags in a pair.

    The default is that of Ryu et al. (2022, section 3.4).
    """

    max_tags: MaxTags = Field(MAX_TAGS, description="most tags in a pair")


class NestingOptions(StepOptions):
    """How tags nest.

    ``proper``: on both sides, two tags are disjoint or one contains the other. ``free``: they may
    cross (Ryu et al. 2022: "violating HTML syntax").
    """

    nesting: Literal["proper", "free"] = Field(
        "proper", description="proper: tags nest as markup must; free: they may cross"
    )


class TagShareOptions(StepOptions):
    """The number of tags relative to words.

    The default is that of Ryu et al. (2022, section 2.3).
    """

    tag_share: PositiveShare = Field(0.3, description="tags stay under this share of the words")


class TaggedRowOptions(StepOptions):
    """The number of tagged rows, and the placement of tags in their text."""

    mix: Mix = Field(1.0, description="tagged rows per plain row; 0 plain only, inf tagged only")
    variants: Variants = Field(1, description="tagged rows made of a picked pair")
    whitespace_shift: bool = Field(
        default=False,
        description="move the space before a tag to after it, and add one after tags that begin a "
        "text, so that SentencePiece splits words as it does without tags (tags vocabulary "
        "--train)",
    )
    punctuation_tags: bool = Field(
        default=False,
        description="allow tags without a letter or digit on a side, such as on a full stop",
    )


class ShapeOptions(StepOptions):
    """The forms of tags.

    They are those of Hanneman and Dinu (2020, sections 3.1 and 5.1).
    """

    self_closing_share: _UnsaidShare = Field(
        0.0, description="share of tags that are self-closing instead of a pair"
    )
    damage_share: _UnsaidShare = Field(
        0.0, description="share of pairs of tags of which one half is skipped"
    )
    empty_share: _UnsaidShare = Field(
        0.0, description="share of whole pairs of tags with nothing inside"
    )
    split_share: _UnsaidShare = Field(
        0.0,
        description="share of whole pairs of tags in two parts on one side, where phrases allow it",
    )


class FragmentOptions(NestingOptions, MaxTagsOptions):
    """The fragments to tag.

    The defaults are those of Hanneman and Dinu (2020, section 5.1).
    """

    max_words: int = Field(6, ge=1, le=64, title="max_words of a fragment")
    max_tags: MaxTags = Field(2)


FRAGMENT_DEFAULTS = {
    **{name: FragmentOptions.model_fields[name].default for name in ("max_words", "max_tags")},
    "self_closing_share": 0.27,
    "damage_share": 0.10,
}
"""Defaults of ``--method fragment`` (also from section 5.1)."""


class GlossaryOptions(StepOptions):
    """The terms to tag."""

    glossary: Annotated[str | None, FILE_OF_LAUNCHER] = Field(
        None,
        min_length=1,
        description="method glossary: file of terms, source TAB target on each line [.gz .zst]",
        json_schema_extra=UNSAID,
    )
    glossary_match: Literal["stem", "exact"] = Field(
        "stem",
        description="method glossary: a word of a term is any word of its stem, in languages that "
        "have a stemmer, also a related one (gouvernance for gouvernement), or the same word; case "
        "does not matter",
        json_schema_extra=UNSAID,
    )
