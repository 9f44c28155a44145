"""Makes ROWS from texts and problems: every planned row is in the output, kept or rejected."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.ids import pair_ids
from pairweave.transforms.problems import RAW_BYTES, Problem
from pairweave.transforms.reading.damaged_characters import CharacterRules
from pairweave.transforms.reading.given_scores import SCORE, read_scores
from pairweave.transforms.reading.inline_tags import (
    InlinePair,
    TextColumns,
    treat_pairs,
    treat_texts,
)
from pairweave.transforms.reading.links_of_rows import LINK_SIDES, read_given_links
from pairweave.transforms.rejects import Reason, Reject, Stage
from pairweave.transforms.units import Unit

__all__ = [
    "RAW_BYTES",
    "SIDES",
    "Problem",
    "RowMaker",
    "control_problem",
    "read_text",
    "too_long",
    "with_origin",
]

_STAGES = pa.array([Stage.READ.value])
_REASONS = pa.array([reason.value for reason in Reject])
_REASON_INDEX: dict[Reason, int] = {reason: index for index, reason in enumerate(Reject)}

_Row = TypeVar("_Row")

SIDES = ("source", "target", "translation")

BATCH_BYTES = 64 << 20
"""Approximate size of a batch's text; far below the 2 GiB limit of 32-bit offsets."""
_MAX_BYTES_PER_CHARACTER = 4

# Characters that XML 1.0 forbids are rejected in every format: NUL and the C0 controls. Tab is
# allowed; line feed and carriage return only in formats whose texts can have several lines. DEL,
# U+2028 and U+2029 are allowed; for C1 (with U+0085) see `transforms.reading.damaged_characters`.
_CONTROL_IN_LINE = re.compile("[\x00-\x08\x0a-\x1f]")
_CONTROL_IN_FIELD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def read_text(
    raw: bytes,
    side: str,
    *,
    start: int = 0,
    stop: int | None = None,
    file_offset: int | None = None,
    multiline: bool = False,
) -> str | Problem:
    """Decode the text of one side, or return its problem.

    Args:
        raw: The line, or the cell.
        side: ``source``, ``target`` or ``translation``, for the message.
        start: Start of the side in the line.
        stop: End of the side, exclusive; None for the line's end.
        file_offset: Offset of the line in the file (decompressed, if it is compressed); None if
            unknown.
        multiline: Whether the format allows line feeds and carriage returns inside a text.
    """
    try:
        text = raw[start:stop].decode()
    except UnicodeDecodeError as error:
        place = start + error.start
        where = f"at byte {place}"
        if file_offset is not None:
            where += f" of the line, byte {file_offset + place} of the file"
        return Problem(Reject.INVALID_UTF8, f"{side}: 0x{raw[place]:02X} {where}", raw[:RAW_BYTES])
    return control_problem(text, side, raw, start=start, multiline=multiline) or text


def control_problem(
    text: str, side: str, raw: bytes, *, start: int = 0, multiline: bool
) -> Problem | None:
    """Return the problem of a decoded text with a control character, or None."""
    control = (_CONTROL_IN_FIELD if multiline else _CONTROL_IN_LINE).search(text)
    if control is None:
        return None
    place = start + len(text[: control.start()].encode())
    unit = "text" if multiline else "line"
    return Problem(
        Reject.CONTROL_CHAR,
        f"{side}: U+{ord(control.group()):04X} at byte {place} of the {unit}",
        raw[:RAW_BYTES],
    )


def too_long(side: str, length: int, limit: int, head: bytes) -> Problem:
    """Return the problem of a line, cell or message over the limit."""
    return Problem(
        Reject.LINE_TOO_LONG,
        f"{side}: {length} bytes, max_line_bytes is {limit}",
        head[:RAW_BYTES],
    )


def in_batches(
    rows: Iterable[_Row], characters: Callable[[_Row], int], batch_rows: int
) -> Iterator[list[_Row]]:
    """Group rows into batches, limited by their number and by their text.

    Args:
        rows: The rows.
        characters: Returns the code points of a row.
        batch_rows: Maximum number of rows in a batch.
    """
    held: list[_Row] = []
    size = 0
    for row in rows:
        held.append(row)
        size += characters(row)
        if len(held) == batch_rows or size >= BATCH_BYTES // _MAX_BYTES_PER_CHARACTER:
            yield held
            held, size = [], 0
    if held:
        yield held


