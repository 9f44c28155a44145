"""Counts of a shard's examples for its receipt."""

import numpy as np

from pairweave.transforms.counts.histograms import HISTOGRAMS, Bars, count_bars
from pairweave.transforms.kernels.masks.mask_borders import OPERATIONS
from pairweave.transforms.kernels.masks.masks import JUDGED_BAD, JUDGED_GOOD, JUDGED_SAME, POSITIONS
from pairweave.transforms.suggestions.aligned_masks import NOT_JUDGED, Judged
from pairweave.transforms.suggestions.masks import METHODS, Masks
from pairweave.transforms.suggestions.span_lengths import position_bin
from pairweave.transforms.suggestions.suggestion_filters import ALIGNMENT, PARALLEL, RULE_NAMES

_VERDICTS = {
    JUDGED_GOOD: "kept_triples",
    JUDGED_SAME: "triples_without_differences",
    JUDGED_BAD: "triples_over_placeholder_limit",
}


def count_examples(
    kept: Masks, found: Masks, dropped: np.ndarray, judged: Judged | None
) -> dict[str, int]:
    """Count the examples by method and operation, and the masks that were dropped by reason.

    Args:
        kept: The masks of all examples.
        found: The masks that were filtered.
        dropped: The rule that rejected each of these, -1 for none.
        judged: The quality judgements of the translations, if any.

    Returns:
        Counts by name (`transforms.counts.counters`). Zeros are left out, except for the number of
        examples of each method.
    """
    counts: dict[str, int] = {}
    for place, method in enumerate(METHODS):
        here = kept.take(kept.method == place)
        counts[f"{method}_examples"] = len(here)
        if place == ALIGNMENT:
            for number, operation in enumerate(OPERATIONS):
                name = f"{method}_{operation}_examples"
                counts[name] = int(np.count_nonzero(here.operation == number))
        for number, rule in enumerate(RULE_NAMES):
            turned_away = (dropped == number) & (found.method == place)
            name = f"{method}_masks_dropped_{rule.replace(' ', '_')}"
            counts[name] = int(np.count_nonzero(turned_away))
    if judged is not None:
        counts |= _judgements(judged)
        joined = int(np.count_nonzero(found.method == ALIGNMENT))
        counts["joined_placeholders"] = joined
    heads = {f"{method}_examples" for method in METHODS}
    return {name: number for name, number in counts.items() if number or name in heads}


def mask_bars(masks: Masks) -> Bars:
    """Return the histograms of the masks of a span: their length, place and number, by method.

    Args:
        masks: The masks of all examples.
    """
    found: Bars = {}
    for place, method in enumerate(METHODS):
        here = masks.take(masks.method == place)
        if place == PARALLEL or not len(here):
            continue
        some = here.suggestion_words[here.suggestion_words > 0]
        numbers = np.bincount(here.pair)
        values = {
            "suggestion_words": some,
            "mask_position": position_bin(here.before, here.behind) * (100 // POSITIONS),
            "sentence_masks": numbers[numbers > 0],
        }
        for name, each in values.items():
            bars = count_bars(HISTOGRAMS[name], HISTOGRAMS[name].bars_of(each))
            if bars:
                found.setdefault(name, {})[method] = bars
    return found


def _judgements(judged: Judged) -> dict[str, int]:
    counts = {"triples": int(np.count_nonzero(judged.verdict != NOT_JUDGED))}
    for verdict, name in _VERDICTS.items():
        counts[name] = int(np.count_nonzero(judged.verdict == verdict))
    counts["placeholders"] = int(judged.placeholders[judged.verdict == JUDGED_GOOD].sum())
    return counts
