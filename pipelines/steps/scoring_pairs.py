"""The steps of the job ``filter``: scoring pairs, and selecting the best of all shards.

Those of a block ``filter:`` in other jobs are here too: its rules, and its minimum score.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.models.aligner import NOTHING
from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.pair_scores import score_pairs, scoring_models
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering import (
    annotated,
    filtered,
    plugin_scorer,
    rules,
    scored_shards,
    selection,
)
from pairweave.transforms.filtering.rule_options import DuplicateConfig
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.filtering.score import Weights, read_weights, score
from pairweave.transforms.filtering.scored_shards import Place
from pairweave.transforms.filtering.selection import Aim, Border
from pairweave.transforms.plugins.entry_points import Plugin
from pairweave.transforms.rejects import Reason, Reject, Stage
from pairweave.transforms.screen import with_reasons
from pairweave.transforms.shards.merge import pairs_of
from pairweave.transforms.shards.rejected_texts import leave_out_long_texts
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


def _reject_open(
    batch: pa.RecordBatch, judge: Callable[[pa.RecordBatch], Mapping[int, tuple[Reason, str]]]
) -> pa.RecordBatch:
    """Set the reason of rows (`schemas.ROWS`) that have none.

    Args:
        batch: The rows.
        judge: Returns reason and detail for some of its rows, by their numbers.
    """
    open_rows = np.flatnonzero(batch.column("reason").is_null().to_numpy(zero_copy_only=False))
    if not len(open_rows):
        return batch
    judged = judge(batch.take(pa.array(open_rows)))
    rejected = {int(open_rows[row]): why for row, why in judged.items()}
    return leave_out_long_texts(with_reasons(batch, rejected, Stage.FILTER)) if rejected else batch


def reject_by_rules(batch: pa.RecordBatch, config: RuleConfig) -> pa.RecordBatch:
    """Set the reason of each row (`schemas.ROWS`) that has none and breaks a rule.

    This precedes the sample that an aligner is fitted on; the shards apply the same rules again.
    """

    def broken(rows: pa.RecordBatch) -> dict[int, tuple[Reason, str]]:
        judged = rules.judge(rows, config)
        first, reasons = judged.first(), list(judged.hits)
        return {
            row: (reasons[first[row]], judged.details[reasons[first[row]]](row))
            for row in np.flatnonzero(first >= 0).tolist()
        }

    return _reject_open(batch, broken)


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

    return _reject_open(batch, low)


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


def judge_and_score_by_plugin(
    table: pa.Table, scorer: Plugin, config: RuleConfig, *, every: bool
) -> pa.Table:
    """Turn PAIRS rows into SCORED rows (`transforms.filtering.filtered`).

    Args:
        table: All pairs of a shard.
        scorer: The scorer of another package.
        config: The rules.
        every: Whether pairs that a rule rejects are scored as well.
    """
    judged = rules.judge(table, config)
    wanted = np.ones(table.num_rows, np.bool_) if every else judged.first() < 0
    scores = np.zeros(table.num_rows, np.float32)
    scores[wanted] = plugin_scorer.score(scorer, table.filter(pa.array(wanted)))
    return filtered.given(table, judged, pa.array(scores, mask=~wanted))


def take_scores(shard: Shard, config: RuleConfig) -> Shard:
    """Turn the pairs of a shard into SCORED rows with the scores that came with the input.

    Of equal pairs, the first stays and gets the best of their scores.
    """
    every = pa.concat_tables(
        [rows.select(["id", "score"]) for rows in (shard.kept, shard.rejected)]
    ).filter(pc.field("id").is_valid())
    best = every.group_by("id").aggregate([("score", "max")])
    places = pc.index_in(shard.table.column("id"), best.column("id").combine_chunks())
    scores = best.column("score_max").take(places).combine_chunks()
    judged = rules.judge(shard.table, config)
    return shard.with_table(filtered.given(shard.table, judged, scores))


def settle(shard: Shard, copies: DuplicateConfig, nothing: str) -> Shard:
    """Give the scored pairs of a shard the reasons that do not depend on other shards.

    Args:
        shard: Its working table is SCORED rows, with the reasons of the rules.
        copies: The kind of equality that makes a pair a duplicate.
        nothing: Message if there is a pair to score, but no aligner to score it.

    Raises:
        ConfigError: There is such a pair, because the sample for the fit missed it.
    """
    shard = annotated.with_screen_reasons(shard)
    rows = shard.table
    if pc.any(pc.and_(rows.column("reason").is_null(), rows.column("score").is_null())).as_py():
        raise ConfigError(nothing)
    return shard.with_table(filtered.reject_copies(rows, copies))


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


def read_selected(number: int, place: Place, border: Border) -> Shard:
    """Read a scored shard, and set the reason of the pairs beyond the border."""
    shard = scored_shards.read(place, number)
    ranked = selection.ranks(shard.table.column("score").to_numpy(), shard.table.column("id"))
    return shard.with_table(
        filtered.reject_unselected(shard.table, selection.selected(ranked, border))
    )


def reject_low_scores(table: pa.Table, least: float) -> pa.Table:
    """Set the reason of SCORED rows below the minimum score."""
    scores = table.column("score").to_numpy()
    return filtered.reject_unselected(table, scores >= np.float32(least))
