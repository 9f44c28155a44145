"""The reasons for rejecting pairs.

The reasons of the screen are next to its rules (`transforms.screen.ScreenReject`), so that a new
rule changes one file; all others are here, except those of other packages' rules.
"""

import enum
import re
from typing import TypeAlias

from pairweave.transforms.plugins.plugin_kind import NAME

PLUGIN_RULE = rf"rule_{NAME}"
"""Pattern of the reasons, and columns, of rules of other packages: ``rule_`` and their names."""


class PluginReason(str):
    """The reason code of a rule of another package (`PLUGIN_RULE`).

    >>> str(PluginReason.of("shouting")), is_of_plugin("rule_shouting"), is_of_plugin("script")
    ('rule_shouting', True, False)
    """

    __slots__ = ()

    @classmethod
    def of(cls, name: str) -> "PluginReason":
        """Return the reason of the rule with a name."""
        return cls(f"rule_{name}")


def is_of_plugin(reason: str) -> bool:
    """Tell whether a reason, or a column, is that of a rule of another package."""
    return re.fullmatch(PLUGIN_RULE, reason) is not None


Reason: TypeAlias = enum.StrEnum | PluginReason
"""A reason code: a member of `Reject` or of `transforms.screen.ScreenReject`, or of a plugin."""


class Stage(enum.StrEnum):
    """The step that rejected a pair."""

    READ = "read"
    SCREEN = "screen"
    SHUFFLE = "shuffle"
    TRANSLATE = "translate"
    ALIGN = "align"
    TAG = "tag"
    SUGGEST = "suggest"
    FILTER = "filter"


class Reject(enum.StrEnum):
    """The reason codes of rejected pairs; values are part of the output format."""

    # read
    INVALID_UTF8 = "invalid_utf8"
    LINE_TOO_LONG = "line_too_long"
    CONTROL_CHAR = "control_char"
    HTML_ENTITY = "html_entity"
    FIELD_COUNT = "field_count"
    INVALID_JSON = "invalid_json"
    JSON_TOO_DEEP = "json_too_deep"
    DUPLICATE_KEY = "duplicate_key"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"
    UNTRANSLATED = "untranslated"
    FUZZY = "fuzzy"
    OBSOLETE = "obsolete"
    OTHER_LANGUAGE = "other_language"
    AMBIGUOUS_LANGUAGE = "ambiguous_language"
    INLINE_TAGS = "inline_tags"
    TAGS_DIFFER = "tags_differ"
    INVALID_LINK = "invalid_link"
    # screen
    MISALIGNED = "misaligned"
    # shuffle
    DUPLICATE = "duplicate"
    # translate
    TOO_LONG_FOR_TRANSLATOR = "too_long_for_translator"
    UNFINISHED_TRANSLATION = "unfinished_translation"
    EMPTY_TRANSLATION = "empty_translation"
    # align
    TOO_LONG_FOR_ENCODER = "too_long_for_encoder"
    ALIGNER_FAILED = "aligner_failed"
    LINK_OUT_OF_RANGE = "link_out_of_range"
    BAD_ATTENTION = "bad_attention"
    UNALIGNED = "unaligned"
    LOW_SCORE = "low_score"
    UNRELATED_DOCUMENT = "unrelated_document"
    DOCUMENT_TOO_LONG = "document_too_long"
    # tag
    NO_PHRASE_PAIR = "no_phrase_pair"
    TOO_MANY_TAGS = "too_many_tags"
    # suggest
    NO_TRANSLATION = "no_translation"
    SAME_TRANSLATION = "same_translation"
    TOO_MANY_PLACEHOLDERS = "too_many_placeholders"
    NO_MASK = "no_mask"
    FILTERED = "filtered"
    # filter
    MOJIBAKE = "mojibake"
    ENTITIES = "entities"
    SOURCE_FOREIGN = "source_foreign"
    TARGET_FOREIGN = "target_foreign"
    SCRIPT = "script"
    COPIED = "copied"
    NUMBER_MISMATCH = "number_mismatch"
    REPETITION = "repetition"
    CHAR_RATIO = "char_ratio"
    WORD_CHARS = "word_chars"
    ADDRESS_MISMATCH = "address_mismatch"
    PLACEHOLDER_MISMATCH = "placeholder_mismatch"
    TAG_MISMATCH = "tag_mismatch"
    BRACKET_MISMATCH = "bracket_mismatch"
    END_MISMATCH = "end_mismatch"
    SOURCE_LANGUAGE = "source_language"
    TARGET_LANGUAGE = "target_language"
    MASKED_DUPLICATE = "masked_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    IN_EARLIER_CORPUS = "in_earlier_corpus"
    # refresh
    IN_TABLE = "in_table"
    TAKEN_DOWN = "taken_down"


AS_UTF8 = (
    "write the file as UTF-8: iconv -f WINDOWS-1252 -t UTF-8, or from the encoding that it has"
)
"""Advice about `Reject.INVALID_UTF8`."""
