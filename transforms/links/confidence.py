"""Scores of phrase pairs: an aligner's confidence that no link leaves them."""

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import (
    directed_links_of,
    fields_of,
    lengths_of,
    list_column,
    weighted_links_of,
)
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.links import confidence as kernel
from pairweave.transforms.links.link_options import ConfidenceConfig

SOFT_LINK_THRESHOLD = 0.05
"""Minimum posterior of a link to be counted; links with a lower one say little about a box."""

MAX_ODDS = 100.0
"""A certain phrase pair is this many times as likely to be drawn as a pair at even odds."""


def keep_likely(believed: pa.Table, threshold: float) -> pa.Table:
    """Keep the links of both directions with at least a given posterior probability.

    Args:
        believed: Links with posteriors (`transforms.schemas.LINKED`).
        threshold: The minimum posterior.

    Returns:
        LINKED rows, in the same order.
    """
    schemas.require(believed, schemas.LINKED)
    for name in ("forward", "reverse"):
        offsets, fields = fields_of(believed.column(name))
        inside = slice(offsets[0], offsets[-1])
        likely = fields["probability"][inside] >= np.float64(threshold)
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(likely)])
        kept = list_column(
            before[offsets - offsets[0]],
            {field: values[inside][likely] for field, values in fields.items()},
            schemas.LINKED.field(name).type,
        )
        place = believed.schema.get_field_index(name)
        believed = believed.set_column(place, schemas.LINKED.field(name), kept)
    return believed


def score_phrases(table: pa.Table, believed: pa.Table, config: ConfidenceConfig) -> pa.Table:
    """Score phrase pairs by an aligner's probabilities, and leave out those with a low score.

    The score of a box of words is the product of ``1 - p`` over all links that lead out of it,
    times the probability of the best link of its least certain linked word; ``p`` is the mean of
    both directions' posteriors, where a direction without the link gives 0. It ranks phrase pairs;
    it is not a calibrated probability. Certain links (1 in both directions) give scores of 1.

    Args:
        table: Pairs with phrase pairs (`transforms.schemas.PHRASES`).
        believed: The same pairs with all probabilities that the aligner gives to their links
            (`transforms.schemas.LINKED`), including links that were not kept.
        config: The minimum score.

    Returns:
        PHRASES rows, in the same order.

    Raises:
        WorkerError: The tables are not of the same pairs, or links are outside their tokens.
    """
    schemas.require(table, schemas.PHRASES)
    schemas.require(believed, schemas.LINKED)
    if not table.column("id").equals(believed.column("id")):
        raise WorkerError(
            f"phrase pairs of {table.num_rows} pairs and links of {believed.num_rows}: "
            "they are not of the same pairs in the same order"
        )
    offsets, fields = fields_of(table.column("phrases"))
    boxes = np.stack([fields[name] for name in schemas.PHRASE.names[:4]])
    scores = kernel.score_phrases(
        *directed_links_of(believed),
        weighted_links_of(table, "links").links,
        lengths_of(table.column("source_tokens")),
        lengths_of(table.column("target_tokens")),
        offsets,
        boxes,
    )
    inside = slice(offsets[0], offsets[-1])
    sure = scores >= np.float64(config.min_confidence)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(sure)])
    columns = {name: values[inside][sure] for name, values in fields.items()}
    phrases = list_column(
        before[offsets - offsets[0]],
        {**columns, "score": scores[sure]},
        schemas.PHRASE_LIST,
    )
    place = table.schema.get_field_index("phrases")
    return table.set_column(place, schemas.PHRASES.field("phrases"), phrases)


def weights_of(scores: np.ndarray) -> np.ndarray:
    """Return the weights of phrase pairs that are drawn by their scores, float32 ``[phrase pair]``.

    The weight is the odds of the score, ``s / (1 - s)``, at most `MAX_ODDS`. On the gold links of
    ``align/enfr`` odds choose better than any power of the score up to the fourth.
    """
    likely = scores.astype(np.float64)
    odds = likely / np.maximum(1.0 - likely, likely / MAX_ODDS + _LEAST)
    return np.maximum(odds, _LEAST).astype(np.float32)


_LEAST = 1e-9
"""So that a phrase pair with a score of 0 can still be drawn, last."""
