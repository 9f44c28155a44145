"""Finds texts without letters, and columns that are read although others hold the texts."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.findings import Finding
from pairweave.transforms.inspection.column_look import (
    HEAD_ROWS,
    TABLES,
    Column,
    TextColumns,
    text_columns_of,
)
from pairweave.transforms.inspection.column_names import side_of
from pairweave.transforms.rejects import Reject
from pairweave.transforms.units import ReadLimits, Unit

MAX_BARE = 0.5
"""Share of texts without letters above which a side does not count as text. In legal text, with its
numbers and references, a third may have none."""

MIN_ROWS = 10
"""Minimum number of such texts; if other columns hold the texts, `MIN_IN_COLUMNS`."""

MIN_IN_COLUMNS = 2

SHOWN = 40
"""Maximum number of characters of a text to show."""

_SIDES = ("source", "target")
_OF_TEXTS = frozenset(
    {
        "misaligned",
        "moved",
        "exchanged_languages",
        "other_language",
        "mixed_languages",
        "one_language",
        "duplicates",
        "repeated_side",
        "copied",
    }
)
"""Kinds of findings that come from comparing texts, and mean nothing in columns without texts."""


class BareTexts:
    """Collects the texts of a file that have no letters.

    Args:
        sides: The files of source and target, which may be one.
        unit: The first unit of the file.
        limits: Limits of the readers.
    """

    def __init__(self, sides: tuple[str, str], unit: Unit, limits: ReadLimits) -> None:
        self._sides = sides
        self._unit = unit
        self._limits = limits
        self._rows = self._first = self._last = 0
        self._filled = [0, 0]
        self._bare: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self._examples = ["", ""]
        self._missing: list[np.ndarray] = []
        self._head: tuple[list[str], list[str]] = ([], [])

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next rows (`schemas.ROWS`)."""
        lines = batch.column("line").to_numpy()
        if not len(lines):
            return
        reasons = batch.column("reason")
        self._first = self._first or int(lines[0])
        self._last = int(lines[-1])
        self._rows += len(lines)
        for side, name in enumerate(_SIDES):
            texts = pc.if_else(reasons.is_null(), pc.fill_null(batch.column(name), ""), "")
            filled = _matched(texts, r"\S")
            bare = filled & ~_matched(texts, r"\pL")
            self._filled[side] += int(filled.sum())
            if bare.any():
                self._bare[side].append(lines[bare])
                self._examples[side] = self._examples[side] or texts[int(bare.argmax())].as_py()
            left = HEAD_ROWS - len(self._head[side])
            self._head[side].extend(texts.slice(0, left).to_pylist())
        if reasons.null_count < len(reasons):
            missing = pc.fill_null(pc.equal(reasons, Reject.MISSING_FIELD), fill_value=False)
            self._missing.append(lines[missing.to_numpy(zero_copy_only=False)])

    def findings(self, others: Iterable[Finding]) -> Iterator[Finding]:
        """Yield findings on the columns and on sides without letters, then all others.

        Args:
            others: Other findings on the file. Findings from comparing texts are left out if the
                texts are in other columns.
        """
        columns = self._columns()
        misread = columns is not None and columns.misread and bool(columns.options)
        own = list(self._bare_findings(columns)) or list(self._column_findings(columns))
        yield from own
        left_out = _OF_TEXTS if own and misread else frozenset[str]()
        yield from (each for each in others if each.kind not in left_out)

    def _columns(self) -> TextColumns | None:
        """Return the contents of the columns, if the columns that are read may be wrong."""
        unit = self._unit
        heads = [Column("", texts[0] if texts else "", texts[1:]) for texts in self._head]
        doubtful = not all(head.holds_text for head in heads)
        named = any(side_of(head.name) for head in heads)
        lacking = unit.format == "jsonl" and 2 * sum(map(len, self._missing)) > self._rows
        if not (lacking or (unit.format in TABLES and (doubtful or named))):
            return None
        return text_columns_of(unit, self._limits, (unit.source_lang, unit.target_lang))

    def _bare_findings(self, columns: TextColumns | None) -> Iterator[Finding]:
        clear = columns is not None and columns.misread and bool(columns.options)
        for side, name in enumerate(_SIDES):
            count, filled = sum(map(len, self._bare[side])), self._filled[side]
            if count <= MAX_BARE * filled or count < (MIN_IN_COLUMNS if clear else MIN_ROWS):
                continue
            text = self._examples[side]
            shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
            what = f"{count:,} of {filled:,} texts of the {name} have no letter, such as {shown!r}"
            if columns is not None and columns.several:
                what += f"; {columns.held}"
            yield Finding(
                "no_letters",
                self._sides[side],
                int(self._bare[side][0][0]),
                int(self._bare[side][-1][-1]),
                count,
                what,
                (columns.option if columns is not None else "")
                or f"give a file with text as the {name}",
            )

    def _column_findings(self, columns: TextColumns | None) -> Iterator[Finding]:
        if columns is None:
            return
        file = self._sides[0]
        if self._unit.format == "jsonl":
            lines = np.concatenate(self._missing)
            what = f"{len(lines):,} of {self._rows:,} rows lack fields that are read"
            yield Finding(
                "other_columns",
                file,
                int(lines[0]),
                int(lines[-1]),
                len(lines),
                f"{what}; {columns.held}",
                columns.option,
            )
        elif columns.options and columns.misread:
            what = f"the columns that are read do not both hold text; {columns.held}"
            yield Finding(
                "other_columns",
                file,
                self._first,
                self._last,
                self._rows,
                what,
                columns.option,
            )
        elif columns.options and self._first == 1:
            what = "the first line names the columns, and is read as a pair"
            yield Finding("header", file, 1, 1, 1, what, columns.option)


def _matched(texts: pa.StringArray, pattern: str) -> np.ndarray:
    return pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
