"""Indexed tags: ``<a_0>`` opens, ``</a_0>`` closes and ``<a_0/>`` is empty.

This module defines their grammar for all code that writes, finds or forbids them. The grammar is
that of Ryu et al. (2022, section 3.4), who number the tags of a pair 0 to 9, with empty tags added.
Markup with more elements has larger numbers.

Patterns without named groups are valid in RE2 too. The others have a group ``close`` that matches
only in closing tags, and a group ``empty`` that matches only in empty ones.
"""

import re

NAME = "a"
"""The name of every indexed tag; its number distinguishes it from others."""

PREFIX = f"{NAME}_"
"""The characters before the number: two ASCII characters."""

INDICES = 10
"""Tags that a job makes are numbered 0 to 9, so that each has one digit."""

MAX_TAGS = 9
"""Maximum number of tags that a job makes in a pair (Ryu et al. 2022, section 3.4)."""

MAX_DIGITS = 9
"""Digits of the largest number that `transforms.kernels.tags.indexed_tags` reads."""

_DIGIT = "[0-9]"
_DIGITS = f"{_DIGIT}+"

NUMBER = "(?:0|[1-9][0-9]*)"
"""A whole number as Python writes it, without leading zeros."""

OPENING_PATTERN = f"<{PREFIX}{_DIGIT}>"
"""An opening tag that a job makes."""

TAG_PATTERN = f"(?:</?{PREFIX}{_DIGIT}>|<{PREFIX}{_DIGIT}/>)"
"""An opening, a closing or an empty tag that a job makes."""

RESERVED_PATTERN = f"</?{PREFIX}{_DIGITS}/?>"
"""Text that could be taken for a tag: any number, also with both slashes."""

PIECE_PATTERN = rf"(?:<\s*)?(?:/\s*)?(?<![^\W_]){PREFIX}{_DIGITS}(?:\s*/)?(?:\s*>)?"
"""A tag with its name and number but other parts missing, or with white space in it."""


def _with_groups(number: str) -> str:
    return f"<(?:(?P<close>/){PREFIX}{number}|{PREFIX}{number}(?P<empty>/)?)>"


JOB_TAG = _with_groups(_DIGIT)
"""As `TAG_PATTERN`, with groups."""

WRITTEN_TAG = re.compile(_with_groups(NUMBER))
"""Matches the output of `write_tag`, with groups."""

ANY_TAG = re.compile(_with_groups(_DIGITS))
"""A tag with any number, including leading zeros; with groups."""


def write_tag(number: int, *, closes: bool = False, is_empty: bool = False) -> str:
    """Return the tag of a number.

    >>> write_tag(3), write_tag(3, closes=True), write_tag(12, is_empty=True)
    ('<a_3>', '</a_3>', '<a_12/>')
    """
    return f"<{'/' * closes}{PREFIX}{number}{'/' * is_empty}>"


def digits_of(tag: str) -> str:
    """Return the number of a tag as written.

    >>> digits_of("</a_07>")
    '07'
    """
    return tag.strip("</>").removeprefix(PREFIX)
