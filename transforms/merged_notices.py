"""Merges notices with the same cause in many files into one notice."""

from collections.abc import Iterable

import regex

from pairweave.transforms.units import Notice

MAX_FILES = 3
"""Maximum number of files with the same notice to name; of more files, only the first is named."""


def merged(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Return notices in their order, merging those of many files that say the same.

    Two notices say the same if their codes are equal, and their messages are equal except for their
    counts.

    >>> notices = merged(Notice("empty_file", f"{name}.xlf", 1, "no rows") for name in "abcd")
    >>> [str(notice) for notice in notices]
    ['a.xlf and 3 other files: no rows [empty_file]']
    """
    groups: dict[tuple[str, str], list[Notice]] = {}
    for notice in notices:
        groups.setdefault((notice.code, _without_count(notice)), []).append(notice)
    out: list[Notice] = []
    for (code, message), group in groups.items():
        if len({notice.file for notice in group}) <= MAX_FILES:
            out += group
            continue
        count = sum(notice.count for notice in group)
        files = f"{group[0].file} and {len({notice.file for notice in group}) - 1:,} other files"
        out.append(Notice(code, files, count, message.replace(_COUNT, f"{count:,}")))
    return tuple(out)


_COUNT = "\0"
_SINGLE = regex.compile(rf"(?<={_COUNT} )(?:line|row|segment)\b")
"""The word for one thing in a message; other messages have a plural in its place."""


def _without_count(notice: Notice) -> str:
    """Return a message with a mark in place of the count, if the count occurs in it once."""
    written = "|".join({f"{notice.count:,}", str(notice.count)})
    count = regex.compile(rf"(?<!\w|\d[.,])(?:{written})(?!\w|[.,]\d)")
    once = len(count.findall(notice.message)) == 1
    return _SINGLE.sub(r"\g<0>s", count.sub(_COUNT, notice.message)) if once else notice.message
