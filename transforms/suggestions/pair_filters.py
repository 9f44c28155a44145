"""Filters of suggestion examples that a pair alone decides, before anything is made of it."""

import numpy as np

from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.suggestions.suggestion_filters import FilterConfig, outside_scores
from pairweave.transforms.text.tokens import TokenConfig, token_counts


def filter_pairs(shard: Shard, filters: FilterConfig, words: str, *, scored: bool) -> Shard:
    """Reject the pairs of which every example would be filtered for its source or its pair's score.

    They are rejected before sources are translated and translations aligned, which cost far more
    than to count words.

    Args:
        shard: A shard as it leaves the shuffle, whose working table is its pairs.
        filters: The limits of an example.
        words: How a source's words are counted: ``words`` or ``whitespace``.
        scored: Whether the input brings the scores. Those that models give are not there yet.

    Returns:
        The shard; the pairs turned away are among its rejected rows, as ``filtered``.
    """
    kept = shard.kept
    if not kept.num_rows:
        return shard
    sizes, _ = token_counts(
        kept.column("source"), TokenConfig(words), kept.column("source_lang")
    )  # fmt: skip
    bad = (sizes < filters.min_source_words) | (sizes > filters.max_source_words)
    wanted = f"{filters.min_source_words} to {filters.max_source_words}"
    said = [f"source length: {size} words, wanted {wanted}" for size in sizes[bad].tolist()]
    shard = shard.reject(bad, Stage.SUGGEST, Reject.FILTERED, said)
    if scored:
        shard = _filter_scores(shard, filters)
    return shard.with_pairs()


def _filter_scores(shard: Shard, filters: FilterConfig) -> Shard:
    scores = shard.kept.column("score").to_numpy()  # NaN where a pair has none
    bad = outside_scores(scores, filters)
    said = [
        "score: the pair has none" if np.isnan(score) else f"score: {score:g} is outside the limits"
        for score in scores[bad].tolist()
    ]
    return shard.reject(bad, Stage.SUGGEST, Reject.FILTERED, said)
