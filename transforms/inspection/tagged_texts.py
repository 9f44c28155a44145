"""Finds tags and placeholders that are read as text."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pairweave.transforms.findings import Finding, file_of
from pairweave.transforms.kernels.inspection.line_features import BRACES, PERCENT, TAG
from pairweave.transforms.markup.markup import INDEXED, XLIFF, XML, find_elements, parse_markup

MIN_SHARE = 0.002
"""Minimum share of a file's rows for reporting tags: 2 in 1,000."""

MIN_ROWS = 3

_SYNTAXES = (INDEXED, XLIFF, XML)


def tag_findings(
    names: tuple[str, str], sample: pa.Table, lines: np.ndarray, marks: np.ndarray
) -> Iterator[Finding]:
    """Yield findings on tags and placeholders.

    Args:
        names: The files of source and target, which may be one.
        sample: A sample of its rows: ``source`` and ``target``.
        lines: The line of each row.
        marks: The marks of each side of each row (`transforms.kernels.inspection.line_features`),
            ``[side, row]``.
    """
    tagged, name = _rows_with(marks, TAG, names)
    count = int(tagged.sum())
    if _is_enough(count, len(lines)):
        syntax, share = _syntax(sample)
        if share:
            option = "--inline_tags index keeps them as tags, strip removes them"
            if syntax not in ("xml", "xliff"):
                option = f"--inline_tags index --inline_syntax {syntax} keeps them as tags"
            elif syntax == "xliff":
                option = "--inline_tags index --inline_syntax xliff keeps them as tags, strip "
                option += "removes them"
            yield Finding(
                "inline_tags",
                name,
                int(lines[tagged].min()),
                int(lines[tagged].max()),
                count,
                f"{count:,} of {len(lines):,} pairs contain tags, which look like {syntax}",
                option,
            )
    for bit, shown in ((BRACES, "{0} or {name}"), (PERCENT, "%s or %1")):
        has_placeholder, name = _rows_with(marks, bit, names)
        count = int(has_placeholder.sum())
        if _is_enough(count, len(lines)):
            yield Finding(
                "placeholders",
                name,
                int(lines[has_placeholder].min()),
                int(lines[has_placeholder].max()),
                count,
                f"{count:,} of {len(lines):,} pairs contain placeholders such as {shown}",
                "no tag splits them; filter compares both sides (--max_placeholder_mismatch)",
            )


def _rows_with(marks: np.ndarray, bit: int, names: tuple[str, str]) -> tuple[np.ndarray, str]:
    """Return which rows have a mark, bool ``[row]``, and the file to name for them."""
    has = marks & bit != 0
    return has.any(axis=0), file_of(names, has.sum(axis=1))


def _is_enough(count: int, rows: int) -> bool:
    return count >= MIN_ROWS and count >= MIN_SHARE * rows


def _syntax(sample: pa.Table) -> tuple[str, int]:
    """Return the narrowest syntax that has the elements of a sample, and their number."""
    texts = [
        text
        for side in ("source", "target")
        for text in sample[side].to_pylist()
        if "<" in text and ">" in text
    ]
    numbers = {}
    for syntax in _SYNTAXES:
        numbers[syntax.name] = sum(
            len(find_elements(parse_markup(text, syntax).tags)) for text in texts
        )
    most = max(numbers.values(), default=0)
    if not most:
        return "xml", 0
    return next(name for name, number in numbers.items() if number >= 0.8 * most), most
