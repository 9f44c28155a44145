"""Pairs of sentences in the document pairs of a unit, each of which is aligned as a whole."""

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmModel
from pairweave.models.hmm.hmm_reference import NO_MODEL
from pairweave.models.sentences.cross_fitting import (
    MIN_PAIRS,
    gains_over_chance,
    half_of,
    least_likely_gain,
)
from pairweave.models.sentences.document_progress import DocumentProgress
from pairweave.models.sentences.document_reading import (
    DocumentPair,
    DocumentSettings,
    alignable_texts,
    read_documents,
)
from pairweave.models.sentences.embedding_aligner import (
    SentenceVectors,
    align_by_vectors,
    gains_within,
)
from pairweave.models.sentences.exchanged_sides import look_exchanged
from pairweave.models.sentences.paragraph_order import ParagraphOrder, align_in_order
from pairweave.models.sentences.sentence_aligner import (
    DocumentWords,
    Gains,
    Path,
    align_by_length,
    align_by_words,
    unaligned,
)
from pairweave.models.sentences.sentence_encoder_reference import SentenceEncoderReference
from pairweave.transforms.errors import InputError
from pairweave.transforms.output import receipts
from pairweave.transforms.output.document_notices import BandEdge, ExchangedSides
from pairweave.transforms.output.line_files import bead_files
from pairweave.transforms.reading.damaged_characters import count_characters
from pairweave.transforms.sentences.bead_lines import NO_SENTENCE
from pairweave.transforms.sentences.bead_rows import (
    LeastScores,
    PlacedBead,
    bead_lines,
    bead_rows,
    place_beads,
)
from pairweave.transforms.units import Unit

SURE = 0.99
"""Minimum probability of the first-pass beads that the aligner is fitted on (Moore 2002, section
3.2)."""

LEARNED = LeastScores(0.0, -0.5)
"""Minimum scores of the second-pass pairs that the aligner is fitted on: they score better than
chance, and the sides of their document are not unrelated."""


def sure_pairs(unit: Unit, *, settings: DocumentSettings) -> Iterator[pa.RecordBatch]:
    """Yield the pairs of single sentences that are certain by their lengths alone, as rows."""
    for document in read_documents(unit, settings):
        if isinstance(document, pa.RecordBatch) or not min(map(len, document.sides)):
            continue
        path = align_in_order(document.words, settings.order, align_by_length)
        sure = [
            bead
            for bead in _placed(path)
            if len(bead.source) == len(bead.target) == 1 and bead.score >= SURE
        ]
        least = LeastScores(SURE, SURE)
        yield from _kept(bead_rows(unit, document.name, document.sides, sure, least))


def found_pairs(
    unit: Unit,
    model: hmm_reference.HmmReference,
    *,
    settings: DocumentSettings,
) -> Iterator[pa.RecordBatch]:
    """Yield the pairs found by a fitted aligner that score better than chance, as rows."""
    for document in read_documents(unit, settings):
        if isinstance(document, pa.RecordBatch):
            continue
        try:
            beads = _placed(align_document(document.words, model, settings.order))
        except InputError as error:
            document.rejected(error)  # leaves out a row of a table; raises for a pair of files
        else:
            yield from _kept(bead_rows(unit, document.name, document.sides, beads, LEARNED))


def aligned_rows(
    unit: Unit,
    model: hmm_reference.HmmReference,
    *,
    settings: DocumentSettings,
    least: LeastScores,
    output: str,
    plan: str,
    first: Mapping[int, int],
    encoder: SentenceEncoderReference | None = None,
    half_0: hmm_reference.HmmReference = NO_MODEL,
    half_1: hmm_reference.HmmReference = NO_MODEL,
) -> Iterator[pa.RecordBatch]:
    """Yield a row for each bead; write the beads as text, and the unit's receipt.

    Args:
        unit: The document pair, or rows of a table that contain document pairs.
        model: The fitted aligner.
        settings: How documents are read and cut.
        least: Minimum scores.
        output: The run's directory.
        plan: Digest of its plan.
        first: Number of each unit's first document.
        encoder: Also scores pairs; the only scorer if ``model`` is `NO_MODEL`.
        half_0: The aligner fitted on one half of the documents' pairs (`rows_of_half`), which
            judges the other half; `NO_MODEL` if the aligner was also fitted on other pairs.
        half_1: The aligner fitted on the other half.
    """
    rows, halves = 0, _judges((half_0, half_1))
    characters: Counter[str] = Counter()
    blocks: list[str] = []
    edges: list[int] = []
    exchanged: list[int] = []
    for document in read_documents(unit, settings, first[unit.index]):
        path = _path_of(document, model, settings, encoder)
        if isinstance(path, pa.RecordBatch):
            batches: Iterable[pa.RecordBatch] = [path]
            blocks.append(NO_SENTENCE)
        else:
            assert isinstance(document, DocumentPair)
            beads = _placed(path)
            number = unit.index + document.name.number - first[unit.index]
            why = _why_unrelated(document.words, path, number, halves, least)
            batches = bead_rows(unit, document.name, document.sides, beads, least, why)
            blocks.append(bead_lines(beads))
            edges += document.sides[0].lines[np.maximum(path.at_edge - 1, 0)].tolist()
            if model != NO_MODEL and look_exchanged(
                document.words, hmm_reference.load(model).model
            ):
                exchanged.append(int(document.sides[0].lines[0]))
        for batch in batches:
            rows += batch.num_rows
            characters += count_characters(batch)
            yield batch
    edge = BandEdge(edges[0], edges[-1], len(edges)) if edges else None
    sides = ExchangedSides(exchanged[0], len(exchanged)) if exchanged else None
    digest = bead_files.write(output, unit.index, "\n".join(blocks))
    receipts.write_unit_receipt(output, plan, unit.index, rows, characters, edge, sides, digest)


