"""Sheets of tags for human judges, and their agreement (Hanneman and Dinu 2020, 3.2)."""

import dataclasses
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.markup.markup import INDEXED, strip_markup
from pairweave.transforms.metrics.tags.sheet_files import JUDGEMENT, read_judged, write_rows
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.signature_line import signature
from pairweave.transforms.report import run_samples

JUDGEMENTS = ("correct", "incorrect", "impossible", "unclear")
"""Placed correctly; placed wrongly though a correct place exists; no correct place exists;
unclear."""

COLUMNS = ("id", "variant", "tag", "form", "source", "target", "judgement")
OPENING, CLOSING = "\u27e6", "\u27e7"


@dataclasses.dataclass(frozen=True, slots=True)
class SheetRow:
    """One tag of a sheet.

    Attributes:
        id: The pair's id.
        variant: Number of the pair's row.
        tag: The tag's index.
        form: Its form (`transforms.markup.markup.Form`).
        source: The source without tags, with the range of this tag in white square brackets.
        target: The target in the same form.
        judgement: A person's judgement; empty at first.
    """

    id: str
    variant: int
    tag: int
    form: str
    source: str
    target: str
    judgement: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Sheet:
    """One person's judgements.

    Attributes:
        name: The file.
        judgements: The judgement of each tag, by (id, variant, tag).
        lines: The line of each tag.
    """

    name: str
    judgements: Mapping[tuple[str, ...], str]
    lines: Mapping[tuple[str, ...], int]


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement:
    """Several people's judgements of the same tags.

    Attributes:
        names: Their files ``[person]``.
        counts: Number of judgements of each kind ``[person][judgement]``, in the order of
            `JUDGEMENTS`.
        pairwise: For two people ``(i, j)``: the share of tags with the same judgement, and the
            share that one judged correct and the other incorrect.
        kappa: Fleiss' kappa; None for one person, or if agreement by chance is certain.
    """

    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    pairwise: Mapping[tuple[int, int], tuple[float, float]]
    kappa: float | None

    @property
    def signature(self) -> str:
        """Return the line that names everything that determines the figures."""
        settings = {"metric": "judgements", "scale": JUDGEMENTS, "kappa": "fleiss"}
        return signature({**settings, "people": len(self.names)}, version_of())

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, unrounded, shares in [0, 1]."""
        total = [sum(column) for column in zip(*self.counts, strict=True)]
        return {
            "tags": sum(self.counts[0]),
            "people": {
                name: _shares(counts) for name, counts in zip(self.names, self.counts, strict=True)
            },
            "all": _shares(total),
            "pairwise": [
                {"people": [one, other], "agreement": same, "clear_disagreement": opposed}
                for (one, other), (same, opposed) in self.pairwise.items()
            ],
            "fleiss_kappa": self.kappa,
            "signature": self.signature,
        }

    def render(self) -> str:
        """Return the figures as text, the signature, and on the last line everything as JSON."""
        figures = self.as_dict()
        lines = [f"{figures['tags']} tags"]
        for name, shares in [*figures["people"].items(), ("all", figures["all"])]:
            listed = "  ".join(f"{what} {100 * share:.1f} %" for what, share in shares.items())
            lines.append(f"{name}: {listed}")
        for (one, other), (same, opposed) in self.pairwise.items():
            lines.append(
                f"{self.names[one]} and {self.names[other]}: agree {100 * same:.1f} %, "
                f"correct against incorrect {100 * opposed:.1f} %"
            )
        lines.append(f"Fleiss' kappa {'none' if self.kappa is None else f'{self.kappa:.3f}'}")
        return "\n".join([*lines, self.signature, json.dumps(figures, ensure_ascii=False)])


def draw_sheet(run: FinishedRun, pairs: int, seed: int) -> list[SheetRow]:
    """Draw pairs of a finished run by hash and seed, and return each of their tags.

    Args:
        run: The run.
        pairs: Number of pairs to draw; all if there are fewer.
        seed: Seed of the draws.

    Raises:
        ConfigError: The run has no tags, or its tags are not indexed.
        WorkerError: A shard cannot be read.
    """
    representation = run.settings.get("representation", "indexed")
    if run.job != "augment" or representation != "indexed":
        raise ConfigError(
            f"{run.directory}: tags are drawn from a run of augment with --representation indexed, "
            f"this is {run.job} with {representation}"
        )
    drawn = run_samples.drawn_from_all(run, pairs, seed)
    rows = [row for pair in drawn for row in rows_of(pair)]
    if not rows:
        raise ConfigError(
            f"{run.directory}: no row of this run has tags, so there is nothing to judge"
        )
    return rows


def rows_of(pair: Mapping[str, Any]) -> Iterator[SheetRow]:
    """Yield a sheet's row for each tag of a row of a run (`schemas.TAGGED`)."""
    sides = {side: strip_markup(pair[side], INDEXED) for side in ("source", "target")}
    for tag in pair["tags"]:
        shown = [
            _bracketed(text, tag[f"{side}_start"], tag[f"{side}_end"])
            for side, text in sides.items()
        ]
        yield SheetRow(pair["id"], pair["variant"], tag["index"], tag["form"], *shown)