class RowMaker:
    """Makes ROWS batches of one unit."""

    def __init__(self, unit: Unit, *, in_line: bool = False) -> None:
        """Prepare the columns that are equal in every row of a unit.

        Args:
            unit: The unit.
            in_line: Whether texts are (parts of) lines, so that none may contain a line break.
        """
        self._unit = unit
        self._rules = CharacterRules.of(unit, in_line=in_line)
        self._treats_texts = unit.inline_tags != "raw" or bool(self._rules)
        self._names = [
            pa.array([name])
            for name in (unit.corpus, unit.source_lang, unit.target_lang, unit.file)
        ]

    def batch(
        self,
        lines: np.ndarray,
        texts: Mapping[str, pa.StringArray],
        problems: Mapping[int, Problem],
        inline: Mapping[int, InlinePair] | None = None,
    ) -> pa.RecordBatch:
        """Make one batch.

        Args:
            lines: Line numbers from 1, int64 ``[row]``.
            texts: Column by side ``[row]``; null if a side could not be read. If ``translation``,
                ``score`` or ``forward_links`` is missing, no row has any.
            problems: By row of the batch, from 0; these rows are rejected, as are rows with an
                invalid score or invalid links.
            inline: The rows with tags, for a format whose tags are elements, not characters.
        """
        count = len(lines)
        unit = self._unit
        scores = pa.nulls(count, pa.float32())
        if SCORE in texts:
            problems = dict(problems)
            scores = read_scores(texts[SCORE], problems)
            texts = {side: column for side, column in texts.items() if side != SCORE}
        links = [pa.nulls(count, schemas.ROWS.field(side).type) for side in LINK_SIDES]
        if not texts.keys().isdisjoint(LINK_SIDES):
            problems = dict(problems)
            links = [
                read_given_links(texts[side], side, problems) if side in texts else nothing
                for side, nothing in zip(LINK_SIDES, links, strict=True)
            ]
            texts = {side: column for side, column in texts.items() if side not in LINK_SIDES}
        if inline is not None:
            treated = treat_pairs(texts, inline, problems, unit, self._rules)
        elif self._treats_texts:
            treated = treat_texts(texts, problems, unit, self._rules)
        else:
            treated = TextColumns(texts, texts, None, problems)
        rejects = self._reject_columns(count, treated.problems)
        nothing = pa.nulls(count, pa.string())
        source, target, translation = (treated.texts.get(side, nothing) for side in SIDES)
        zeros = pa.array(np.zeros(count, dtype=np.int32))
        names = [pa.DictionaryArray.from_arrays(zeros, name) for name in self._names]
        ids = pair_ids(
            unit.source_lang,
            unit.target_lang,
            *(treated.id_texts.get(side, nothing) for side in SIDES),
        )
        columns = [
            pa.array(np.full(count, unit.index, dtype=np.int32)),
            ids,
            *names,
            pa.array(lines, pa.int64()),
            source,
            target,
            translation,
            *rejects,
            nothing if treated.markup is None else treated.markup,
            scores,
            *links,
            pa.nulls(count, schemas.BEAD),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.ROWS)

    def _reject_columns(self, count: int, problems: Mapping[int, Problem]) -> list[pa.Array]:
        if not problems:
            fields = [schemas.ROWS.field(name) for name in ("stage", "reason", "detail", "raw")]
            return [pa.nulls(count, field.type) for field in fields]
        stages: list[int | None] = [None] * count
        reasons: list[int | None] = [None] * count
        details: list[str | None] = [None] * count
        raws: list[bytes | None] = [None] * count
        for row, problem in problems.items():
            stages[row] = 0
            reasons[row] = _REASON_INDEX[problem.reason]
            details[row] = problem.detail
            raws[row] = problem.raw
        return [
            pa.DictionaryArray.from_arrays(pa.array(stages, pa.int32()), _STAGES),
            pa.DictionaryArray.from_arrays(pa.array(reasons, pa.int32()), _REASONS),
            pa.array(details, pa.string()),
            pa.array(raws, pa.binary()),
        ]


def with_origin(
    batch: pa.RecordBatch, corpus: pa.Array, file: pa.Array, line: pa.Array
) -> pa.RecordBatch:
    """Return ROWS with the place where each row was first read.

    Args:
        batch: ROWS.
        corpus: Names of corpora ``[row]``.
        file: Names of files ``[row]``.
        line: Lines from 1 ``[row]``.
    """
    for name, column in (("corpus", corpus), ("file", file)):
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        field = schemas.ROWS.field(name)
        place = schemas.ROWS.get_field_index(name)
        batch = batch.set_column(place, field, column.cast(field.type))
    place = schemas.ROWS.get_field_index("line")
    return batch.set_column(place, schemas.ROWS.field("line"), line.cast(pa.int64()))
