"""Finds facts that make two runs hard to compare, and the bars of their charts that differ."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.report.templating import percent

LEAST = 0.02
"""Minimum difference of the shares of a bar for a mark."""

SURE = 3.0
"""Minimum of such a difference in standard errors, so that a few values mark no bar."""

Json = Mapping[str, Any]


def differences(names: Sequence[str], manifests: Sequence[Json]) -> list[str]:
    """Return sentences on languages and files that differ, without their full stops."""
    languages = [_languages(manifest) for manifest in manifests]
    sentences = []
    if languages[0] != languages[1]:
        first, second = (
            f"{', '.join(each)} in {name}" for name, each in zip(names, languages, strict=True)
        )
        sentences.append(f"the languages differ: {first}; {second}")
    files = [{entry["sha256"] for entry in manifest["inputs"]} for manifest in manifests]
    if files[0] != files[1]:
        both, counts = len(files[0] & files[1]), [len(each) for each in files]
        sentences.append(
            f"the runs read different files: {both:,} of {counts[0]:,} and {counts[1]:,} are the "
            "same"
        )
    return sentences


def _languages(manifest: Json) -> list[str]:
    corpora = manifest["corpora"].values()
    return sorted({f"{corpus['source_lang']} to {corpus['target_lang']}" for corpus in corpora})


def differing_bars(first: Sequence[int], second: Sequence[int]) -> list[bool]:
    """Tell which bars have clearly different shares of the values of two runs, ``[bar]``.

    Args:
        first: Values in each bar of the first run.
        second: Values in each bar of the second run.

    >>> differing_bars([500, 500, 0], [500, 300, 200])
    [False, True, True]
    >>> differing_bars([1, 0], [0, 1])
    [False, False]
    """
    totals = sum(first), sum(second)
    if not all(totals):
        return [False] * len(first)
    marked = []
    for one, other in zip(first, second, strict=True):
        difference = abs(one / totals[0] - other / totals[1])
        pooled = (one + other) / sum(totals)
        error = math.sqrt(pooled * (1 - pooled) * (1 / totals[0] + 1 / totals[1]))
        marked.append(difference >= LEAST and difference > SURE * error)
    return marked


def chart_note(labels: Sequence[str], first: Sequence[int], second: Sequence[int]) -> str:
    """Return a line about the differences in a chart of both runs; empty if none is clear.

    >>> chart_note(["1", "2", "3"], [500, 500, 0], [500, 300, 200])
    'differs most at 2: 50 % in the first, 30 % in the second; 2 bars are marked'
    """
    marked = differing_bars(first, second)
    if not any(marked):
        return ""
    totals = sum(first), sum(second)
    most = max(
        (place for place, is_marked in enumerate(marked) if is_marked),
        key=lambda place: abs(first[place] * totals[1] - second[place] * totals[0]),
    )
    shares = first[most] / totals[0], second[most] / totals[1]
    number = sum(marked)
    return (
        f"differs most at {labels[most]}: {percent(shares[0])} in the first, {percent(shares[1])} "
        f"in the second; {number} {'bars are' if number > 1 else 'bar is'} marked"
    )
