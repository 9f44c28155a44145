"""The first steps of every job: reading and screening its input.

If the run trains its own SentencePiece model, the screen counts that model's pieces (Ryu et al.
2022, section 3.1.1, count subwords). The input is then read twice: for the sample that the model is
trained on, and for the job.
"""

import functools
from collections.abc import Iterable

import apache_beam as beam
import pyarrow as pa

from pairweave.models.hmm import hmm_reference
from pairweave.pipelines.options.base import TrainedTokenOptions
from pairweave.pipelines.parts.excluded_pairs import KNOWN_PAIRS
from pairweave.pipelines.parts.look_part import LOOK
from pairweave.pipelines.parts.rule_parts import RULE_BLOCK
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.scoring_pairs import reject_below
from pairweave.pipelines.steps.steps import GatherSample, MapBatches, ReadUnits, screen_rows
from pairweave.transforms.filtering.judging import reject_by_rules
from pairweave.transforms.inspection.misaligned_rows import reject_misaligned
from pairweave.transforms.known_pairs import mark_known
from pairweave.transforms.screen import ScreenConfig, screen
from pairweave.transforms.shards.sample import gather_sample
from pairweave.transforms.shards.shard import Batches
from pairweave.transforms.text.tokens import TokenConfig, train_sentencepiece

NO_PIECES = b""
"""Replaces the model if the sample has no pair to train it on."""


class ReadInput(beam.PTransform[beam.pvalue.PBegin, Batches]):
    """Reads the units of a run's input into row batches, including one empty batch."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        output = run.write_config.output
        self._read = ReadUnits(run.plan.units, run.limits, output, run.digest)

    def expand(self, pipeline: beam.pvalue.PBegin) -> Batches:
        """Read each unit."""
        return pipeline | self._read


def screened_rows(
    pipeline: beam.Pipeline, run: Run
) -> tuple[Batches, beam.pvalue.AsSingleton | None]:
    """Return a run's input, screened, and the SentencePiece model that the run trains, if any."""
    pieces = trained_pieces(pipeline, run)
    rows = pipeline | "Read" >> ReadInput(run)
    return rows | "Screen" >> ScreenRows(run, pieces), pieces


class ScreenRows(beam.PTransform[Batches, Batches]):
    """Screens row batches, and applies the run's rules: adds reasons to rejected rows."""

    def __init__(self, run: Run, pieces: beam.pvalue.AsSingleton | None) -> None:
        """Set the run, and the SentencePiece model that it trains, if any."""
        super().__init__()
        self._config = run.screen
        self._pieces = pieces
        self._run = run
        self._known = run.find(KNOWN_PAIRS)
        self._misaligned = rejected_stretches(run)

    def expand(self, batches: Batches) -> Batches:
        """Reject known pairs and misaligned stretches, screen each batch, apply the rules."""
        if self._known is not None:
            mark = beam.Map(functools.partial(mark_known, config=self._known))
            batches = batches | "Known" >> mark.with_output_types(pa.RecordBatch)
        if self._misaligned:
            reject = beam.Map(reject_misaligned, stretches=self._misaligned)
            batches = batches | "Misaligned" >> reject.with_output_types(pa.RecordBatch)
        return apply_rules(self._screen(batches), self._run)

    def _screen(self, batches: Batches) -> Batches:
        if self._pieces is None:
            return batches | "Screen" >> MapBatches("Rules", screen_rows, self._config)
        count = beam.Map(screen_by_pieces, self._pieces, config=self._config)
        return batches | "Rules" >> count.with_output_types(pa.RecordBatch)


def rejected_stretches(run: Run) -> dict[int, list[tuple[int, int]]]:
    """Return the stretches of lines that a run rejects, by unit."""
    looked = run.find(LOOK)
    return {} if looked is None else looked.rejected


def apply_rules(batches: Batches, run: Run) -> Batches:
    """Add reasons to rows that a rule or the minimum score rejects, if the run has any."""
    rules = run.find(RULE_BLOCK)
    if rules is None:
        return batches
    batches = batches | "Filter" >> MapBatches("Rules", reject_by_rules, rules.config)
    if rules.minimum is None:
        return batches
    return batches | "MinScore" >> MapBatches("Score", reject_below, rules.minimum)


def trained_pieces(pipeline: beam.Pipeline, run: Run) -> beam.pvalue.AsSingleton | None:
    """Return the SentencePiece model that the run trains, as a side input; None if it trains none.

    A model of an earlier attempt is reused.
    """
    if run.tokens is not None:
        return None
    reference = hmm_reference.find_whole(run.model_directory)
    if reference is not None:
        model = hmm_reference.load(reference).tokens.model or NO_PIECES
        return beam.pvalue.AsSingleton(pipeline | "Pieces" >> beam.Create([model]))
    options = run.options
    assert isinstance(options, TrainedTokenOptions)
    columns = ("source", "target", *(("translation",) if run.screen.translations else ()))
    train = functools.partial(train_pieces, vocabulary=options.vocabulary, columns=columns)
    rows = pipeline | "ReadToTrain" >> ReadUnits(run.plan.units, run.limits)
    if misaligned := rejected_stretches(run):
        reject = beam.Map(reject_misaligned, stretches=misaligned)
        rows = rows | "MisalignedToTrain" >> reject.with_output_types(pa.RecordBatch)
    rows = rows | "ScreenToTrain" >> MapBatches("Rules", screen_rows, run.screen.before_training())
    model = (
        apply_rules(rows, run)
        | "SampleToTrain" >> GatherSample(run.plan.rows, options.fit_pairs, options.seed)
        | "TrainPieces" >> beam.Map(train)
    )
    return beam.pvalue.AsSingleton(model)


def screen_by_pieces(batch: pa.RecordBatch, model: bytes, config: ScreenConfig) -> pa.RecordBatch:
    """Screen a batch by the pieces of a model, or by words if there is none."""
    if model == NO_PIECES:
        return screen(batch, config)
    return screen(batch, config.counting(TokenConfig("sentencepiece", model)))


def train_pieces(
    element: tuple[int, Iterable[pa.Table]], vocabulary: int, columns: tuple[str, ...]
) -> bytes:
    """Train a SentencePiece model on the parts of a sample.

    Args:
        element: The sample's parts under one key.
        vocabulary: Number of pieces of the model.
        columns: Columns of text to train on; nulls are left out.

    Returns:
        The model, or `NO_PIECES` for an empty sample.

    Raises:
        ConfigError: The texts are too few, or the vocabulary is too small for their characters.
    """
    sample = gather_sample(element[1])
    if not sample.num_rows:
        return NO_PIECES
    texts = (
        text
        for column in columns
        for chunk in sample.column(column).chunks
        for text in chunk.drop_null().to_pylist()
    )
    return train_sentencepiece(texts, vocabulary)
