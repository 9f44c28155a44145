"""Turns the beads of a document into rows: pairs, or rejected sentences."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.ids import pair_ids
from pairweave.transforms.reading.rows import Problem
from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.sentences.bead_lines import NO_SENTENCE, bead_line
from pairweave.transforms.sentences.document import Sentences
from pairweave.transforms.units import Unit

BATCH_ROWS = 8_192


@dataclasses.dataclass(frozen=True)
class PlacedBead:
    """A bead and its position in a document.

    Attributes:
        source: Its source sentences, half-open.
        target: Its target sentences.
        score: The mean score of its words (`models.sentences.sentence_aligner.Path`).
    """

    source: range
    target: range
    score: float


def place_beads(
    sources: np.ndarray, targets: np.ndarray, scores: np.ndarray
) -> Iterator[PlacedBead]:
    """Yield the beads of a path, given the number of sentences on each side."""
    row = column = 0
    for source, target, score in zip(
        sources.tolist(), targets.tolist(), scores.tolist(), strict=True
    ):
        yield PlacedBead(range(row, row + source), range(column, column + target), score)
        row, column = row + source, column + target


def bead_lines(beads: list[PlacedBead]) -> str:
    """Return beads as text, one per line, or the line of a document without any."""
    lines = (f"{bead_line(bead.source, bead.target, bead.score)}\n" for bead in beads)
    return "".join(lines) or NO_SENTENCE


@dataclasses.dataclass(frozen=True)
class LeastScores:
    """Minimum scores.

    Attributes:
        pair: Minimum score of a pair.
        document: Minimum mean score of the pairs of a document.
        gain: Minimum gain over chance of the pairs of a document that is judged by aligners fitted
            on other pairs (`models.sentences.cross_fitting`).
    """

    pair: float
    document: float
    gain: float = 0.0


@dataclasses.dataclass(frozen=True)
class DocumentName:
    """The identity of a document in a run.

    Attributes:
        number: Its index in the run's input, from 0.
        id: Its id in the table; None if it has none.
    """

    number: int
    id: str | None = None


def bead_rows(
    unit: Unit,
    name: DocumentName,
    sides: tuple[Sentences, Sentences],
    beads: list[PlacedBead],
    least: LeastScores,
    why_unrelated: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield a row (`schemas.ROWS`) for each bead.

    Sentences of one bead are joined by a space, unless the text has none between them. A bead is
    rejected if a side is empty, if it or its document scores below the minimum, or if one of its
    sentences has a problem (a line that is not text, a sentence over the limit), whose reason it
    gets. The position of a row is that of its first source sentence or, if there is none, of its
    first target sentence.

    Args:
        unit: The unit that contains the document pair.
        name: Number and id of the document.
        sides: Its sentences.
        beads: Its beads, which contain every sentence once.
        least: Minimum scores.
        why_unrelated: The reason why the document's sides are not translations of each other, if it
            is known by other means.
    """
    scores = [bead.score for bead in beads if bead.source and bead.target]
    mean = sum(scores) / len(scores) if scores else 0.0
    if mean < least.document:
        why_unrelated = f"the document scores {mean:.3f}, min_document_score is {least.document:g}"
    unrelated = None
    if why_unrelated is not None:
        unrelated = Problem(Reject.UNRELATED_DOCUMENT, why_unrelated)
    for first in range(0, len(beads), BATCH_ROWS):
        yield _batch(unit, name, sides, beads[first : first + BATCH_ROWS], least.pair, unrelated)


def _batch(
    unit: Unit,
    name: DocumentName,
    sides: tuple[Sentences, Sentences],
    beads: list[PlacedBead],
    min_score: float,
    unrelated: Problem | None,
) -> pa.RecordBatch:
    source, target = (
        _joined(side, [getattr(bead, role) for bead in beads])
        for role, side in zip(("source", "target"), sides, strict=True)
    )
    rejects = [_reject(sides, bead, min_score, unrelated) for bead in beads]
    places = [
        (sides[0], bead.source.start) if bead.source else (sides[1], bead.target.start)
        for bead in beads
    ]
    columns = {
        "unit": [unit.index] * len(beads),
        "id": pair_ids(
            unit.source_lang,
            unit.target_lang,
            source,
            target,
            pa.nulls(len(beads), pa.string()),
        ),
        "corpus": [unit.corpus] * len(beads),
        "source_lang": [unit.source_lang] * len(beads),
        "target_lang": [unit.target_lang] * len(beads),
        "file": [side.name for side, _ in places],
        "line": [int(side.lines[sentence]) for side, sentence in places],
        "source": source,
        "target": target,
        "stage": [reject and reject[0] for reject in rejects],
        "reason": [reject and reject[1].reason for reject in rejects],
        "detail": [reject and reject[1].detail for reject in rejects],
        "raw": [reject and reject[1].raw for reject in rejects],
        "score": [bead.score for bead in beads],
        "bead": [
            {
                "source_start": bead.source.start,
                "source_end": bead.source.stop,
                "target_start": bead.target.start,
                "target_end": bead.target.stop,
                "document": name.number,
                "document_id": name.id,
            }
            for bead in beads
        ],
    }
    return pa.RecordBatch.from_arrays(
        [_column(field, columns.get(field.name), len(beads)) for field in schemas.ROWS],
        schema=schemas.ROWS,
    )


