"""The notices of a job about the findings of its look, one notice for each cause."""

from collections import Counter
from collections.abc import Iterator, Sequence

from pairweave.transforms.counted import counted
from pairweave.transforms.findings import Finding
from pairweave.transforms.merged_notices import MAX_FILES
from pairweave.transforms.rejects import Reject
from pairweave.transforms.units import Notice

COUNTED_ANYWAY = frozenset(
    {"duplicates", "empty", "unreadable", "untranslated", "empty_file", "c1_controls"}
)
"""Kinds that a job itself rejects or notes at its end, with exact numbers."""

EARLY_SHARE = 0.05
"""If a greater share of the pairs in the look has one of these kinds, the job also warns at its
start, before hours of work. The same share of rejected pairs causes a notice at the end
(`transforms.report.rejected_shares`)."""

EARLY_PAIRS = 20
"""Minimum number of pairs in the look for this warning, as for the notice at the end."""

_ASKED_FOR = f": {Reject.OBSOLETE}"
"""The end of the message about entries that are to be left out and have no notice at the end."""

FOUND_BY_PLANNING = frozenset({"empty_file", "copied"})
"""Kinds that planning itself finds where they concern a whole file."""

NO_ACTION = frozenset({"placeholders"})
"""Kinds that a job handles without a notice."""


def of_jobs(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that a job reports."""
    return [each for each in findings if each.kind not in COUNTED_ANYWAY | NO_ACTION]


def of_start(findings: Sequence[Finding], pairs: int) -> list[Finding]:
    """Return the findings that a job counts anyway, but that concern a large part of its input.

    They are warnings at the start but not notices of the run, which has the exact numbers.

    Args:
        findings: The findings of the look.
        pairs: Number of pairs that were looked at.
    """
    counted = [
        each
        for each in findings
        if each.kind in COUNTED_ANYWAY and not each.evidence.endswith(_ASKED_FOR)
    ]
    counts = Counter[str]()
    for each in counted:
        counts[each.kind] += each.count
    return [
        each for each in counted if pairs >= EARLY_PAIRS and counts[each.kind] > EARLY_SHARE * pairs
    ]


def of_planning(notices: Sequence[Notice]) -> list[Finding]:
    """Return the findings that planning has made, which concern whole files.

    The notice on such a finding (`finding_notices`) is the plan's.

    Args:
        notices: The notices of the plan for reading.
    """
    return [
        Finding(notice.code, notice.file, 0, 0, notice.count, notice.message)
        for notice in notices
        if notice.code in FOUND_BY_PLANNING
    ]


def finding_notices(findings: Sequence[Finding]) -> Iterator[Notice]:
    """Yield a notice for each finding; many files with the same kind of finding share a notice."""
    kinds = dict.fromkeys(finding.kind for finding in findings)
    for kind in kinds:
        of_kind = [finding for finding in findings if finding.kind == kind]
        others = len({finding.file for finding in of_kind}) - 1
        if others < MAX_FILES:
            for finding in of_kind:
                yield Notice(kind, finding.place, finding.count, finding.message)
            continue
        first = of_kind[0]
        count = sum(finding.count for finding in of_kind)
        place = f"{first.place} and {counted(others, 'other file')}"
        yield Notice(
            kind, place, count, f"{counted(count, 'line')}; of the first file: {first.message}"
        )
