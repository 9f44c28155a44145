"""Counts of a shard's examples for its receipt."""

import math
from collections.abc import Collection, Mapping

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

FAR_OFF = 0.05
"""A ratio of examples is reported if it differs from ``--mix`` by a larger share."""


def mix_notice(
    counts: Mapping[str, int], methods: Collection[str], mix: float, pairs: int
) -> str | None:
    """Report the ratio of parallel examples to others, if it is far from ``mix``.

    Each pair gives at most one parallel example, but several others, and a pair without others may
    give a parallel one. Differences within three standard deviations of the draws are not reported.

    Args:
        counts: Counts of all examples (`count_examples`).
        methods: The methods that were to make examples.
        mix: Wanted number of parallel examples for each other example.
        pairs: Number of pairs with examples.

    Returns:
        The notice; None if the ratio is as wanted, or there is only one kind of examples.
    """
    if "parallel" not in methods or len(methods) < 2 or not 0 < mix < math.inf:
        return None
    whole = counts.get("parallel_examples", 0)
    others = sum(counts.get(f"{method}_examples", 0) for method in METHODS) - whole
    wanted = mix * others
    if abs(whole - wanted) <= max(FAR_OFF * wanted, 3 * math.sqrt(wanted)):
        return None
    numbers = f"{whole:,} parallel examples for {others:,} others"
    numbers += f" are {whole / others:.2g} for each" if others else ""
    summary = f"--mix {mix:g}: {numbers}, not {mix:g}"
    if whole > wanted:
        return (
            f"{summary}; pairs without other examples give a parallel one, too: give a smaller mix"
        )
    # With a mix of 1 or more, 1 / mix of the pairs get masked spans, and every pair its whole
    # sentence.
    enough = mix * others * max(1.0, mix) / pairs if pairs else 0.0
    advice = f"; with --mix {enough:.2g}, fewer pairs get masked spans, and the ratio is about "
    advice = f"{advice}{mix:g}" if enough > mix else ""
    return f"{summary}: each pair gives one parallel example at most{advice}"


def count_examples(
    kept: Masks, filtered: Masks, dropped: np.ndarray, judged: Judged | None
) -> dict[str, int]:
    """Count the examples by method and operation, and the masks that were dropped by reason.

    Args:
        kept: The masks of all examples.
        filtered: The masks that were filtered.
        dropped: The rule that rejected each of these, -1 for none.
        judged: The quality judgements of the translations, if any.

    Returns:
        Counts by name (`transforms.counts.counters`). Zeros are left out, except for the number of
        examples of each method.
    """
    counts: dict[str, int] = {}
    for place, method in enumerate(METHODS):
        method_masks = kept.take(kept.method == place)
        counts[f"{method}_examples"] = len(method_masks)
        if place == ALIGNMENT:
            for number, operation in enumerate(OPERATIONS):
                name = f"{method}_{operation}_examples"
                counts[name] = int(np.count_nonzero(method_masks.operation == number))
        for number, rule in enumerate(RULE_NAMES):
            turned_away = (dropped == number) & (filtered.method == place)
            name = f"{method}_masks_dropped_{rule.replace(' ', '_')}"
            counts[name] = int(np.count_nonzero(turned_away))
    if judged is not None:
        counts |= _judgements(judged)
        joined = int(np.count_nonzero(filtered.method == ALIGNMENT))
        counts["joined_placeholders"] = joined
    heads = {f"{method}_examples" for method in METHODS}
    return {name: number for name, number in counts.items() if number or name in heads}


def mask_bars(masks: Masks) -> Bars:
    """Return the histograms of the masks of a span: their length, place and number, by method.

    Args:
        masks: The masks of all examples.
    """
    histograms: Bars = {}
    for place, method in enumerate(METHODS):
        method_masks = masks.take(masks.method == place)
        if place == PARALLEL or not len(method_masks):
            continue
        some = method_masks.suggestion_words[method_masks.suggestion_words > 0]
        numbers = np.bincount(method_masks.pair)
        values = {
            "suggestion_words": some,
            "mask_position": position_bin(method_masks.before, method_masks.behind)
            * (100 // POSITIONS),
            "sentence_masks": numbers[numbers > 0],
        }
        for name, each in values.items():
            bars = count_bars(HISTOGRAMS[name], HISTOGRAMS[name].bars_of(each))
            if bars:
                histograms.setdefault(name, {})[method] = bars
    return histograms


def _judgements(judged: Judged) -> dict[str, int]:
    counts = {"triples": int(np.count_nonzero(judged.verdict != NOT_JUDGED))}
    for verdict, name in _VERDICTS.items():
        counts[name] = int(np.count_nonzero(judged.verdict == verdict))
    counts["placeholders"] = int(judged.placeholders[judged.verdict == JUDGED_GOOD].sum())
    return counts
