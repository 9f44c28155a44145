"""The minimum score in a block ``filter:``, for which pairs are scored together with the rules."""

import dataclasses

import numpy as np
import pyarrow as pa

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.pair_scores import score_pairs, scoring_models
from pairweave.pipelines.steps.scoring_pairs import reject_open
from pairweave.transforms.filtering import rules
from pairweave.transforms.filtering.filtered import score_text
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.filtering.score import read_weights, score
from pairweave.transforms.rejects import Reason, Reject
from pairweave.transforms.shards.merge import pairs_of
from pairweave.transforms.text.tokens import add_tokens


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
            row: (Reject.LOW_SCORE, f"score {score_text(scores[row])} < {minimum.least:g}")
            for row in np.flatnonzero(scores < np.float32(minimum.least)).tolist()
        }

    return reject_open(batch, low)
