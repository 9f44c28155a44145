"""The steps of a job on documents: a document pair is aligned as a whole, by one worker."""

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Iterator

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.models.hmm import hmm_store
from pairweave.models.sentences.sentence_aligner import (
    DocumentWords,
    Path,
    align_by_length,
    align_by_words,
    unaligned,
)
from pairweave.pipelines.steps.hmm_fitting import NO_MODEL
from pairweave.transforms import schemas
from pairweave.transforms.output import bead_files, receipts
from pairweave.transforms.output.band_edges import BandEdge
from pairweave.transforms.problems import Problem
from pairweave.transforms.reading.characters import count_characters
from pairweave.transforms.screen import ScreenReject
from pairweave.transforms.sentences.bead_rows import (
    LeastScores,
    PlacedBead,
    bead_lines,
    bead_rows,
    place_beads,
)
from pairweave.transforms.sentences.document import Sentences, read_document
from pairweave.transforms.sentences.sentence_words import cut_words
from pairweave.transforms.shards.shard import Batches
from pairweave.transforms.text.tokens import TokenConfig, token_counts
from pairweave.transforms.units import ReadLimits, Unit

SURE = 0.99
"""How probable a bead of the first pass must be to be learned from (Moore 2002, section 3.2)."""

LEARNED = LeastScores(0.0, -0.5)
"""Which scores a pair of the second pass must have to be learned from: it does better than chance,
and its document is not unrelated."""

Units = beam.PCollection[Unit | None]
Model = hmm_store.ModelReference | beam.pvalue.AsSingleton


class Documents(beam.PTransform[beam.pvalue.PBegin, Units]):
    """Document pairs, and None, from which an empty batch is made."""

    def __init__(self, units: tuple[Unit, ...]) -> None:
        super().__init__()
        self._units = units

    def expand(self, pipeline: beam.pvalue.PBegin) -> Units:
        """Spread the document pairs over the workers."""
        return pipeline | "Units" >> beam.Create([None, *self._units], reshuffle=True)


class EachDocument(beam.PTransform[Units, Batches]):
    """Document pairs, and None for an empty batch, become row batches by one function."""

    def __init__(
        self,
        function: Callable[..., Iterator[pa.RecordBatch]],
        model: Model | None = None,
        **settings: object,
    ) -> None:
        super().__init__()
        self._function = functools.partial(function, **settings)
        self._model = model

    def expand(self, documents: Units) -> Batches:
        """Apply the function."""
        if self._model is None:
            step = beam.FlatMap(_each, self._function)
        else:
            step = beam.FlatMap(_each_with_model, self._function, self._model)
        return documents | "Document" >> step.with_output_types(pa.RecordBatch)


def _each(
    unit: Unit | None, function: Callable[..., Iterator[pa.RecordBatch]]
) -> Iterator[pa.RecordBatch]:
    if unit is None:
        yield pa.RecordBatch.from_pylist([], schema=schemas.ROWS)
    else:
        yield from function(unit)


def _each_with_model(
    unit: Unit | None,
    function: Callable[..., Iterator[pa.RecordBatch]],
    model: hmm_store.ModelReference,
) -> Iterator[pa.RecordBatch]:
    yield from _each(unit, functools.partial(function, model=model))


def sure_pairs(
    unit: Unit, *, limits: ReadLimits, tokens: TokenConfig, max_tokens: int
) -> Iterator[pa.RecordBatch]:
    """Yield the pairs of single sentences that their lengths alone make sure, as rows."""
    sides = read_sides(unit, limits, tokens, max_tokens)
    words = words_of(unit, sides, tokens)
    if not min(len(side) for side in sides):
        return
    sure = [
        bead
        for bead in _placed(align_by_length(words))
        if len(bead.source) == len(bead.target) == 1 and bead.score >= SURE
    ]
    yield from _kept(bead_rows(unit, sides, sure, LeastScores(SURE, SURE)))


def found_pairs(
    unit: Unit,
    model: hmm_store.ModelReference,
    *,
    limits: ReadLimits,
    tokens: TokenConfig,
    max_tokens: int,
) -> Iterator[pa.RecordBatch]:
    """Yield the pairs that a fitted aligner finds and that score better than chance, as rows."""
    sides = read_sides(unit, limits, tokens, max_tokens)
    path = align_document(words_of(unit, sides, tokens), model)
    yield from _kept(bead_rows(unit, sides, _placed(path), LEARNED))


