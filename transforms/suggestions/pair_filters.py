"""Filters of suggestion examples that depend only on the pair and run first."""

import numpy as np

from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.suggestions.suggestion_filters import outside_scores
from pairweave.transforms.suggestions.suggestion_options import FilterConfig
from pairweave.transforms.text.tokens import TokenConfig, token_counts


def filter_pairs(shard: Shard, filters: FilterConfig, words: str, *, scored: bool) -> Shard:
    """Reject pairs whose examples would all be filtered by source length or by the pair's score.

    Rejecting them first saves translation and alignment, which cost far more than counting words.

    Args:
        shard: A shard as the shuffle returns it, with its pairs as working table.
        filters: The limits of an example.
        words: How the words of a source are counted: ``words`` or ``whitespace``.
        scored: Whether the scores come from the input. Scores of models do not exist yet.

    Returns:
        The shard, with the pairs filtered out among its rejected rows as ``filtered``.
    """
    kept = shard.kept
    if not kept.num_rows:
        return shard
    sizes, _ = token_counts(
        kept.column("source"), TokenConfig(words), kept.column("source_lang")
    )  # fmt: skip
    bad = (sizes < filters.min_source_words) | (sizes > filters.max_source_words)
    limits = f"{filters.min_source_words} to {filters.max_source_words}"
    details = [f"source length: {size} words, expected {limits}" for size in sizes[bad].tolist()]
    shard = shard.reject(bad, Stage.SUGGEST, Reject.FILTERED, details)
    if scored:
        shard = _filter_scores(shard, filters)
    return shard.with_pairs()


def _filter_scores(shard: Shard, filters: FilterConfig) -> Shard:
    scores = shard.kept.column("score").to_numpy()  # NaN where a pair has none
    bad = outside_scores(scores, filters)
    details = [
        "score: missing" if np.isnan(score) else f"score: {score:g} is outside the limits"
        for score in scores[bad].tolist()
    ]
    return shard.reject(bad, Stage.SUGGEST, Reject.FILTERED, details)
