"""Document pairs as read from two files or a row of a table, with their sentences and words."""

import dataclasses
import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.models.sentences.paragraph_order import ParagraphOrder
from pairweave.models.sentences.sentence_aligner import DocumentWords
from pairweave.transforms.errors import InputError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import MAX_DOCUMENT_LINES
from pairweave.transforms.problems import Problem
from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.screen import ScreenReject, with_reasons
from pairweave.transforms.sentences.bead_rows import DocumentName
from pairweave.transforms.sentences.document import Sentences, read_document, sentences_of
from pairweave.transforms.sentences.sentence_words import cut_words
from pairweave.transforms.sentences.splitting import WHOLE_LINES, Splitting
from pairweave.transforms.shards.rejected_texts import leave_out_long_texts
from pairweave.transforms.text.tokens import TokenConfig, token_counts
from pairweave.transforms.units import ReadLimits, Unit

_LINE_END = re.compile(r"\r\n|[\r\n]")
_ESCAPE = re.compile(r"\\([nrt\\])")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}


@dataclasses.dataclass(frozen=True)
class DocumentSettings:
    """How documents are read and cut.

    Attributes:
        limits: Limits of the readers.
        tokens: How text is cut into tokens for the aligner.
        max_tokens: Maximum length of a sentence; longer ones are rejected.
        splitting: How lines are cut into sentences.
        order: The role of paragraphs.
    """

    limits: ReadLimits
    tokens: TokenConfig
    max_tokens: int
    splitting: Splitting = WHOLE_LINES
    order: ParagraphOrder = "weigh"


@dataclasses.dataclass(frozen=True)
class DocumentPair:
    """A document pair.

    Attributes:
        name: Number and id of the document.
        sides: The sentences of both sides.
        words: The words of both sides.
        row: The row of a table that contains it (`schemas.ROWS`); None for a pair of files.
    """

    name: DocumentName
    sides: tuple[Sentences, Sentences]
    words: DocumentWords
    row: pa.RecordBatch | None = None

    def rejected(self, error: InputError) -> pa.RecordBatch:
        """Return its row, rejected because it cannot be aligned.

        Raises:
            InputError: It is a pair of files, which has no row that could be rejected.
        """
        if self.row is None:
            raise error
        return too_long(self.row, error)


def is_table(unit: Unit) -> bool:
    """Tell whether the rows of a unit are document pairs; otherwise the unit itself is one."""
    return unit.columns is not None


def read_documents(
    unit: Unit, settings: DocumentSettings, first: int = 0
) -> Iterator[DocumentPair | pa.RecordBatch]:
    """Yield the document pairs of a unit, in order.

    Args:
        unit: A document pair, or rows of a table.
        settings: How documents are read and cut.
        first: Number of the first document.

    Yields:
        Documents; and rejected rows (`schemas.ROWS`) for those rows of a table that contain no
        document, or one with too many sentences.

    Raises:
        InputError: A side of a pair of files has too many sentences (``document_too_long``).
    """
    if not is_table(unit):
        sides = read_sides(unit, settings)
        yield DocumentPair(DocumentName(first), sides, words_of(unit, sides, settings.tokens))
        return
    number = first
    for batch in read_unit(unit, settings.limits):
        for row in range(batch.num_rows):
            place = batch.slice(row, 1)
            if batch.column("reason")[row].is_valid:
                yield place
            else:
                yield _of_row(unit, place, settings, number)
            number += 1


def too_long(row: pa.RecordBatch, error: InputError) -> pa.RecordBatch:
    """Return a row of a table (`schemas.ROWS`), rejected because its document is over a limit."""
    reasons = {0: (Reject.DOCUMENT_TOO_LONG, error.message)}
    return leave_out_long_texts(with_reasons(row, reasons, Stage.ALIGN))


def _of_row(
    unit: Unit, place: pa.RecordBatch, settings: DocumentSettings, number: int
) -> DocumentPair | pa.RecordBatch:
    """Return the document pair in a row of a table, or the rejected row if it is too long."""
    sides, row = [], place.to_pylist()[0]
    for role, language in (("source", unit.source_lang), ("target", unit.target_lang)):
        text = str(row[role] or "")
        if unit.format == "tsv":
            text = _ESCAPE.sub(lambda escape: _ESCAPED[escape.group(1)], text)
        lines = pa.array(_LINE_END.split(text), pa.string())
        side = sentences_of(unit.file, lines, {}, settings.splitting, language)
        side = dataclasses.replace(side, lines=np.full(len(side), row["line"], np.int64))
        try:
            sides.append(_checked(side, settings, language))
        except InputError as error:
            return too_long(place, error)
    identifier = row["translation"]
    name = DocumentName(number, None if identifier is None else str(identifier))
    both_sides = sides[0], sides[1]
    return DocumentPair(name, both_sides, words_of(unit, both_sides, settings.tokens), place)


def _checked(side: Sentences, settings: DocumentSettings, language: str) -> Sentences:
    """Return a side with sentences over the limit marked as too long.

    Raises:
        InputError: It has too many sentences (``document_too_long``).
    """
    if len(side) > MAX_DOCUMENT_LINES:
        raise InputError(
            "document_too_long",
            side.name,
            f"has {len(side)} sentences, but a document, which is aligned as a whole, can have at "
            f"most {MAX_DOCUMENT_LINES}; divide it, for example by chapters",
        )
    return mark_long(side, settings.tokens, language, settings.max_tokens)


def read_sides(unit: Unit, settings: DocumentSettings) -> tuple[Sentences, Sentences]:
    """Read a document pair of two files; sentences of too many tokens are marked as too long.

    Raises:
        InputError: A side has too many sentences (``document_too_long``).
    """
    source, target = read_document(unit, settings.limits, settings.splitting)
    return (
        _checked(source, settings, unit.source_lang),
        _checked(target, settings, unit.target_lang),
    )


def mark_long(side: Sentences, tokens: TokenConfig, language: str, max_tokens: int) -> Sentences:
    """Mark sentences with too many tokens, with the reason that the screen would give.

    The time and memory of the second pass grow with the words of a sentence times those of all
    sentences within its band, so these sentences are left out of it.
    """
    sizes = pc.binary_length(side.texts).to_numpy(zero_copy_only=False)
    # Each token has at least one byte, apart from a leading blank.
    rows = np.flatnonzero(sizes >= max_tokens)
    counts, _ = token_counts(side.texts.take(pa.array(rows)), tokens, language)
    problems = {
        row: Problem(ScreenReject.TOO_LONG, f"{count} tokens > {max_tokens}")
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True)
        if count > max_tokens
    }
    return dataclasses.replace(side, problems={**problems, **side.problems})


def alignable_texts(side: Sentences) -> pa.StringArray:
    """Return the texts of a side, empty for sentences too long to be aligned by their words."""
    long = [
        row for row, problem in side.problems.items() if problem.reason == ScreenReject.TOO_LONG
    ]
    mask = np.zeros(len(side), np.bool_)
    mask[long] = True
    return pc.if_else(pa.array(mask), "", side.texts) if long else side.texts


def words_of(unit: Unit, sides: tuple[Sentences, Sentences], tokens: TokenConfig) -> DocumentWords:
    """Cut a document pair into words."""
    source, target = sides
    return DocumentWords(
        cut_words(alignable_texts(source), tokens, unit.source_lang),
        cut_words(alignable_texts(target), tokens, unit.target_lang),
        source.paragraphs,
        target.paragraphs,
        unit.file,
    )