def _column(field: pa.Field, values: object, count: int) -> pa.Array:
    if values is None:
        return pa.nulls(count, field.type)
    if isinstance(values, pa.Array):
        return values
    if pa.types.is_dictionary(field.type):
        return pa.array(values, pa.string()).cast(field.type)
    return pa.array(values, field.type)


def _joined(side: Sentences, ranges: list[range]) -> pa.StringArray:
    """Return the text of each bead's side; null if the side is empty."""
    texts = side.texts.to_pylist() if ranges else []
    spaced = [True] * len(texts) if side.spaced is None else side.spaced.tolist()
    glued = [f" {text}" if space else text for text, space in zip(texts, spaced, strict=False)]
    return pa.array(
        [
            texts[numbers[0]] + "".join(glued[number] for number in numbers[1:])
            if numbers
            else None
            for numbers in ranges
        ],
        pa.string(),
    )


def _reject(
    sides: tuple[Sentences, Sentences],
    bead: PlacedBead,
    min_score: float,
    unrelated: Problem | None,
) -> tuple[str, Problem] | None:
    """Return the stage and reason of a rejected bead; None for a pair that is kept."""
    for side, sentences in zip(sides, (bead.source, bead.target), strict=True):
        for sentence in sentences if side.problems else ():
            if sentence in side.problems:
                problem = side.problems[sentence]
                # Other reasons come from the screen, for sentences that it would reject.
                return Stage.READ if isinstance(problem.reason, Reject) else Stage.SCREEN, problem
    kind = f"{len(bead.source)}-{len(bead.target)}"
    if not bead.source or not bead.target:
        return Stage.ALIGN, Problem(Reject.UNALIGNED, kind)
    if unrelated is not None:
        return Stage.ALIGN, unrelated
    if bead.score < min_score:
        detail = f"{kind} scores {bead.score:.3f}, min_score is {min_score:g}"
        return Stage.ALIGN, Problem(Reject.LOW_SCORE, detail)
    return None


def sentences_table(kept: pa.Table, schema: pa.Schema = schemas.SENTENCES) -> pa.Table:
    """Turn kept rows (`schemas.ROWS`) into rows of the output.

    Args:
        kept: The rows.
        schema: `schemas.SENTENCES` or `schemas.NAMED_SENTENCES`.
    """
    bead = kept.column("bead").combine_chunks()
    starts_ends = {
        side: [bead.field(f"{side}_{end}").to_numpy() for end in ("start", "end")]
        for side in ("source", "target")
    }
    sizes = [ends - starts for starts, ends in starts_ends.values()]
    kinds = [f"{source}-{target}" for source, target in zip(*sizes, strict=True)]
    columns = {
        "bead": pa.array(kinds, pa.string()),
        "document": bead.field("document"),
        "document_id": bead.field("document_id"),
        **{f"{side}_sentences": _numbers(*bounds) for side, bounds in starts_ends.items()},
    }
    return pa.Table.from_arrays(
        [
            (columns[field.name] if field.name in columns else kept.column(field.name)).cast(
                field.type
            )
            for field in schema
        ],
        schema=schema,
    )


def _numbers(starts: np.ndarray, ends: np.ndarray) -> pa.ListArray:
    """Return ranges of sentences as lists of their numbers."""
    sizes = (ends - starts).astype(np.int64)
    offsets = np.append(0, np.cumsum(sizes))
    inside = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
    return pa.ListArray.from_arrays(
        pa.array(offsets.astype(np.int32)),
        pa.array(inside.astype(np.int32)),
        type=schemas.list_of(pa.int32()),
    )
