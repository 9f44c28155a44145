"""Applying rules, scores and a selection to the rows of batches and shards."""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
from pairweave.transforms.filtering.scored_shards import Place
from pairweave.transforms.filtering.selection import Border
from pairweave.transforms.plugins.entry_points import Plugin
from pairweave.transforms.rejects import Reason, Stage
from pairweave.transforms.screen import with_reasons
from pairweave.transforms.shards.rejected_texts import leave_out_long_texts
from pairweave.transforms.shards.shard import Shard


def reject_open(
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

    return reject_open(batch, broken)


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
