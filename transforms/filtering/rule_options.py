"""Options of the rules, of duplicates and of the selection; the rules are in ``rules.py``."""

import re
from typing import Annotated, Literal

import pydantic
from pydantic import Field

from pairweave.transforms.config import Config, Share
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import UNSAID, in_short, not_at_night, values_not_at_night
from pairweave.transforms.option_places import DETECTOR, Metavar
from pairweave.transforms.option_values import dashed, has_form
from pairweave.transforms.plugins.filter_rule import PLUGIN_RULES
from pairweave.transforms.plugins.plugin_kind import NAME
from pairweave.transforms.storage.yaml_files import parse_yaml

Detector = Annotated[
    str,
    DETECTOR,
    has_form("none|cld2|langid|lingua|fasttext:.+", "none, cld2, langid, lingua or fasttext:FILE"),
]
AtLeastZero = Annotated[float, Field(ge=0)]

MAX_PLUGIN_RULES = 12
"""Maximum number of plugins' rules; with the other rules, they use all bits of ``hits``."""


def _limits(value: object) -> object:
    """Read a map of limits that a flag gives as text."""
    if isinstance(value, str):
        try:
            value = parse_yaml(value)
        except ConfigError as error:
            raise ValueError(f"{error}; {_MAP}") from error
    if value is not None and not isinstance(value, dict):
        raise ValueError(_MAP)
    wrong = [name for name in value or () if not re.fullmatch(NAME, str(name))]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not the name of a rule; {_MAP}")
    if value is not None and len(value) > MAX_PLUGIN_RULES:
        raise ValueError(f"names {len(value)} rules; give {MAX_PLUGIN_RULES} at most")
    return value


_MAP = "expected a map of names and limits, such as '{shouting: 0.5}'"

Limit = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class RuleOptions(Config):
    """Limits of the rules: a pair is rejected if a value is over a maximum or under a minimum.

    A maximum share of 1, a minimum share of 0, and inf for counts and ratios switch a rule off.
    """

    max_number_mismatch: Share = Field(
        0.5, description="maximum share of both sides' numbers without a counterpart"
    )
    max_source_foreign: Share = Field(
        0.5,
        description="maximum share of the source's characters that are not alphabetical or are "
        "letters of a script that only the target's language has",
    )
    max_target_foreign: Share = Field(
        0.5, description="maximum share of the target's characters that are not alphabetical"
    )
    max_copied: Share = Field(
        0.5,
        description="maximum share of the target copied from the source, in words and in "
        "characters; if both languages share a script, capitalized words do not count",
    )
    min_script: Share = Field(
        0.5, description="minimum share of a side's letters in a script of its language"
    )
    max_repetition: Share = Field(
        0.5, description="maximum share of a side's words that repeat one block of words"
    )
    max_end_mismatch: Share = Field(
        1.0,
        description="how much the sides' final punctuation may differ: 0.5, one side lacks a full "
        "stop; 1, such as a question and a statement (never rejected by default)",
    )
    max_address_mismatch: Share = Field(
        0.5,
        description="maximum share of both sides' web and e-mail addresses without a counterpart",
    )
    max_placeholder_mismatch: Share = Field(
        0.5, description="maximum share of placeholders (%s, {name}) without a counterpart"
    )
    max_tag_mismatch: Share = Field(
        0.5, description="maximum share of tags (<b>) without a counterpart"
    )
    max_bracket_mismatch: Share = Field(
        1.0,
        description="maximum share of brackets without a counterpart (never rejected by default)",
    )
    max_mojibake: AtLeastZero = Field(
        0.0,
        description="maximum traces of text decoded in a wrong encoding; inf for no limit "
        "(--c1_controls mend restores the intended text of one kind, C1 controls)",
    )
    max_entities: AtLeastZero = Field(
        0.0, description="maximum number of HTML entities; inf for no limit"
    )
    max_char_ratio: Annotated[float, Field(ge=1)] = Field(
        6.0, description="maximum ratio of the sides' characters; inf for no limit"
    )
    max_word_chars: Annotated[float, Field(ge=1)] = Field(
        20.0, description="maximum mean length of a side's words, in characters; inf for no limit"
    )
    detector: Detector = Field(
        "none",
        description="language detector: cld2, langid, lingua or fasttext:FILE, a model such as "
        "lid.176.ftz (pip install 'pairweave[lang]'); a pair is rejected if a side is reliably "
        "detected as another language",
    )
    plugin_rules: Annotated[
        dict[str, Limit | None] | None,
        PLUGIN_RULES,
        pydantic.BeforeValidator(_limits),
        Metavar("{RULE: LIMIT, ...}"),
    ] = Field(
        None,
        description="rules of other installed packages, applied after those above: a YAML map of "
        "their names and limits, such as '{shouting: 0.5}'; a name without a limit, {shouting: }, "
        "has the rule's own",
        json_schema_extra={
            **UNSAID,
            **in_short("rules of other installed packages, such as '{shouting: 0.5}'"),
        },
    )


_OF_OTHER_NIGHTS = "a pair would depend on pairs of other nights; give duplicates: exact"


class DuplicateConfig(Config):
    """What counts as a duplicate besides equal pairs."""

    duplicates: Literal["masked", "near", "exact"] = Field(
        "masked",
        description="masked: pairs that are equal except for web addresses, e-mail addresses and "
        "numbers are duplicates too, and the best is kept (among equal scores, the first by corpus "
        "name, file name and line); near: pairs that share most of their five-character sequences "
        "as well; exact: equal pairs only",
        json_schema_extra={
            **in_short("which pairs are equal (default masked)"),
            **values_not_at_night(masked=_OF_OTHER_NIGHTS, near=_OF_OTHER_NIGHTS),
        },
    )
    near_threshold: float = Field(
        0.8,
        ge=0.5,
        le=1,
        description="duplicates near: minimum share of the five-character sequences of two pairs, "
        "both sides together, that occur in both (Jaccard index, estimated by MinHash)",
        json_schema_extra=UNSAID,
    )


SELECTIONS = ("select_words", "select_share", "select_score")
"""Options that limit the number of scored pairs to keep; at most one of them is given."""


class SelectionOptions(Config):
    """Selection of scored pairs."""

    select_words: int | None = Field(
        None,
        ge=1,
        description="keep the best pairs, up to this many target words (a letter is a word in "
        "scripts without spaces: Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan, Yi)",
        json_schema_extra={
            **not_at_night("it compares a pair with all others, of which a night reads a part"),
            **in_short("keep the best pairs, of this many target words"),
        },
    )
    select_share: float | None = Field(
        None,
        gt=0,
        le=1,
        description="keep the best pairs, up to this share of those that pass the rules",
        json_schema_extra=not_at_night(
            "it compares a pair with all others, of which a night reads a part"
        ),
    )
    select_score: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        None,
        description="keep pairs with this score or a higher one: from 0 to 1, unless the pairs "
        "come with scores or --scorer is of another package",
    )
    annotate_only: bool = Field(
        default=False,
        description="reject no pair: every row of the input with two readable sides is in the "
        "output, and its columns keep and reason show what a run would do; a pair that cannot be "
        "scored (empty, too long) has no score",
        json_schema_extra={
            **not_at_night("a table has kept pairs only"),
            **in_short("score all pairs, reject none"),
        },
    )

    @pydantic.model_validator(mode="after")
    def _one_selection(self) -> "SelectionOptions":
        """Refuse two selections at once."""
        given = [name for name in SELECTIONS if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of {dashed(given)}")
        return self
