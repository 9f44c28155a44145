"""Masks drawn only from the reference (Zhu et al., appendix B; Yang et al. 2022)."""

import numpy as np

from pairweave.transforms.kernels.masks.mask_draws import Distributions, draw_masks
from pairweave.transforms.kernels.masks.masks import BROKEN, POSITIONS
from pairweave.transforms.kernels.text import spans
from pairweave.transforms.suggestions.masks import Masks, on_reference
from pairweave.transforms.suggestions.span_lengths import (
    Histograms,
    cumulative,
    length_weights,
)
from pairweave.transforms.suggestions.suggestion_options import MAX_WORDS, RandomConfig
from pairweave.transforms.suggestions.token_view import TokenView


def draw_random(
    view: TokenView,
    keys: np.ndarray,
    picked: np.ndarray,
    max_share: float,
    config: RandomConfig,
    golden: Histograms | None,
    seed: int,
) -> Masks:
    """Draw masks over spans of references; the draws of a pair depend on that pair only.

    Every token begins a span with probability ``start_probability``, independently of the others.
    The ``variants`` of these tokens with the lowest draws each give an example, so a larger
    probability or number keeps the earlier examples. A sentence may have none. The length is drawn
    from its distribution, on condition that the span ends within the sentence and covers at most
    ``max_share`` of its tokens.

    ``empirical`` instead draws the number of masks, their lengths and their places from the
    distributions of the golden set.

    A span that would separate the halves of an inline tag, or end where a tag may not, is extended
    until it does not; a mask that then repeats another is left out.

    Args:
        view: The references.
        keys: Keys for the pairs' draws, uint64 ``[pair]``.
        picked: Whether each pair gets masks, bool ``[pair]``.
        max_share: Largest share of masked tokens; masking one token is always allowed.
        config: The distributions.
        golden: The distributions of ``empirical``; None for other kinds.
        seed: The run's seed.
    """
    nothing = np.zeros(0)
    if golden is None:
        lengths = length_weights(
            config.lengths or "geometric", config.mean_words, config.max_mask_words
        )
        positions = numbers = nothing
    else:
        lengths = cumulative(golden.words, 1, min(MAX_WORDS, max(golden.words)))
        positions = cumulative(golden.position, 0, POSITIONS)
        numbers = cumulative(golden.masks, 1, min(100, max(golden.masks)))
    pair, variant, first, last = draw_masks(
        np.uint64(seed),
        keys,
        picked,
        view.cut_tokens,
        view.held_tags,
        Distributions(config.start_probability, lengths, positions, numbers, config.variants),
        max_share,
    )
    parted = last == BROKEN
    last = np.where(parted, first + 1, last)
    base = view.token_offsets[pair]
    borders = (
        view.starts[base + first].astype(np.int64),
        view.ends[base + last - 1].astype(np.int64),
    )
    return on_reference("random", view, pair, variant, first, last, borders, parted)


def whole_texts(view: TokenView, picked: np.ndarray) -> Masks:
    """Mask whole references (Zhu et al., section 4.3: parallel-sentence augmentation)."""
    pair = np.flatnonzero(picked)
    nothing = np.zeros(len(pair), np.int64)
    lengths = spans.text_lengths(view.data, view.offsets)[pair]
    parted = np.zeros(len(pair), np.bool_)
    last = view.counts[pair]
    return on_reference("parallel", view, pair, nothing, nothing, last, (nothing, lengths), parted)
