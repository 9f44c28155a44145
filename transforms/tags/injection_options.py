"""Options of the tags that are injected into pairs."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from pairweave.transforms.config import Config, Mix, PositiveShare, Share, Variants
from pairweave.transforms.indexed_tag import INDICES, MAX_TAGS
from pairweave.transforms.option_marks import UNSAID, Marks, listed_after, not_by
from pairweave.transforms.option_places import FILE_OF_LAUNCHER

MAX_IDS = 10_000
"""Largest id whose symbols can be listed."""

MaxTags = Annotated[int, Field(ge=1, le=MAX_TAGS)]
Nesting = Literal["proper", "free"]


def _by_links_alone(why: str) -> Marks:
    """Mark an option that neither fragments nor terms take, with the same reason for both."""
    return not_by(fragment=why, glossary=why)


class TagOptions(Config):
    """The tags that are injected.

    The defaults of ``max_tags`` and ``tag_share`` are those of Ryu et al. (2022, sections 3.4 and
    2.3). With the nesting ``proper``, two tags on either side are disjoint or one contains the
    other; with ``free``, they may cross (Ryu et al. 2022: "violating HTML syntax"). The shares of
    forms are those of Hanneman and Dinu (2020, sections 3.1 and 5.1); settings include them only if
    they differ from the defaults.
    """

    max_id: int | None = Field(
        None,
        ge=INDICES,
        le=MAX_IDS,
        description="with --representation xliff: draw each row's ids from 1 to this, instead of "
        "counting them from 1",
    )
    max_tags: MaxTags = Field(MAX_TAGS, description="most tags in a pair")
    tag_share: PositiveShare = Field(
        0.3,
        description="tags stay under this share of the words",
        json_schema_extra=_by_links_alone("only --max_tags limits the tags of a pair"),
    )
    nesting: Nesting = Field(
        "proper",
        description="proper: tags nest as markup must; free: they may cross",
        json_schema_extra=not_by(glossary="terms that are tagged do not overlap"),
    )
    mix: Mix = Field(1.0, description="tagged rows per plain row; 0 plain only, inf tagged only")
    variants: Variants = Field(
        1,
        description="tagged rows made of a picked pair",
        json_schema_extra=_by_links_alone("it makes one tagged row per pair"),
    )
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
    phrase_pairs: Literal["sound", "all"] = Field(
        "sound",
        description="phrase pairs to tag: sound, those with no punctuation mark at an edge of one "
        "side alone, that cut no pair of quotes or brackets, contain no end of a sentence, and "
        "have a link next to them that confirms them, and those confirmed on both sides most "
        "often; all, every one alike",
        json_schema_extra=not_by(
            fragment="a fragment is tagged where its translation occurs",
            glossary="a term is tagged where its translation occurs",
        ),
    )
    tag_numbers: Literal["shuffled", "in_order"] = Field(
        "in_order",
        description="numbers of a row's tags: in_order, 0, 1, 2 and so on as the source has them, "
        "as tags encode numbers those of documents; shuffled, drawn from 0 to 9",
        json_schema_extra=listed_after("phrase_pairs"),
    )
    self_closing_share: Share = Field(
        0.0,
        description="share of tags that are self-closing instead of a pair",
        json_schema_extra={**UNSAID, **listed_after("draw")},
    )
    damage_share: Share = Field(
        0.0,
        description="share of pairs of tags of which one half is skipped",
        json_schema_extra={**UNSAID, **listed_after("self_closing_share")},
    )
    empty_share: Share = Field(
        0.0,
        description="share of whole pairs of tags with nothing inside",
        json_schema_extra={**UNSAID, **listed_after("damage_share")},
    )
    split_share: Share = Field(
        0.0,
        description="share of whole pairs of tags in two parts on one side, where phrases allow it",
        json_schema_extra={
            **UNSAID,
            **listed_after("empty_share"),
            **not_by(
                fragment="a tag in two parts needs two phrase pairs of word links",
                glossary="a term is tagged in one part",
            ),
        },
    )


SHAPES = ("self_closing_share", "damage_share", "empty_share", "split_share")
"""The shares of forms, which a tag profile can replace."""

FRAGMENT_WORDS, FRAGMENT_TAGS = 6, 2
FRAGMENT_DEFAULTS: Mapping[str, float] = {
    "max_words": FRAGMENT_WORDS,
    "max_tags": FRAGMENT_TAGS,
    "self_closing_share": 0.27,
    "damage_share": 0.10,
}
"""Defaults of ``--method fragment`` (Hanneman and Dinu 2020, section 5.1)."""


class MethodOptions(Config):
    """The texts to tag: phrase pairs, fragments or terms."""

    method: Literal["alignment", "fragment", "glossary"] = Field(
        "alignment",
        description="text to tag: alignment, phrase pairs of links; fragment, source fragments "
        "whose translation, by the model's phrases and lexicon or --translator, occurs in the "
        "target; glossary, terms of --glossary that occur on both sides and are linked (for "
        "fragment, max_words 6, max_tags 2, self_closing_share 0.27, damage_share 0.1 by default)",
        json_schema_extra=UNSAID,
    )
    glossary: Annotated[str | None, FILE_OF_LAUNCHER] = Field(
        None,
        min_length=1,
        description="method glossary: file of terms, source TAB target on each line "
        "[.gz .zst .xz .bz2]",
        json_schema_extra=UNSAID,
    )
    glossary_match: Literal["stem", "exact"] = Field(
        "stem",
        description="method glossary: what matches a word of a term: stem, any word with its stem, "
        "in languages that have a stemmer, even a related one (gouvernance for gouvernement); "
        "exact, the same word; case does not matter",
        json_schema_extra=UNSAID,
    )
