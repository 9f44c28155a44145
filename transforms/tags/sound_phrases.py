"""Selects phrase pairs at which a translator would put a tag, with weights for draws.

Each code point has a role for tags, which its punctuation marks decide: equal marks of two
languages, opening, closing and sentence-final marks.
"""

import functools

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import fields_of, links_of, texts_of
from pairweave.transforms.kernels.links.links import Links
from pairweave.transforms.kernels.links.phrase_extraction import count_settled_borders
from pairweave.transforms.kernels.tags import sound_phrases as kernel
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.text.codepoints import add_flags, set_members
from pairweave.transforms.text.sentence_marks import (
    COLONS,
    COMMAS,
    EXCLAMATIONS,
    FULL_STOPS,
    QUESTIONS,
    SEMICOLONS,
)

BOTH_SETTLED = 50.0
"""A phrase pair with two settled borders is this many times as likely to be drawn as one with one.

Among the phrase pairs at translators' places in ``help/`` (except test pages), in German, French
and Finnish, 97 to 98 % of the pairs with two such borders are exactly the translator's, and 73 to
82 % of the pairs with one. A value above 50 only makes the second kind rarer.
"""

# The first line that a character is in decides. Marks of one class are the same mark in two
# languages; `kernel.OTHER_MARK` is every mark that no line names.
_MARKS = (
    (r"\p{Default_Ignorable_Code_Point}", kernel.INVISIBLE),
    # Signs that stand for a word or a letter, which a translation may write out.
    (r"%‰‱٪％&＆@＠#＃§_", 0),  # noqa: RUF001 - full-width signs are meant
    (r"\"“”„‟«»‹›「」『』《》〈〉＂'‘’‚‛", kernel.QUOTE),  # noqa: RUF001 - likewise
    (r"(（", kernel.BRACKET),  # noqa: RUF001
    (r")）", kernel.BRACKET + 1),  # noqa: RUF001
    (r"\[［", kernel.BRACKET + 2),  # noqa: RUF001
    (r"\]］", kernel.BRACKET + 3),  # noqa: RUF001
    (r"\{｛", kernel.BRACKET + 4),  # noqa: RUF001
    (r"\}｝", kernel.BRACKET + 5),  # noqa: RUF001
    (r"\p{Ps}", kernel.BRACKET + 6),
    (r"\p{Pe}", kernel.BRACKET + 7),
    (f".{FULL_STOPS}", kernel.FULL_STOP),
    (f"?{QUESTIONS}", kernel.QUESTION),
    (f"!{EXCLAMATIONS}", kernel.EXCLAMATION),
    (r"…⋯", kernel.ELLIPSIS),
    (f",{COMMAS}", kernel.COMMA),
    (f";{SEMICOLONS}", kernel.SEMICOLON),
    (f":{COLONS}", kernel.COLON),
    (r"\p{Pd}", kernel.DASH),
    (r"\p{P}", kernel.OTHER_MARK),
)

# Families of marks that enclose text. Any mark of a family can close text that one opened.
_FAMILIES = (
    (r"(（", r")）"),  # noqa: RUF001
    (r"\[［", r"\]］"),  # noqa: RUF001
    (r"\{｛", r"\}｝"),  # noqa: RUF001
    *(("「", "」"), ("『", "』"), ("《", "》"), ("〈", "〉"), ("【", "】")),
    # Each mark of these can open and close.
    *((marks, marks) for marks in (r"\"“”„‟＂", "«»", "‹›", "'‘’‚‛")),  # noqa: RUF001
)

_FLAGS = (
    *(
        (members, number << kernel.FAMILY_SHIFT | role)
        for number, family in enumerate(_FAMILIES, 1)
        for members, role in zip(family, (kernel.OPENS, kernel.CLOSES), strict=True)
    ),
    # Ends a sentence without a space after it.
    (f"{FULL_STOPS}{QUESTIONS}{EXCLAMATIONS}", kernel.WIDE_STOP),
    (r"\p{L}\p{N}", kernel.WORD),
    (r"\p{Ll}", kernel.SMALL),
    (r"\p{Lu}\p{Lt}\p{Nd}", kernel.LARGE),
    (r"'‘’‚‛", kernel.APOSTROPHE),  # noqa: RUF001
)


@functools.cache
def mark_roles() -> np.ndarray:
    """Return the role of every code point for tags (`transforms.kernels.tags.sound_phrases`).

    Returns:
        uint16 ``[1114112]``, read-only.
    """
    table = np.zeros(utf8.CODE_POINTS, np.uint16)
    set_members(table, reversed(_MARKS))
    add_flags(table, _FLAGS)
    table.flags.writeable = False
    return table


def keep_sound(table: pa.Table, phrases: Phrases, *, punctuation_tags: bool = False) -> Phrases:
    """Keep the phrase pairs at which a translator would put a tag, with weights for draws.

    A phrase pair is left out in three cases (`transforms.kernels.tags.sound_phrases`): an edge has
    a punctuation mark that the same edge of the other side lacks; it cuts a pair of quotation marks
    or brackets; or a sentence ends inside, on either side. Its weight is 0 if no border is settled
    by a link next to it (`transforms.kernels.links.phrase_extraction`). Such a phrase pair is not
    drawn, but may become the second part of a split tag, whose parts are separate on one side.

    Args:
        table: Pairs with phrase pairs (`transforms.schemas.PHRASES`).
        phrases: Their phrase pairs.
        punctuation_tags: Whether to keep phrase pairs without a letter or a digit on a side.
    """
    offsets, links = links_of(table, "links")
    source, target = _token_marks(table)
    fits = kernel.find_sound(phrases.offsets, phrases.boxes, source, target, int(punctuation_tags))
    settled = count_settled_borders(
        Links(offsets, links["source"], links["target"]),
        np.diff(source.token_offsets),
        np.diff(target.token_offsets),
        phrases.offsets,
        phrases.boxes,
    )
    weights = np.array([0, 1, BOTH_SETTLED], np.float32)[settled]
    if len(phrases.weights):
        weights = weights * phrases.weights
    return phrases._replace(weights=weights).only(fits)


def _token_marks(table: pa.Table) -> list[kernel.TokenMarks]:
    """Return the marks of the source tokens and of the target tokens."""
    roles = mark_roles()
    sides = [
        (texts_of(table.column(side)), *fields_of(table.column(f"{side}_tokens")))
        for side in ("source", "target")
    ]
    return [
        kernel.mark_tokens(flat, offsets, tokens["start"], tokens["end"], roles)
        for flat, offsets, tokens in sides
    ]
