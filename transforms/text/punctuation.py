"""The roles of punctuation marks for tags: equal marks, opening, closing, sentence-final marks."""

import functools

import numpy as np

from pairweave.transforms.kernels.tags import sound_phrases as kernel
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

# The first line that a character is in decides. Marks of one class are the same mark in two
# languages; `kernel.OTHER_MARK` is every mark that no line names.
_MARKS = (
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
    # Ends a sentence without a space after it.
    (f"{FULL_STOPS}{QUESTIONS}{EXCLAMATIONS}", kernel.WIDE_STOP),
    (r"\p{L}\p{N}", kernel.WORD),
    (r"\p{Ll}", kernel.SMALL),
    (r"\p{Lu}\p{Lt}\p{Nd}", kernel.LARGE),
    (r"'‘’‚‛", kernel.APOSTROPHE),  # noqa: RUF001
)


@functools.cache
def marks() -> np.ndarray:
    """Return the role of every code point for tags (`transforms.kernels.tags.sound_phrases`).

    Returns:
        uint16 ``[1114112]``, read-only.
    """
    table = np.zeros(utf8.CODE_POINTS, np.uint16)
    set_members(table, reversed(_MARKS))
    families = [
        (members, number << kernel.FAMILY_SHIFT | role)
        for number, family in enumerate(_FAMILIES, 1)
        for members, role in zip(family, (kernel.OPENS, kernel.CLOSES), strict=True)
    ]
    add_flags(table, [*families, *_FLAGS])
    table.flags.writeable = False
    return table