def aligned_rows(
    unit: Unit,
    model: hmm_store.ModelReference,
    *,
    limits: ReadLimits,
    tokens: TokenConfig,
    max_tokens: int,
    least: LeastScores,
    output: str,
    plan: str,
) -> Iterator[pa.RecordBatch]:
    """Yield a row for each bead; leave the beads as text, and the unit's receipt.

    Args:
        unit: The document pair.
        model: The fitted aligner.
        limits: What the readers accept.
        tokens: How text is cut for the aligner.
        max_tokens: The longest sentence; a longer one is rejected.
        least: Which scores suffice.
        output: The run's directory.
        plan: Digest of its plan.
    """
    sides = read_sides(unit, limits, tokens, max_tokens)
    path = align_document(words_of(unit, sides, tokens), model)
    beads = _placed(path)
    rows = 0
    characters: Counter[str] = Counter()
    for batch in bead_rows(unit, sides, beads, least):
        rows += batch.num_rows
        characters += count_characters(batch)
        yield batch
    edge = None
    if len(path.at_edge):
        lines = sides[0].lines[np.maximum(path.at_edge - 1, 0)]
        edge = BandEdge(int(lines[0]), int(lines[-1]), len(lines))
    bead_files.write(output, unit.index, bead_lines(beads))
    receipts.write_unit_receipt(output, plan, unit.index, rows, characters, edge)


def read_sides(
    unit: Unit, limits: ReadLimits, tokens: TokenConfig, max_tokens: int
) -> tuple[Sentences, Sentences]:
    """Read a document pair; a sentence of too many tokens has that as its problem."""
    source, target = read_document(unit, limits)
    return (
        mark_long(source, tokens, unit.source_lang, max_tokens),
        mark_long(target, tokens, unit.target_lang, max_tokens),
    )


def mark_long(side: Sentences, tokens: TokenConfig, language: str, max_tokens: int) -> Sentences:
    """Give sentences with more tokens than a side may have the screen's reason for that.

    The time and memory of the second pass grow with the words of a sentence times those of all
    sentences within its band, so they are found before it.
    """
    sizes = pc.binary_length(side.texts).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(sizes >= max_tokens)  # a token has a byte, but for a leading blank
    counts, _ = token_counts(side.texts.take(pa.array(rows)), tokens, language)
    found = {
        row: Problem(ScreenReject.TOO_LONG, f"{count} tokens > {max_tokens}")
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True)
        if count > max_tokens
    }
    return dataclasses.replace(side, problems={**found, **side.problems})


def _texts_to_cut(side: Sentences) -> pa.StringArray:
    """Return the texts of a side, empty where a sentence is too long to be aligned by its words."""
    long = [row for row, found in side.problems.items() if found.reason == ScreenReject.TOO_LONG]
    mask = np.zeros(len(side), np.bool_)
    mask[long] = True
    return pc.if_else(pa.array(mask), "", side.texts) if long else side.texts


def words_of(unit: Unit, sides: tuple[Sentences, Sentences], tokens: TokenConfig) -> DocumentWords:
    """Cut a document pair into words."""
    source, target = sides
    return DocumentWords(
        cut_words(_texts_to_cut(source), tokens, unit.source_lang),
        cut_words(_texts_to_cut(target), tokens, unit.target_lang),
        source.paragraphs,
        target.paragraphs,
        unit.file,
    )


def align_document(words: DocumentWords, model: hmm_store.ModelReference) -> Path:
    """Align a document pair in both passes; without a model or a side nothing is aligned."""
    if model == NO_MODEL or not min(len(words.source), len(words.target)):
        return unaligned(len(words.source), len(words.target))
    return align_by_words(words, align_by_length(words), hmm_store.load(model).model)


def _placed(path: Path) -> list[PlacedBead]:
    return list(place_beads(path.sources, path.targets, path.scores))


def _kept(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        kept = batch.filter(batch.column("reason").is_null())
        if kept.num_rows:
            yield kept
