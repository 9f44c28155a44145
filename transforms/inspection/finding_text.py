"""Findings as lines for people."""

import textwrap
from collections.abc import Iterator, Sequence

from pairweave.transforms.findings import KINDS, Finding

WIDTH = 100


def finding_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the lines that show findings, those of one kind together."""
    for kind, about in KINDS.items():
        of_kind = [finding for finding in findings if finding.kind == kind]
        if not of_kind:
            continue
        yield f"{kind}: {about}"
        for finding in of_kind:
            yield f"  {finding.place}"
            yield from _wrapped(finding.evidence)
            if finding.option:
                yield from _wrapped(finding.option, "    -> ")


def _wrapped(text: str, mark: str = "    ") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
