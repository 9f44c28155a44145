"""Scores of whole pairs by a fitted HMM: likelihoods in both directions and covered words."""

import numba
import numpy as np

from pairweave.transforms.kernels.hmm.agreement import Model, beside_reverse, share_of_last
from pairweave.transforms.kernels.hmm.emissions import emissions, heads_of
from pairweave.transforms.kernels.hmm.hmm import lay_out, no_jump_counts, position_rows, posteriors
from pairweave.transforms.kernels.hmm.sides import Side, tokens_of
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.scratch import Scratch, lent, take_zero_rows, take_zeros
from pairweave.transforms.kernels.uncounted import uncounted

LIKELIHOOD, COVERAGE, GAP, ORDER = range(4)
"""Columns of `score_pairs` for one direction."""

COLUMNS = 4

FARTHEST = 6
"""Longer distances between the partners of consecutive words count as this one."""

UNCOVERED = np.float32(0.1)
"""A word with less coverage than this has no partner (results are flat from 0.05 to 0.3)."""


@numba.njit(nogil=True, cache=True)
def score_pairs(source: Side, target: Side, model: Model, scratch: Scratch) -> np.ndarray:
    """Score pairs by both HMMs.

    Args:
        source: The source side.
        target: The target side, of the same number of pairs.
        model: Both HMMs; not only Model 1.
        scratch: Memory for arrays; lost.

    Returns:
        float32 ``[direction, column, pair]``. Direction 0 scores the target given the source, 1
        the source given the target. A word's coverage is the sum, over the words of the other
        side, of the smaller of both directions' posteriors of the link, at most 1; its weight is
        ``-log`` of its unigram probability. The columns, for the words of the scored side:

        - `LIKELIHOOD`: natural logarithm of the likelihood, divided by the number of words;
        - `COVERAGE`: weighted mean coverage of the words; rare words count more;
        - `GAP`: weight of the heaviest run of words without a partner (coverage under
          `UNCOVERED`), as a share of the weight of all words;
        - `ORDER`: mean distance, in words, by which the partners of consecutive covered words miss
          being consecutive, at most `FARTHEST` each, divided by `FARTHEST`.

        A pair with an empty side has 0 in every column.
    """
    source, target, model, scratch = lent(source), lent(target), lent(model), lent(scratch)
    source_words, target_words, lexicon, jumps, source_factors, target_factors, p_null, p_last = (
        model
    )
    pairs = len(source.offsets) - 1
    heads = heads_of(target_words)
    scores = np.zeros((2, COLUMNS, pairs), dtype=np.float32)
    for pair in range(pairs):
        scratch.used[0] = 0
        states = source.offsets[pair + 1] - source.offsets[pair]
        words = target.offsets[pair + 1] - target.offsets[pair]
        if states == 0 or words == 0:
            continue
        forward, reverse, _ = emissions(
            source, target, pair, source_words, target_words, lexicon, heads, scratch
        )
        back_low = reverse.low
        p_end = share_of_last(source, target, pair, p_last)
        p_forward = take_zero_rows(
            scratch, np.float32, forward.values.shape[0], forward.values.shape[1]
        )
        p_reverse = take_zero_rows(
            scratch, np.float32, reverse.values.shape[0], reverse.values.shape[1]
        )
        rows = position_rows(source, pair, forward.width, source_factors, scratch)
        layout = lay_out(jumps[0], source_factors, rows, p_null, scratch)
        uncounted = no_jump_counts(scratch)
        likely = posteriors(forward, layout, p_null, p_end, p_forward, uncounted, scratch)
        rows = position_rows(target, pair, reverse.width, target_factors, scratch)
        layout = lay_out(jumps[1], target_factors, rows, p_null, scratch)
        back_likely = posteriors(reverse, layout, p_null, p_end, p_reverse, uncounted, scratch)
        covered = take_zeros(scratch, np.float32, words)
        back_covered = take_zeros(scratch, np.float32, states)
        partner = take_zeros(scratch, np.int64, words)
        back_partner = take_zeros(scratch, np.int64, states)
        best = take_zeros(scratch, np.float32, words)
        back_best = take_zeros(scratch, np.float32, states)
        given = beside_reverse(p_forward, forward, reverse, scratch)
        for state in range(states):
            for at in range(reverse.width):
                word = back_low[state] + at
                both = min(p_reverse[state, at], given[state, at])
                covered[word] += both
                back_covered[state] += both
                if both > best[word]:
                    best[word] = both
                    partner[word] = state
                if both > back_best[state]:
                    back_best[state] = both
                    back_partner[state] = word
        known = tokens_of(target, pair, target_words, scratch).unigram
        judge(scores[0, :, pair], likely, covered, partner, known)
        known = tokens_of(source, pair, source_words, scratch).unigram
        judge(scores[1, :, pair], back_likely, back_covered, back_partner, known)
    return scores


@uncounted
def judge(
    scores: np.ndarray,
    likelihood: float,
    covered: np.ndarray,
    partner: np.ndarray,
    unigram: np.ndarray,
) -> None:
    """Fill in the columns of one direction of a pair.

    Args:
        scores: Receives them, float32 ``[column]``.
        likelihood: Natural logarithm of the likelihood.
        covered: Agreed posterior of each word, float32 ``[word]``.
        partner: Likeliest partner of each word, int64 ``[word]``.
        unigram: Probability of each word, float32 ``[word]``.
    """
    words: Integer = len(covered)
    weight = 0.0
    weighted = 0.0
    run = 0.0
    longest = 0.0
    last = -1
    steps = 0
    way = 0
    for word in range(words):
        cover = min(np.float64(covered[word]), 1.0)
        heavy = -np.log(np.float64(unigram[word]))
        weight += heavy
        weighted += heavy * cover
        run = run + heavy if covered[word] < UNCOVERED else 0.0
        longest = max(longest, run)
        if covered[word] >= UNCOVERED:
            if last >= 0:
                # In the order of the other side the partner is the same word or the next.
                step = partner[word] - partner[last]
                way += min(abs(step - 1) if step != 0 else 0, FARTHEST)
                steps += 1
            last = word
    scores[LIKELIHOOD] = likelihood / words
    scores[COVERAGE] = weighted / weight if weight > 0.0 else 0.0
    scores[GAP] = longest / weight if weight > 0.0 else 0.0
    scores[ORDER] = way / (FARTHEST * steps) if steps else 0.0
