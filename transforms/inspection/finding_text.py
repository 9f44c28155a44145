"""Findings as lines for people."""

import textwrap
from collections.abc import Iterator, Sequence

import regex

from pairweave.transforms.findings import KINDS, OF_LINES, Finding
from pairweave.transforms.merged_notices import MAX_FILES

WIDTH = 100
_NUMBER = regex.compile(r"\d[\d,.]*")


def finding_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the lines that show findings, grouped by kind.

    If more than `MAX_FILES` files have the same finding, apart from its numbers, only the first
    file is shown; all stretches of lines are shown.
    """
    for kind, about in KINDS.items():
        of_kind = [finding for finding in findings if finding.kind == kind]
        if not of_kind:
            continue
        yield f"{kind}: {about}"
        for finding, others in _once(of_kind):
            also = f", and in {others:,} other files" if others else ""
            yield f"  {finding.place}{also}"
            yield from _wrapped(finding.evidence)
            if finding.option:
                yield from _wrapped(finding.option, "    -> ")


def _once(findings: Sequence[Finding]) -> Iterator[tuple[Finding, int]]:
    """Yield findings, each with the number of further files that it stands for."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        said = _NUMBER.sub("", finding.evidence), _NUMBER.sub("", finding.option)
        groups.setdefault(said, []).append(finding)
    for group in groups.values():
        files = len({finding.file for finding in group})
        if files > MAX_FILES and group[0].kind not in OF_LINES:
            yield group[0], files - 1
        else:
            yield from ((finding, 0) for finding in group)


def _wrapped(text: str, mark: str = "    ") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
