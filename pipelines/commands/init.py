"""The command ``init``: looks at files and writes the YAML file of a first run."""

import dataclasses
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import yaml
from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.process import terminal
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.findings import OF_LINES, Finding
from pairweave.transforms.inspection.column_look import TextColumns
from pairweave.transforms.inspection.finding_text import finding_lines
from pairweave.transforms.inspection.first_look import first_texts, plan_files, side_language
from pairweave.transforms.inspection.input_files import pair_files
from pairweave.transforms.inspection.look import look_at_sample, sample_size
from pairweave.transforms.option_places import CORPUS_FILES, OUTPUT_FILE
from pairweave.transforms.planning.plan import Plan
from pairweave.transforms.storage import files as stored
from pairweave.transforms.storage.whole_files import require_plain_name
from pairweave.transforms.text.control_characters import visible_line
from pairweave.transforms.text.iso_languages import UNDETERMINED
from pairweave.transforms.units import ReadLimits

_SHOWN_STRETCHES = 3
"""Stretches of lines that a comment names one by one."""

_EFFECTS = {
    "misaligned": "leaves {lines} out",
    "c1_controls": "reads C1 control characters (U+0080 to U+009F) as windows-1252",
    "drop_identical": "rejects pairs with the same text on both sides",
    "inline_tags": "keeps tags in texts as the tags of their pairs",
    "inline_syntax": "how these tags are written",
}
"""Options that mend findings and apply to all jobs on pairs, and what they do."""

_TAG = r"</?[A-Za-z][^<>]*>"
_SIDES = ("source", "target")
_LINE_ENDS = str.maketrans({"\u2028": r"\u2028", "\u2029": r"\u2029"})
"""Characters that end a line, and so a comment, in YAML besides those of `visible_line`."""


@command()
def main(
    files: Annotated[
        tuple[str, ...],
        CORPUS_FILES,
        Field(min_length=1),
        "files with both sides of each pair, or two files of text, the source and its translation "
        "line by line",
    ],
    *,
    output: Annotated[
        str, OUTPUT_FILE, Field(min_length=1), "file of options to write"
    ] = "pairweave.yaml",
) -> int:
    """Inspect files and write a YAML file."""
    require_plain_name(output, "a file of options")
    if stored.exists(output):
        raise ConfigError(f"{output}: already exists; give another --output, or delete it")
    input_options = _input(files)
    plan, of_format, columns = plan_files(input_options)
    rows = first_texts(plan, columns)
    languages = {
        side: side_language(
            rows[side].to_pylist(),
            input_options.get(f"{side}_input", ()),
            of_format.get(f"{side}_field"),
        )
        for side in _SIDES
    }
    for side in languages:
        stated = {getattr(unit, f"{side}_lang") for unit in plan.units}
        if len(stated) == 1 and UNDETERMINED not in stated:
            languages[side] = (stated.pop(), "as the file says")
    text = _yaml({**input_options, **of_format}, plan, rows, languages, columns)
    findings = _look(plan, {side: language for side, (language, _) in languages.items()})
    mending = _mending(findings, text)
    text += "".join(f"{line}\n" for line in mending)
    stored.write_alone(output, text.encode())
    terminal.say(text)
    for line in finding_lines(findings):
        terminal.say(line)
    if findings:
        terminal.say("")
    commented = ", those that mend findings as comments" if mending else ""
    terminal.say(f"These options are in {output} now{commented}. To run the job with them:")
    terminal.say(f"pairweave augment --config {output} --keep_links --output first/")
    return 0


def _input(paths: Sequence[str]) -> dict[str, Any]:
    """Return the input options for the files; two files of text are the sides of a corpus."""
    both, source, target = pair_files(paths)
    return {"input": both} if both else {"source_input": source, "target_input": target}


