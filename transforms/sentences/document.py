"""A document pair as read: sentences, paragraphs, and lines that are not text."""

import dataclasses

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.reading.column_lines import decode, line_blocks, whole_lines
from pairweave.transforms.reading.damaged_characters import CharacterRules, apply_rules
from pairweave.transforms.reading.rows import Problem
from pairweave.transforms.sentences.splitting import WHOLE_LINES, Splitting, split_lines
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.units import Part, ReadLimits, Unit


@dataclasses.dataclass(frozen=True)
class Sentences:
    """One side of a document.

    Attributes:
        name: The file's name.
        texts: The sentences, strings without nulls; empty for a line that is not text.
        lines: Line of each sentence, from 1, int64 ``[sentence]``.
        paragraphs: Paragraph of each sentence, from 0, ascending, int64 ``[sentence]``.
        problems: Reject reason of a sentence, by its number.
        spaced: Whether white space or a line break precedes each sentence, bool ``[sentence]``;
            None if it always does.
    """

    name: str
    texts: pa.StringArray
    lines: np.ndarray
    paragraphs: np.ndarray
    problems: dict[int, Problem]
    spaced: np.ndarray | None = None

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.lines)


def read_document(
    unit: Unit, limits: ReadLimits, splitting: Splitting = WHOLE_LINES
) -> tuple[Sentences, Sentences]:
    """Read both sides of a document pair; blank lines separate paragraphs.

    A side whose file is missing has no sentences.

    A line that is not text (not UTF-8, over the limit, with a control character) counts as a
    sentence, so if lines are not split, sentences are numbered like the lines that are not blank.

    Args:
        unit: The document pair.
        limits: Limits of the readers.
        splitting: How its lines are cut into sentences.

    Raises:
        WorkerError: A file is not what was planned.
    """
    parts = {part.role: part for part in unit.parts}
    if len(parts) < len(unit.parts) or not parts.keys() <= {"source", "target"}:
        raise WorkerError(f"{unit.label}: a document pair has 2 files, this has {len(unit.parts)}")
    rules = CharacterRules.of(unit, in_line=True)
    source, target = (
        _read_side(parts[role], limits, rules, splitting, language)
        if role in parts
        else no_sentences(unit.file)
        for role, language in (("source", unit.source_lang), ("target", unit.target_lang))
    )
    return source, target


def no_sentences(name: str) -> Sentences:
    """Return a side without sentences."""
    none = np.zeros(0, np.int64)
    return Sentences(name, pa.array([], pa.string()), none, none, {})


def _read_side(
    part: Part, limits: ReadLimits, rules: CharacterRules, splitting: Splitting, language: str
) -> Sentences:
    columns = [pa.array([], pa.string())]
    problems: dict[int, Problem] = {}
    done = 0
    for block in line_blocks(part_text(part, limits), limits.max_line_bytes):
        of_block: dict[int, Problem] = {}
        stretch = whole_lines(block, 0, len(block))
        texts = decode(stretch, part.role, limits.max_line_bytes, of_block)
        if rules:
            texts = _apply(rules, texts, part.role, of_block)
        columns.append(texts.fill_null(""))
        problems |= {done + row: problem for row, problem in of_block.items()}
        done += len(block)
    return sentences_of(part.name, pa.concat_arrays(columns), problems, splitting, language)


def sentences_of(
    name: str,
    texts: pa.StringArray,
    problems: dict[int, Problem],
    splitting: Splitting,
    language: str,
) -> Sentences:
    """Return the sentences of one side of a document.

    Args:
        name: The file's name.
        texts: All its lines, including blank ones, strings without nulls.
        problems: Reasons of lines that are not text, by index.
        splitting: How lines are cut into sentences.
        language: The language of the side.
    """
    filled = pa.compute.not_equal(pa.compute.utf8_trim_whitespace(texts), "")
    marks = filled.to_numpy(zero_copy_only=False)
    marks = marks.copy() if problems else marks
    marks[list(problems)] = True
    rows = np.flatnonzero(marks)
    # A new paragraph begins after a blank line.
    begins = np.zeros(len(rows), np.int64)
    begins[1:] = np.diff(rows) > 1
    place = {int(row): number for number, row in enumerate(rows.tolist()) if row in problems}
    whole = Sentences(
        name,
        texts.take(pa.array(rows)),
        rows + 1,
        np.cumsum(begins),
        {place[row]: problem for row, problem in problems.items()},
    )
    if splitting == WHOLE_LINES:
        return whole
    cut = split_lines(
        whole.texts.to_pylist(), whole.paragraphs, frozenset(whole.problems), splitting, language
    )
    first_of_line = {line: sentence for sentence, line in reversed([*enumerate(cut.lines)])}
    return Sentences(
        name,
        pa.array(cut.texts, pa.string()),
        whole.lines[np.array(cut.lines, np.int64)],
        np.array(cut.paragraphs, np.int64),
        {first_of_line[line]: problem for line, problem in whole.problems.items()},
        np.array(cut.spaced, np.bool_),
    )


def _apply(
    rules: CharacterRules, texts: pa.StringArray, role: str, problems: dict[int, Problem]
) -> pa.StringArray:
    """Return the normalized texts; texts rejected for a character stay unchanged."""
    listed = texts.to_pylist()
    apply_rules({role: listed}, rules, problems, lambda _side, _row: False)
    return pa.array(listed, pa.string())
