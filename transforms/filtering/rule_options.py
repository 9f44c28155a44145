"""Options of the rules, of duplicates and of the selection; the rules are in ``rules.py``."""

from typing import Annotated, Literal

import pydantic
from pydantic import Field

from pairweave.transforms.config import UNSAID, Share, StepOptions

DETECTORS = r"^(none|cld2|langid|lingua|fasttext:.+)$"

AtLeastZero = Annotated[float, Field(ge=0)]


class RuleOptions(StepOptions):
    """Where each rule draws its line: a pair is rejected whose value is over a max or under a min.

    A share of 1 as a maximum, 0 as a minimum and inf for what is counted switch a rule off.
    """

    max_number_mismatch: Share = Field(
        0.5, description="largest share of both sides' numbers without a counterpart"
    )
    max_source_foreign: Share = Field(
        0.5,
        description="largest share of the source's characters that are not alphabetical or are "
        "letters of a script that only the target's language has",
    )
    max_target_foreign: Share = Field(
        0.5, description="largest share of the target's characters that are not alphabetical"
    )
    max_copied: Share = Field(
        0.5,
        description="largest share of the target copied from the source, in words and in "
        "characters; where both languages share a script, capitalized words do not count",
    )
    min_script: Share = Field(
        0.5, description="least share of a side's letters in a script of its language"
    )
    max_repetition: Share = Field(
        0.5, description="largest share of a side's words that repeat one block of words"
    )
    max_end_mismatch: Share = Field(
        1.0,
        description="how far the ends of both sides may differ: 0.5, one side lacks a full stop; "
        "1, such as a question and a statement (never rejected by default)",
    )
    max_address_mismatch: Share = Field(
        0.5,
        description="largest share of both sides' web and e-mail addresses without a counterpart",
    )
    max_placeholder_mismatch: Share = Field(
        0.5, description="largest share of placeholders (%s, {name}) without a counterpart"
    )
    max_tag_mismatch: Share = Field(
        0.5, description="largest share of tags (<b>) without a counterpart"
    )
    max_bracket_mismatch: Share = Field(
        1.0,
        description="largest share of brackets without a counterpart (none rejected by default)",
    )
    max_mojibake: AtLeastZero = Field(
        0.0,
        description="most traces of text read in a wrong encoding; inf for any number "
        "(--c1_controls mend turns C1 controls, one of them, into the text that was meant)",
    )
    max_entities: AtLeastZero = Field(0.0, description="most HTML entities; inf for any number")
    max_char_ratio: Annotated[float, Field(ge=1)] = Field(
        6.0, description="largest ratio of the sides' characters; inf for none"
    )
    max_word_chars: Annotated[float, Field(ge=1)] = Field(
        20.0, description="largest mean length of a side's words, in characters; inf for none"
    )
    detector: str = Field(
        "none",
        pattern=DETECTORS,
        description="what detects each side's language: cld2, langid, lingua or fasttext:FILE, a "
        "model such as lid.176.ftz (pip install 'pairweave[lang]'); a side is rejected that is "
        "reliably in another language",
        json_schema_extra={"metavar": "NAME"},
    )


class DuplicateOptions(StepOptions):
    """What counts as a duplicate beside equal pairs."""

    duplicates: Literal["masked", "near", "exact"] = Field(
        "masked",
        description="masked: pairs that are equal but for web addresses, e-mail addresses and "
        "numbers are duplicates too, of which the best stays (of equal scores the first by the "
        "names of corpus and file, and by line); near: likewise pairs that share most of their "
        "five-character sequences; exact: equal pairs only",
    )
    near_threshold: float = Field(
        0.8,
        ge=0.5,
        le=1,
        description="duplicates near: least share of the five-character sequences of two pairs, "
        "both sides together, that both have (Jaccard index, estimated by MinHash)",
        json_schema_extra=UNSAID,
    )


class SelectionOptions(StepOptions):
    """Which of the scored pairs are kept."""

    select_words: int | None = Field(
        None,
        ge=1,
        description="keep the best pairs, up to this many target words (a letter is a word in "
        "scripts without spaces: Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan, Yi)",
    )
    select_share: float | None = Field(
        None, gt=0, le=1, description="keep this share of the pairs that pass the rules, the best"
    )
    select_score: Share | None = Field(None, description="keep pairs with at least this score")
    annotate_only: bool = Field(
        default=False,
        description="reject nothing by rule, score or as a masked duplicate: columns keep and "
        "reason tell what would be kept; copies of equal pairs are rejected all the same",
    )

    @pydantic.model_validator(mode="after")
    def _one_selection(self) -> "SelectionOptions":
        """Refuse two selections at once."""
        names = ("select_words", "select_share", "select_score")
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of {', '.join(f'--{name}' for name in given)}")
        return self
