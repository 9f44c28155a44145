"""Scores back in input order: what a run of ``filter`` says of each line that was read."""

import io

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairweave.transforms.output.line_files.link_lines import LINES, PLACE, read_columns
from pairweave.transforms.output.run_files import data_name, rejects_name
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage import files

NO_SCORE = "0"
"""What a pair has that a rule rejected, that could not be read, or that repeats another."""


def score_lines(output: str, shard: int, shards: int) -> list[pa.Table]:
    """Return the score of each row of a shard, as text (`link_lines.LINES`).

    A pair that passed every rule has its score, whether it was selected or not; any other 0.
    """
    path = files.join(output, data_name(shard, shards))
    # Only annotated rows have reasons.
    names = pq.read_schema(io.BytesIO(files.read_bytes(path))).names
    has_reasons = "reason" in names
    kept = read_columns(path, [*PLACE, "score", *(["reason"] if has_reasons else [])])
    none = pa.nulls(kept.num_rows, pa.string())
    reason = kept.column("reason") if has_reasons else none
    rejected = read_columns(
        files.join(output, rejects_name(shard, shards)), [*PLACE, "reason", "detail"]
    )
    texts = pa.array([str(score) for score in kept.column("score").to_numpy()], pa.string())
    scores = pc.if_else(_has_score(reason), texts, NO_SCORE)
    found = pc.replace_substring_regex(rejected.column("detail"), "^score ", "")
    others = pc.if_else(_has_score(rejected.column("reason")), found, NO_SCORE)
    return [
        rows.select(PLACE).append_column("links", column).cast(LINES)
        for rows, column in ((kept, scores), (rejected, pc.fill_null(others, NO_SCORE)))
    ]


def _has_score(reasons: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.or_(reasons.is_null(), pc.fill_null(pc.equal(reasons, str(Reject.LOW_SCORE)), False))  # noqa: FBT003
