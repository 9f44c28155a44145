"""Sheets of tags in translations for human judges, and their summary.

This follows Hanneman and Dinu (2020, sections 6.1 and 6.4, table 5): each tag gets one of eight
judgements, which are collapsed to three, separately for lines with and without high tag indexes.
"""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import xxhash

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.markup.markup import (
    INDEXED,
    Element,
    Form,
    Marked,
    Syntax,
    find_elements,
    parse_markup,
)
from pairweave.transforms.markup.other_syntax import SyntaxCheck
from pairweave.transforms.metrics.tags.judgement import CLOSING, OPENING
from pairweave.transforms.metrics.tags.sheet_files import JUDGEMENT, read_judged, write_rows
from pairweave.transforms.output.signature_line import signature
from pairweave.transforms.storage.text_lines import read_in_step

GROUPS = {
    "good": ("correct",),
    "bad": ("incorrect", "missing", "duplicated", "hallucinated", "mutilated"),
    "residual": ("impossible", "unclear"),
}
"""The classes into which table 5 collapses the judgements. A tag that is rightly missing from the
translation, or rightly occurs twice, is correct."""

JUDGEMENTS = tuple(said for group in GROUPS.values() for said in group)
"""Placed correctly; placed wrongly; missing, or present more than once, though it should not be;
not in the source; damaged; with no correct place in this translation; unclear. The paper names six
in section 6.1, and two more in section 6.4."""

COLUMNS = (
    *("line", "highest", "tag", "index", "form", "markup", "found", "source", "target"),
    JUDGEMENT,
)


