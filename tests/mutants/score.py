"""What a sample of faults says: the survivors, each with its change, and the shares caught."""

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutants.sample import Fault

Results = dict[str, tuple[bool, str]]
"""By key of a fault, whether it survived, and how the tests ended."""


def report(tree: Path, faults: Sequence[Fault], results: Results) -> str:
    """Return the survivors and the score.

    Args:
        tree: The sources without a fault.
        faults: The sample.
        results: What is known of at least these faults.
    """
    survivors = [fault for fault in faults if results[fault.key][0]]
    lines: list[str] = []
    for fault in survivors:
        before = (tree / fault.path).read_text().splitlines()
        lines += ["", f"{fault.path}:{fault.line} [{fault.family}] {fault.operator}"]
        lines += [*_changed(before, fault.source.splitlines()), results[fault.key][1]]
    lines += ["", *_table(faults, survivors)]
    return "\n".join(lines)


def _table(faults: Sequence[Fault], survivors: Sequence[Fault]) -> Iterator[str]:
    """Yield a Markdown table with a row for each area and family, and one for all faults."""
    yield "| area | family | faults | caught | |"
    yield "| --- | --- | --- | --- | --- |"
    for area, family in sorted({(fault.area, fault.family) for fault in faults}):
        of = [
            len([f for f in some if (f.area, f.family) == (area, family)])
            for some in (faults, survivors)
        ]
        yield _row(area, family, *of)
    yield _row("all", "", len(faults), len(survivors))


def _row(area: str, family: str, faults: int, survivors: int) -> str:
    caught = faults - survivors
    return f"| {area} | {family} | {faults} | {caught} | {caught / max(1, faults):.1%} |"


def _changed(before: list[str], after: list[str]) -> Iterator[str]:
    for line in difflib.unified_diff(before, after, lineterm="", n=0):
        if line[:3] not in ("---", "+++", "@@ "):
            yield line
