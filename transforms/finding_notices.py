"""The notices of a job about the findings of its look, one for each cause."""

from collections.abc import Iterator, Sequence

from pairweave.transforms.findings import Finding
from pairweave.transforms.merged_notices import MOST_FILES
from pairweave.transforms.units import Notice

COUNTED_ANYWAY = frozenset({"duplicates", "empty", "unreadable", "empty_file", "c1_controls"})
"""Kinds that a job rejects or notes by itself, with exact numbers."""

FOUND_BY_PLANNING = frozenset({"empty_file", "copied"})
"""Kinds that planning finds by itself where they concern a whole file."""

NO_ACTION = frozenset({"placeholders"})
"""Kinds that a job handles without a notice."""


def of_jobs(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that a job has something to say about."""
    return [each for each in findings if each.kind not in COUNTED_ANYWAY | NO_ACTION]


def of_planning(notices: Sequence[Notice]) -> list[Finding]:
    """Return the findings that planning has made, which concern whole files.

    The notice on such a finding (`finding_notices`) is the plan's.

    Args:
        notices: Those of the plan of reading.
    """
    return [
        Finding(notice.code, notice.file, 0, 0, notice.count, notice.message)
        for notice in notices
        if notice.code in FOUND_BY_PLANNING
    ]


def finding_notices(findings: Sequence[Finding]) -> Iterator[Notice]:
    """Yield a notice for each finding; many files with one kind of findings share a notice."""
    kinds = dict.fromkeys(finding.kind for finding in findings)
    for kind in kinds:
        of_kind = [finding for finding in findings if finding.kind == kind]
        others = len({finding.file for finding in of_kind}) - 1
        if others < MOST_FILES:
            for finding in of_kind:
                yield Notice(kind, finding.place, finding.count, finding.message)
            continue
        first = of_kind[0]
        count = sum(finding.count for finding in of_kind)
        place = f"{first.place} and {others:,} other files"
        yield Notice(kind, place, count, f"{count:,} lines; of the first file: {first.message}")