@dataclasses.dataclass(frozen=True, slots=True)
class TranslatedTag:
    """One tag of a line, to be judged.

    Attributes:
        line: The line, from 1.
        highest: The highest index of the line's source.
        tag: Number of the tag within the line, from 0: those of the source, then added ones.
        index: Its index, from 1: its number (an id in XLIFF), or its place among the source's
            elements where the syntax has no numbers; 0 if the source lacks it.
        form: Its form in the source, or in the translation (`transforms.markup.markup.Form`).
        markup: Its first tag as written.
        found: Number of copies in the translation.
        source: The source without tags, with the range of this tag in white square brackets.
        target: The translation in the same form, with the range of each copy.
        judgement: A person's judgement; empty at first.
    """

    line: int
    highest: int
    tag: int
    index: int
    form: str
    markup: str
    found: int
    source: str
    target: str
    judgement: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class JudgedSystem:
    """The judgements of one system's translations.

    Attributes:
        name: The file.
        counts: Number of tags, by whether their line has indexes beyond the split and by judgement.
        lines: Number of lines, by whether they have indexes beyond the split.
    """

    name: str
    counts: Mapping[bool, Mapping[str, int]]
    lines: Mapping[bool, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """The judgements of several systems' translations of the same lines.

    Attributes:
        systems: The systems, in the order of their files.
        split: The highest index of the lines in the first group.
    """

    systems: tuple[JudgedSystem, ...]
    split: int

    @property
    def signature(self) -> str:
        """Return the line that names everything that determines the figures."""
        settings = {"metric": "translation_judgements", "scale": JUDGEMENTS, "split": self.split}
        return signature(settings, version_of())

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, unrounded, shares in [0, 1]; a share of no tags is None."""
        return {
            "split": self.split,
            "systems": {
                system.name: {
                    name: _figures(system, (high,))
                    for high, name in _group_names(self.split).items()
                }
                | {"all": _figures(system, (False, True))}
                for system in self.systems
            },
            "signature": self.signature,
        }

    def render(self) -> str:
        """Return the figures as text, the signature, and on the last line everything as JSON."""
        report = self.as_dict()
        lines = []
        for name in (*_group_names(self.split).values(), "all"):
            lines.append("all lines" if name == "all" else f"lines with indexes {name}")
            for system, figures in report["systems"].items():
                if not figures[name]["tags"]:
                    lines.append(f"  {system}: no tags")
                    continue
                shares = "  ".join(
                    f"{group} {100 * share:.1f} %"
                    for group, share in figures[name]["shares"].items()
                )
                counts = ", ".join(
                    f"{what} {times}"
                    for what, times in figures[name]["judgements"].items()
                    if times
                )
                lines.append(f"  {system}: {shares}  of {figures[name]['tags']} tags: {counts}")
        return "\n".join([*lines, self.signature, json.dumps(report, ensure_ascii=False)])


def _group_names(split: int) -> dict[bool, str]:
    """Return the names of the groups, by whether their lines have indexes beyond the split."""
    return {False: f"up to {split}", True: f"beyond {split}"}


def _figures(system: JudgedSystem, groups: Sequence[bool]) -> dict[str, Any]:
    counts = {
        judgement: sum(system.counts[high][judgement] for high in groups)
        for judgement in JUDGEMENTS
    }
    total = sum(counts.values())
    return {
        "lines": sum(system.lines[high] for high in groups),
        "tags": total,
        "shares": {
            group: sum(counts[judgement] for judgement in members) / total if total else None
            for group, members in GROUPS.items()
        },
        "judgements": counts,
    }


def draw_translations(
    source: str, translation: str, syntax: Syntax, number: int, seed: int, split: int
) -> list[TranslatedTag]:
    """Draw lines by a hash of their sources, and return each of their tags.

    Another system's translations of the same sources give the same lines.

    Args:
        source: File of the sources with tags.
        translation: File of their translations with tags, line-parallel.
        syntax: The syntax of the tags.
        number: Number of lines to draw whose highest index is up to the split, and of lines
            with a higher one; all if there are fewer.
        seed: Seed of the draws.
        split: The highest index of the first group.

    Raises:
        ConfigError: No source has tags.
        InputError: A file cannot be read, the numbers of lines differ, or the sources have tags
            only in another syntax.
    """
    check = SyntaxCheck(source, syntax)
    groups: dict[bool, list[tuple[int, int, Marked, Marked]]] = {False: [], True: []}
    for line, (ours, theirs) in enumerate(read_in_step(source, translation), 1):
        marked = parse_markup(ours.text, syntax)
        check.add(ours.text, marked)
        if not marked.tags:
            continue
        highest = max(_indices(marked, find_elements(marked.tags), syntax))
        rank = xxhash.xxh3_64_intdigest(f"{line} {ours.text}".encode(), seed)
        groups[highest > split].append((rank, line, marked, parse_markup(theirs.text, syntax)))
    check.warning()
    drawn = [entry for group in groups.values() for entry in sorted(group, key=_rank)[:number]]
    if not drawn:
        raise ConfigError(f"{source}: no line has tags of {syntax.name}; there is nothing to judge")
    drawn.sort(key=lambda entry: entry[1])
    return [
        tag for _, line, ours, theirs in drawn for tag in tags_of_line(line, ours, theirs, syntax)
    ]


def _rank(entry: tuple[int, int, Marked, Marked]) -> tuple[int, int]:
    return entry[0], entry[1]


def tags_of_line(
    line: int, source: Marked, translation: Marked, syntax: Syntax
) -> Iterator[TranslatedTag]:
    """Yield the tags of a line: those of the source, then those that only the translation has.

    A tag of the translation belongs to the tag of the source with the same name and number, or, if
    there are no numbers, with the same characters. The first copy belongs to the first such tag,
    and so on; surplus copies belong to the last.
    """
    ours, theirs = find_elements(source.tags), find_elements(translation.tags)
    indices = _indices(source, ours, syntax)
    places: dict[tuple[str, str], list[int]] = {}
    for place, element in enumerate(ours):
        places.setdefault(_identity(source, element), []).append(place)
    copies: list[list[Element]] = [[] for _ in ours]
    added = []
    for element in theirs:
        alike = places.get(_identity(translation, element))
        if alike is None:
            added.append(element)
            continue
        copies[alike[0]].append(element)
        if len(alike) > 1:
            alike.pop(0)
    rows = [
        (indices[place], element, source.tags[element.first].raw, copies[place])
        for place, element in enumerate(ours)
    ]
    rows += [(0, element, translation.tags[element.first].raw, [element]) for element in added]
    for number, (index, element, raw, elements) in enumerate(rows):
        yield TranslatedTag(
            line,
            max(indices),
            number,
            index,
            element.form,
            raw,
            len(elements),
            _bracketed(source.text, [element] if index else []),
            _bracketed(translation.text, elements),
        )


def _indices(marked: Marked, elements: Sequence[Element], syntax: Syntax) -> list[int]:
    """Return the index of each element, from 1."""
    indices = []
    for place, element in enumerate(elements, 1):
        key = marked.tags[element.first].key
        is_number = key.isascii() and key.isdigit()
        indices.append(int(key) + (syntax is INDEXED) if is_number else place)
    return indices


def _identity(marked: Marked, element: Element) -> tuple[str, str]:
    tag = marked.tags[element.first]
    return (tag.name, tag.key) if tag.key else ("", tag.raw)


def _bracketed(text: str, elements: Sequence[Element]) -> str:
    """Return a text with the ranges of elements in brackets; a half pair has one bracket."""
    marks: list[tuple[int, int, str]] = []
    for order, element in enumerate(elements):
        if element.form is not Form.CLOSE:
            marks.append((element.start, 2 * order, OPENING))
        if element.form is not Form.OPEN:
            marks.append((element.end, 2 * order + 1, CLOSING))
    parts, done = [], 0
    for offset, _, bracket in sorted(marks):
        parts += [text[done:offset], bracket]
        done = offset
    return "".join([*parts, text[done:]])


def write_translations(path: str, tags: Sequence[TranslatedTag]) -> None:
    """Write a sheet of the tags of translations.

    Raises:
        ConfigError: The file exists: it may contain judgements.
    """
    write_rows(path, COLUMNS, (dataclasses.astuple(tag) for tag in tags))


def summarize(paths: Sequence[str], split: int) -> Summary:
    """Summarize judged sheets of several systems.

    Raises:
        InputError: A sheet lacks columns, a judgement is missing or unknown, a tag is repeated, an
            index is not a number, or the sheets are not of the same lines.
    """
    systems = []
    first: dict[str, int] = {}
    for path in paths:
        counts = {high: Counter[str]() for high in (False, True)}
        lines: dict[str, int] = {}
        highest_of: dict[str, bool] = {}
        key = {"line": "line", "tag": "tag"}
        for place, (line, _), row in read_judged(path, COLUMNS, key, JUDGEMENTS):
            if not (row["highest"].isascii() and row["highest"].isdigit()):
                raise InputError(
                    "bad_sheet",
                    path,
                    f"expected a whole number as highest index, found {row['highest']!r}",
                    place,
                )
            high = int(row["highest"]) > split
            counts[high][row[JUDGEMENT]] += 1
            lines.setdefault(line, place)
            highest_of[line] = high
        _require_same_lines(paths[0], first or lines, path, lines)
        first = first or lines
        totals = Counter(highest_of.values())
        systems.append(JudgedSystem(path, counts, totals))
    return Summary(tuple(systems), split)


def _require_same_lines(
    one: str, lines: Mapping[str, int], other: str, others: Mapping[str, int]
) -> None:
    odd = sorted(lines.keys() ^ others.keys(), key=lambda line: (len(line), line))
    if odd:
        holds, lacks, at = (one, other, lines) if odd[0] in lines else (other, one, others)
        raise InputError(
            "other_lines",
            holds,
            f"judges line {odd[0]}, which is not in {lacks}; give sheets of the same lines, drawn "
            "with the same --number, --seed and --index_split",
            at[odd[0]],
        )
