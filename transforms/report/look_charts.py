"""The look at the input, as the report shows it: findings, and curves over the lines of files."""

from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.finding_notices import finding_notices, of_jobs
from pairweave.transforms.findings import KINDS, OF_LINES, Finding
from pairweave.transforms.report.templating import number

HEIGHT = 60
"""Height of a curve, in units of its drawing."""

MIN_TOP = 100
"""Minimum extent of a curve's axis on either side of 0, in hundredths of a nat."""

MAX_FINDINGS = 200
"""Maximum number of findings to list; the rest is only counted."""

MAX_CURVES = 12

Json = Mapping[str, Any]
Shown = dict[str, Any]


def shown_look(manifest: Json) -> Shown | None:
    """Return the page's content on a look; None if there are no findings."""
    findings = manifest.get("look", {}).get("findings", [])
    if not findings:
        return None
    rows_of = {
        label: entry["rows"]
        for entry in manifest["inputs"]
        for label in (entry["name"], f"{entry.get('corpus')}: {entry['name']}")
    }
    charts = [
        _curve(finding, findings, rows_of.get(finding["file"], 0))
        for finding in findings
        if finding.get("curve")
    ]
    return {
        "pairs": manifest["look"]["pairs"],
        "rows": [_row(finding) for finding in findings[:MAX_FINDINGS]],
        "left": max(0, len(findings) - MAX_FINDINGS),
        "curves": charts[:MAX_CURVES],
    }


def told_findings(manifest: Json) -> tuple[list[Shown], list[str]]:
    """Divide a run's notices into notices on findings of the look, and all others.

    Returns:
        For each finding the kind in words, the place, the evidence and the advice; and the other
        notices as they are.
    """
    findings = [Finding(**each) for each in manifest.get("look", {}).get("findings", [])]
    by_text = {str(notice): notice for notice in finding_notices(of_jobs(findings))}
    told = []
    for notice in (by_text[text] for text in manifest["notices"] if text in by_text):
        options = [each.option for each in findings if each.kind == notice.code]
        fitting = [each for each in options if notice.message.endswith(f"; {each}")]
        option = max(fitting, key=len, default="")
        told.append(
            {
                "what": KINDS[notice.code],
                "place": notice.file,
                "evidence": notice.message.removesuffix(f"; {option}"),
                "what to do": option,
            }
        )
    return told, [text for text in manifest["notices"] if text not in by_text]


def _row(finding: Json) -> Shown:
    return {
        "what": KINDS.get(finding["kind"], finding["kind"]),
        "kind": finding["kind"],
        "file": finding["file"],
        "lines": _lines(finding),
        "evidence": finding["evidence"],
        "what to do": finding["option"],
    }


def _lines(finding: Json) -> str:
    first, last = finding["first_line"], finding["last_line"]
    if not first:
        return "all"
    return number(first) if first == last else f"{number(first)} to {number(last)}"


def _curve(finding: Json, findings: Sequence[Json], rows: int) -> Shown:
    """Return the curve of a file, with all of its stretches."""
    values = finding["curve"]
    of_file = [
        each for each in findings if each["file"] == finding["file"] and each["kind"] in OF_LINES
    ]
    lines = max(rows, *(each["last_line"] for each in of_file))
    width = len(values)
    known = [value for value in values if value is not None]
    top, bottom = max(MIN_TOP, *known), min(-MIN_TOP, *known)
    scale = HEIGHT / (top - bottom)
    zero = scale * top
    return {
        "file": finding["file"],
        "width": width,
        "height": HEIGHT,
        "zero": zero,
        "bars": [
            {
                "x": place,
                "y": zero - scale * max(0, value),
                "height": scale * abs(value),
                "kind": "kept" if value >= 0 else "rejected",
                "label": _label(place, width, lines, value),
            }
            for place, value in enumerate(values)
            if value is not None
        ],
        "stretches": [
            {
                "x": width * (each["first_line"] - 1) / lines,
                "width": width * (each["last_line"] - each["first_line"] + 1) / lines,
                "label": f"lines {_lines(each)}: {each['kind']}",
            }
            for each in of_file
        ],
        "ticks": [number(1), number(max(1, lines // 2)), number(lines)],
        "said": ", ".join(f"lines {_lines(each)} ({each['kind']})" for each in of_file),
    }


def _label(place: int, width: int, lines: int, value: int) -> str:
    first, last = place * lines // width + 1, max(1, (place + 1) * lines // width)
    return f"lines {number(first)} to {number(last)}: {value / 100:.1f}"
