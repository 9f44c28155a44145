"""The steps of the job ``filter``: scoring pairs, and selecting the best of all shards.

The minimum score of a block ``filter:`` in other jobs is here too.
"""

import dataclasses
from collections.abc import Callable, Iterable

import apache_beam as beam
import numpy as np
import pyarrow as pa

from pairweave.models.aligner import NOTHING
from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.pair_scores import score_pairs, scoring_models
from pairweave.transforms import schemas
from pairweave.transforms.filtering import filtered, rules, scored_shards, selection
from pairweave.transforms.filtering.judging import read_selected, reject_open
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.filtering.score import Weights, read_weights, score
from pairweave.transforms.filtering.scored_shards import Place
from pairweave.transforms.filtering.selection import Aim, Border
from pairweave.transforms.rejects import Reason, Reject
from pairweave.transforms.shards.merge import pairs_of
from pairweave.transforms.shards.shard import Shard, Shards
from pairweave.transforms.text.tokens import add_tokens

Numbers = beam.PCollection[int]
Cut = Callable[[pa.Table, hmm_reference.HmmReference], pa.Table]


@dataclasses.dataclass(frozen=True)
class Minimum:
    """The minimum default score of a pair.

    Attributes:
        least: The score, in [0, 1].
        model: The fitted aligner that computes it.
    """

    least: float
    model: hmm_reference.HmmReference


def reject_below(batch: pa.RecordBatch, minimum: Minimum) -> pa.RecordBatch:
    """Set the reason of each row (`schemas.ROWS`) that has none and scores below a minimum."""

    def low(rows: pa.RecordBatch) -> dict[int, tuple[Reason, str]]:
        pairs = pairs_of(pa.Table.from_batches([rows]))
        values = rules.judge(pairs, RuleConfig()).values
        models = scoring_models(minimum.model)
        table = add_tokens(pairs, hmm_reference.load(minimum.model).tokens)
        scores = score({**values, **score_pairs(*models, table)}, read_weights())
        return {
            row: (Reject.LOW_SCORE, f"score {filtered.score_text(scores[row])} < {minimum.least:g}")
            for row in np.flatnonzero(scores < np.float32(minimum.least)).tolist()
        }

    return reject_open(batch, low)


def tokenize(table: pa.Table, reference: hmm_reference.HmmReference, cut: Cut) -> pa.Table:
    """Cut pairs into tokens; return them unchanged if no aligner could be fitted."""
    return table if reference.digest == NOTHING else cut(table, reference)


def judge_and_score(
    table: pa.Table,
    reference: hmm_reference.HmmReference,
    config: RuleConfig,
    weights: Weights,
) -> pa.Table:
    """Turn TOKENS rows into SCORED rows (`transforms.filtering.filtered`).

    Args:
        table: All pairs of a shard, with the tokens of the aligner.
        reference: The fitted aligner. If there is none, because the rules reject every pair, the
            table has no tokens, and no pair has a score.
        config: The rules.
        weights: Weights of the score.
    """
    fitted = reference.digest != NOTHING
    schemas.require(table, schemas.TOKENS if fitted else schemas.PAIRS)
    judged = rules.judge(table, config)
    if not fitted:
        return filtered.unscored(table, judged)
    hmm = score_pairs(*scoring_models(reference), table)
    return filtered.scored(table, judged, hmm, weights)


class WriteScored(beam.PTransform[Shards, Numbers]):
    """Writes every scored shard, and returns the numbers of the shards."""

    def __init__(self, place: Place, near: float | None) -> None:
        """Set the directory, and the threshold of near-duplicates if they are searched."""
        super().__init__()
        self._place, self._near = place, near

    def expand(self, shards: Shards) -> Numbers:
        """Write each shard."""
        write = beam.Map(scored_shards.write, self._place, self._near)
        return shards | "Write" >> write.with_output_types(int)


class FindBorder(beam.PTransform[Numbers, beam.PCollection[Border]]):
    """Finds the border of the selection, digit by digit, once all shards are scored."""

    def __init__(self, place: Place, shards: int, aim: Aim) -> None:
        super().__init__()
        self._place, self._shards, self._aim = place, shards, aim

    def expand(self, scored: Numbers) -> beam.PCollection[Border]:
        """Count over all shards once for each digit."""
        pipeline = scored.pipeline
        waited = beam.pvalue.AsList(scored)
        border = pipeline | "Begin" >> beam.Create([Border()])
        for digit in range(selection.ROUNDS):
            known = beam.pvalue.AsSingleton(border)
            numbers = pipeline | f"Shards{digit}" >> beam.Create(
                list(range(self._shards)), reshuffle=True
            )
            count = beam.Map(_histogram, self._place, known, waited)
            added = beam.CombineGlobally(selection.add_histograms)
            counts = numbers | f"Count{digit}" >> count | f"Add{digit}" >> added
            narrow = beam.Map(selection.narrow, beam.pvalue.AsSingleton(counts), self._aim)
            border = border | f"Narrow{digit}" >> narrow
        return border | "Write" >> beam.Map(scored_shards.write_border, self._place)


class SelectAll(beam.PTransform[Numbers, beam.PCollection[Border]]):
    """Writes a border that selects every pair, once the shards are scored."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place

    def expand(self, scored: Numbers) -> beam.PCollection[Border]:
        """Wait, then write."""
        once = scored.pipeline | "Whole" >> beam.Create([Border(whole=True)])
        return once | "Write" >> beam.Map(_write_border, self._place, beam.pvalue.AsList(scored))


def _write_border(border: Border, place: Place, _scored: Iterable[int]) -> Border:
    return scored_shards.write_border(border, place)


def _histogram(
    number: int,
    place: Place,
    border: Border,
    _scored: Iterable[int],
) -> np.ndarray:
    return selection.histogram(*scored_shards.read_ranks(place, number), border)


class ReadScored(beam.PTransform[beam.pvalue.PBegin, Shards]):
    """Reads scored shards, and marks the pairs beyond the border of the selection as rejected."""

    def __init__(
        self, numbers: Iterable[int], place: Place, border: Border | beam.pvalue.AsSingleton
    ) -> None:
        super().__init__()
        self._numbers, self._place, self._border = sorted(numbers), place, border

    def expand(self, pipeline: beam.pvalue.PBegin) -> Shards:
        """Read each shard."""
        numbers = pipeline | "Numbers" >> beam.Create(self._numbers, reshuffle=True)
        read = beam.Map(read_selected, self._place, self._border)
        return numbers | "Read" >> read.with_output_types(Shard)