def _bracketed(text: str, start: int, end: int) -> str:
    return f"{text[:start]}{OPENING}{text[start:end]}{CLOSING}{text[end:]}"


def write_sheet(path: str, rows: Sequence[SheetRow]) -> None:
    """Write a sheet of tab-separated values with a header; fields are quoted if necessary.

    Raises:
        ConfigError: The file exists: it may contain judgements.
    """
    write_rows(path, COLUMNS, (dataclasses.astuple(row) for row in rows))


def read_sheets(paths: Sequence[str]) -> list[Sheet]:
    """Read judged sheets of the same tags, in any order of rows.

    Raises:
        InputError: A sheet lacks columns, a judgement is missing or unknown, a tag is repeated, or
            the sheets have different tags.
    """
    sheets = [_read_sheet(path) for path in paths]
    for sheet in sheets[1:]:
        odd = sorted(sheets[0].lines.keys() ^ sheet.lines.keys())
        if odd:
            holds, lacks = (sheets[0], sheet) if odd[0] in sheets[0].lines else (sheet, sheets[0])
            raise InputError(
                "other_tags",
                holds.name,
                f"judges tag {odd[0][2]} of pair {odd[0][0]}, which is not in {lacks.name}; give "
                "sheets of one sample",
                holds.lines[odd[0]],
            )
    return sheets


def _read_sheet(path: str) -> Sheet:
    judgements: dict[tuple[str, ...], str] = {}
    lines: dict[tuple[str, ...], int] = {}
    key = {"id": "pair", "variant": "", "tag": "tag"}
    for line, place, row in read_judged(path, COLUMNS, key, JUDGEMENTS):
        judgements[place], lines[place] = row[JUDGEMENT], line
    return Sheet(path, judgements, lines)


def agree(sheets: Sequence[Sheet]) -> Agreement:
    """Return the judgements of several sheets, and their agreement."""
    keys = list(sheets[0].judgements)
    judgements = [[sheet.judgements[key] for key in keys] for sheet in sheets]
    pairwise = {}
    for (one, ours), (other, theirs) in itertools.combinations(enumerate(judgements), 2):
        same = sum(a == b for a, b in zip(ours, theirs, strict=True))
        opposed = sum({a, b} == {"correct", "incorrect"} for a, b in zip(ours, theirs, strict=True))
        pairwise[one, other] = (same / len(keys), opposed / len(keys))
    counts = tuple(tuple(person.count(what) for what in JUDGEMENTS) for person in judgements)
    by_tag = [
        [votes[what] for what in JUDGEMENTS]
        for votes in map(Counter, zip(*judgements, strict=True))
    ]
    return Agreement(tuple(sheet.name for sheet in sheets), counts, pairwise, fleiss_kappa(by_tag))


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Return Fleiss' kappa: the agreement of people beyond chance (Fleiss 1971).

    Args:
        counts: Number of people who put each subject into each category ``[subject][category]``;
            the total is the same for each subject.

    Returns:
        At most 1; None if fewer than two people judged, or all put everything into one category.

    Raises:
        ValueError: There is no subject, or numbers of people differ.
    """
    people = {sum(row) for row in counts}
    if len(people) != 1:
        raise ValueError(f"expected one number of people for every subject, got {sorted(people)}")
    (raters,) = people
    if raters < 2:
        return None
    votes = len(counts) * raters
    chance = sum(sum(column) ** 2 for column in zip(*counts, strict=True)) / votes**2
    if chance == 1:
        return None
    same = sum(sum(count * (count - 1) for count in row) for row in counts)
    observed = same / (votes * (raters - 1))
    return (observed - chance) / (1 - chance)


def _shares(counts: Sequence[int]) -> dict[str, float]:
    return {what: times / sum(counts) for what, times in zip(JUDGEMENTS, counts, strict=True)}
