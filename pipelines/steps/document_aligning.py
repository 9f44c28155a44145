"""The steps of a job on documents: a document pair is aligned as a whole, by one worker."""

import functools
from collections import Counter
from collections.abc import Callable, Iterator

import apache_beam as beam
import pyarrow as pa

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
from pairweave.transforms.output.character_counts import count_characters
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
from pairweave.transforms.text.tokens import TokenConfig
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


def sure_pairs(unit: Unit, *, limits: ReadLimits, tokens: TokenConfig) -> Iterator[pa.RecordBatch]:
    """Yield the pairs of single sentences that their lengths alone make sure, as rows."""
    sides = read_document(unit, limits)
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
    unit: Unit, model: hmm_store.ModelReference, *, limits: ReadLimits, tokens: TokenConfig
) -> Iterator[pa.RecordBatch]:
    """Yield the pairs that a fitted aligner finds and that score better than chance, as rows."""
    sides = read_document(unit, limits)
    path = align_document(words_of(unit, sides, tokens), model)
    yield from _kept(bead_rows(unit, sides, _placed(path), LEARNED))


def aligned_rows(
    unit: Unit,
    model: hmm_store.ModelReference,
    *,
    limits: ReadLimits,
    tokens: TokenConfig,
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
        least: Which scores suffice.
        output: The run's directory.
        plan: Digest of its plan.
    """
    sides = read_document(unit, limits)
    beads = _placed(align_document(words_of(unit, sides, tokens), model))
    rows = 0
    characters: Counter[str] = Counter()
    for batch in bead_rows(unit, sides, beads, least):
        rows += batch.num_rows
        characters += count_characters(batch)
        yield batch
    bead_files.write(output, unit.index, bead_lines(beads))
    receipts.write_unit_receipt(output, plan, unit.index, rows, characters)


def words_of(unit: Unit, sides: tuple[Sentences, Sentences], tokens: TokenConfig) -> DocumentWords:
    """Cut a document pair into words."""
    source, target = sides
    return DocumentWords(
        cut_words(source.texts, tokens, unit.source_lang),
        cut_words(target.texts, tokens, unit.target_lang),
        source.paragraphs,
        target.paragraphs,
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