def rows_of_half(batch: pa.RecordBatch, half: int) -> pa.RecordBatch:
    """Return the pairs of `found_pairs` that are in half 0 or 1 (`cross_fitting.half_of`)."""
    bead = batch.column("bead")
    document, starts = (bead.field(name).to_numpy() for name in ("document", "source_start"))
    return batch.filter(
        pa.array(half_of(batch.column("unit").to_numpy() + document, starts) == half)
    )


def _judges(halves: Sequence[hmm_reference.HmmReference]) -> list[HmmModel | None]:
    """Return the aligners of both halves; None in place of an aligner that cannot judge."""
    loaded = [None if half == NO_MODEL else hmm_reference.load(half) for half in halves]
    return [
        aligner.model
        if aligner is not None and aligner.about.get("pairs", 0) >= MIN_PAIRS
        else None
        for aligner in loaded
    ]


def _why_unrelated(
    words: DocumentWords,
    path: Path,
    number: int,
    halves: Sequence[HmmModel | None],
    least: LeastScores,
) -> str | None:
    """Return why the sides of a document seem unrelated, by aligners fitted on other pairs."""
    if not any(halves) or not min(len(words.source), len(words.target)):
        return None
    gains = gains_over_chance(words, path, number, halves)
    if not len(gains) or least_likely_gain(gains) >= least.gain:
        return None
    return (
        f"by an aligner fitted on other pairs, the document's pairs score only {gains.mean():.3f} "
        f"above chance, min_document_gain is {least.gain:g}"
    )


def _path_of(
    document: DocumentPair | pa.RecordBatch,
    model: hmm_reference.HmmReference,
    settings: DocumentSettings,
    encoder: SentenceEncoderReference | None,
) -> Path | pa.RecordBatch:
    """Return the path of a document, or its rejected row if it is a row of a table."""
    if isinstance(document, pa.RecordBatch):
        return document
    try:
        if encoder is None:
            return align_document(document.words, model, settings.order)
        return align_with_encoder(document, model, encoder)
    except InputError as error:
        return document.rejected(error)


def align_document(
    words: DocumentWords, model: hmm_reference.HmmReference, order: ParagraphOrder
) -> Path:
    """Align a document pair in both passes; without a model, or with an empty side, do nothing."""
    if model == NO_MODEL or not min(len(words.source), len(words.target)):
        return unaligned(len(words.source), len(words.target))
    fitted = hmm_reference.load(model).model

    def search(part: DocumentWords) -> Path:
        return align_by_words(part, align_by_length(part), fitted)

    return align_in_order(words, order, search)


def align_with_encoder(
    document: DocumentPair,
    model: hmm_reference.HmmReference,
    encoder: SentenceEncoderReference,
) -> Path:
    """Align a document pair by vectors, and by words if there is a model."""
    words = document.words
    if not min(len(words.source), len(words.target)):
        return unaligned(len(words.source), len(words.target))
    loaded = encoder.load()
    progress = DocumentProgress(words.name, len(words.source))
    source, target = (alignable_texts(side).to_pylist() for side in document.sides)
    reports = tuple(progress.of(f"encoding the {name} sentences") for name in ("source", "target"))
    gains: Gains
    if encoder.similarity == "yisi2":
        from pairweave.models.sentences import piece_aligner  # needs torch

        pieces = loaded.document((source, target), (reports[0], reports[1]))
        scores = piece_aligner.PieceScores(pieces)
        if model == NO_MODEL:
            return piece_aligner.align_by_pieces(words, scores)
        gains = functools.partial(piece_aligner.gains_within, scores)
    else:
        vectors = SentenceVectors(
            loaded.vectors(source, reports[0]), loaded.vectors(target, reports[1])
        )
        if model == NO_MODEL:
            return align_by_vectors(words, vectors)
        gains = functools.partial(gains_within, vectors=vectors)
    return align_by_words(words, align_by_length(words), hmm_reference.load(model).model, gains)


def _placed(path: Path) -> list[PlacedBead]:
    return list(place_beads(path.sources, path.targets, path.scores))


def _kept(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        open_rows = batch.filter(batch.column("reason").is_null())
        if open_rows.num_rows:
            yield open_rows