def _yaml(
    input_options: dict[str, Any],
    plan: Plan,
    rows: pa.Table,
    languages: dict[str, tuple[str, str]],
    columns: TextColumns | None,
) -> str:
    """Return a commented file of options."""
    notes = [f"{file.name}: {file.format}, {counted(file.rows, 'row')}" for file in plan.files]
    notes += [str(notice) for notice in plan.notices]
    if columns is not None and columns.options:
        notes.append(f"by the contents of the first rows, {columns.held}")
    lines = [f"# {visible_line(note).translate(_LINE_ENDS)}" for note in notes]
    lines += _written(
        {
            name: list(each) if isinstance(each, tuple) else each
            for name, each in input_options.items()
        }
    )
    for side, (language, why) in languages.items():
        lines += [f"{line}  # {why}" for line in _written({f"{side}_lang": language})]
    tagged = sum(pc.sum(pc.match_substring_regex(rows[side], _TAG)).as_py() or 0 for side in _SIDES)
    if tagged:
        lines += [
            f"# {tagged:,} of the first {2 * rows.num_rows:,} texts contain tags: index keeps them "
            "as the tags of their pairs,",
            "# strip removes them, raw reads them as text",
            "inline_tags: strip",
        ]
    lines += [
        "# of augment: tagged rows for each row without tags",
        "# mix: 1.0",
        "# of augment: most tags in a pair",
        "# max_tags: 9",
        "# sentences of dev and test sets, which must not be trained on",
        "# exclude: [dev.txt]",
    ]
    return "\n".join(lines) + "\n"


def _look(plan: Plan, languages: dict[str, str]) -> Sequence[Finding]:
    """Return the findings of a look at a sample of the files."""
    units = [
        dataclasses.replace(unit, source_lang=languages["source"], target_lang=languages["target"])
        if UNDETERMINED in (unit.source_lang, unit.target_lang)
        else unit
        for unit in plan.units
    ]
    return look_at_sample(units, ReadLimits(), sample_size(plan.rows)).findings


def _mending(findings: Sequence[Finding], text: str) -> list[str]:
    """Return the options that mend findings, as comments: people decide whether to change rows.

    Args:
        findings: The findings of the look.
        text: The options so far; an option with a value there is not written again.
    """
    lines: dict[str, str] = {}
    for finding in findings:
        for option, value in re.findall(r"--(\w+) (\S+)", finding.option):
            if option not in _EFFECTS or re.search(rf"^{option}: ", text, re.MULTILINE):
                continue
            set_to = _written({option: True if option == "drop_identical" else value})[0]
            effect = _EFFECTS[option].format(lines=_lines(findings))
            lines.setdefault(option, f"# {set_to}  # {effect}")
    if not lines:
        return []
    return [
        "# what mends what was found in the lines; remove a line's first # to use it",
        *lines.values(),
    ]


def _lines(findings: Sequence[Finding]) -> str:
    """Return the stretches of lines that can be rejected, in words."""
    stretches = [finding for finding in findings if finding.kind in OF_LINES]
    several = len({finding.file for finding in stretches}) > 1
    shown = [
        f"{each.first_line:,} to {each.last_line:,}" + (f" of {each.file}" if several else "")
        for each in stretches
    ]
    if len(shown) > _SHOWN_STRETCHES:
        shown[_SHOWN_STRETCHES:] = [f"{len(shown) - _SHOWN_STRETCHES:,} other stretches"]
    return (
        f"lines {', '.join(shown[:-1])} and {shown[-1]}" if shown[1:] else f"lines {''.join(shown)}"
    )


def _written(values: dict[str, object]) -> list[str]:
    """Return a line of YAML for each value."""
    lines = []
    for name, value in values.items():
        # YAML would end a document after a scalar on its own, so the value is put into a list.
        # PyYAML writes U+0085 as it is, and reads it as a line feed.
        readable = "\x85" not in json.dumps(value, ensure_ascii=False)
        text = yaml.safe_dump(
            [value], allow_unicode=readable, default_flow_style=True, width=10_000
        )
        lines.append(f"{name}: {text.strip()[1:-1]}")
    return lines
