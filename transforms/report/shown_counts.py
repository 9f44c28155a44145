"""Counters and histograms in the form for people."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from pairweave.transforms.counts import counters
from pairweave.transforms.counts.histograms import HISTOGRAMS, Histogram
from pairweave.transforms.output.column_meanings import MEANINGS

MAX_BARS = 20
"""Maximum number of bars of a distribution; beyond it, values share a bar."""

HistogramValues = Mapping[tuple[str, str, int], int]
"""Number of values in each bar, by (histogram, group, bar)."""


class Distribution(NamedTuple):
    """A histogram that is not by corpus, with the bars that it shows.

    Attributes:
        name: The histogram's name in `HISTOGRAMS`.
        group: The group of its values, such as a method.
        title: The measured quantity, with its group.
        about: A further explanation.
        unit: The unit of its labels.
        labels: The label of each bar.
        bars: Number of values in each bar, for each run.
    """

    name: str
    group: str
    title: str
    about: str
    unit: str
    labels: list[str]
    bars: list[list[int]]


def split_rules(
    counts: Mapping[str, int],
) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Separate other counters from those of each rule of `filter`.

    Returns:
        The others by name; and by rule the pairs that it would reject: in ``all``, as the
        ``first`` rule, and as the ``only`` one.

    >>> split_rules({"pairs": 3, "would_reject_script": 2})
    ({'pairs': 3}, {'script': {'all': 2}})
    """
    others = {}
    rules: dict[str, dict[str, int]] = defaultdict(dict)
    for name, number in counts.items():
        kind_and_reason = counters.of_rule(name)
        if kind_and_reason is None:
            others[name] = number
        else:
            kind, reason = kind_and_reason
            rules[reason][kind.removeprefix("would_reject").lstrip("_") or "all"] = number
    return others, dict(rules)


def described(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counters by their meanings, in the order in which they are declared.

    >>> described({"links": 9, "pairs": 3})
    {'pairs written': 3, 'links between tokens': 9}
    """
    order = {name: place for place, name in enumerate(counters.COUNTERS)}
    names = sorted(counts, key=lambda name: (order.get(name, len(order)), name))
    return {counters.about(name): counts[name] for name in names}


def distributions(*runs: HistogramValues) -> list[Distribution]:
    """Return the histograms that are not by corpus, those of several runs side by side.

    Args:
        runs: The histograms of each run (`ReceiptSums.histograms`).
    """
    by_group: dict[tuple[str, str], list[Counter[int]]] = {}
    for place, histograms in enumerate(runs):
        for (name, group, bar), values in histograms.items():
            if name in HISTOGRAMS and HISTOGRAMS[name].by != "corpus":
                several = by_group.setdefault((name, group), [Counter() for _ in runs])
                several[place][bar] += values
    order = {name: place for place, name in enumerate(HISTOGRAMS)}
    return [
        _distribution(name, group, by_group[name, group])
        for name, group in sorted(by_group, key=lambda key: (order[key[0]], key[1]))
    ]


def _distribution(name: str, group: str, bars_of_runs: list[Counter[int]]) -> Distribution:
    histogram: Histogram = HISTOGRAMS[name]
    used = {bar for bars in bars_of_runs for bar in bars}
    low, high = min(used), max(used)
    width = -(-(high - low + 1) // MAX_BARS)
    starts = range(low, high + 1, width)
    ends = [min(start + width - 1, high) for start in starts]
    return Distribution(
        name,
        group,
        histogram.title if histogram.by == "all" else f"{histogram.title}: {group}",
        MEANINGS.get(name, "") if histogram.by == "all" else "",
        histogram.unit,
        [histogram.range_label(*span) for span in zip(starts, ends, strict=True)],
        [
            [
                sum(bars[bar] for bar in range(start, end + 1))
                for start, end in zip(starts, ends, strict=True)
            ]
            for bars in bars_of_runs
        ],
    )
