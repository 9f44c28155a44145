"""Scores in input order: the result of a run of ``filter`` for each line that was read."""

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.line_files.link_lines import LINES, PLACE
from pairweave.transforms.rejects import Reject

NO_SCORE = "0"
"""The score of a pair that a rule rejected, that could not be read, or that repeats another."""


def score_lines(run: FinishedRun, shard: int) -> list[pa.Table]:
    """Return the score of each row of a shard, as text (`link_lines.LINES`).

    A pair that passed every rule has its score, whether it was selected or not; other pairs have 0.
    """
    # Only annotated rows have reasons.
    has_reasons = "reason" in run.schema().names
    kept = run.table(run.names[shard], [*PLACE, "score", *(["reason"] if has_reasons else [])])
    none = pa.nulls(kept.num_rows, pa.string())
    reason = kept.column("reason") if has_reasons else none
    rejected = run.table(run.rejects_name(shard), [*PLACE, "reason", "detail"])
    texts = pa.array([str(score) for score in kept.column("score").to_numpy()], pa.string())
    scores = pc.if_else(_has_score(reason), texts, NO_SCORE)
    scores_in_details = pc.replace_substring_regex(rejected.column("detail"), "^score ", "")
    others = pc.if_else(_has_score(rejected.column("reason")), scores_in_details, NO_SCORE)
    return [
        rows.select(PLACE).append_column("links", column).cast(LINES)
        for rows, column in ((kept, scores), (rejected, pc.fill_null(others, NO_SCORE)))
    ]


def _has_score(reasons: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.or_(reasons.is_null(), pc.fill_null(pc.equal(reasons, str(Reject.LOW_SCORE)), False))  # noqa: FBT003
