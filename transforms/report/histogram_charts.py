"""The charts of a run's histograms: for all corpora together, and for each corpus."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from pairweave.transforms.counts.histograms import HISTOGRAMS, Histogram
from pairweave.transforms.report.templating import number, percent

MAX_CORPORA = 12
"""Maximum number of corpora with charts of their own; smaller corpora are only in the total."""

ALL = "all corpora"

HistogramValues = Mapping[tuple[str, str, int], int]
"""Number of values in each bar, by (histogram, group, bar)."""

Shown = dict[str, Any]


def charts(
    histograms: HistogramValues, golden: Mapping[str, int] | None = None, *, together: bool = True
) -> list[Shown]:
    """Return the charts of a run's histograms by corpus, in the order of `HISTOGRAMS`.

    Args:
        histograms: All of its histograms.
        golden: Masks of a golden set by words of their suggestion, to show next to those of the
            run.
        together: Whether several corpora follow a chart of all and are sorted by their number of
            values; otherwise they are sorted by name.
    """
    histograms = {
        key: values for key, values in histograms.items() if HISTOGRAMS[key[0]].by == "corpus"
    }
    by_facet: dict[str, dict[str, Counter[int]]] = {}
    for (name, corpus, bar), values in histograms.items():
        by_facet.setdefault(name, {}).setdefault(corpus, Counter())[bar] += values
    totals = Counter({corpus: 0 for _, corpus, _ in histograms})
    for (_, corpus, _), values in histograms.items():
        totals[corpus] += values
    order = sorted(totals, key=lambda corpus: (-totals[corpus] if together else 0, corpus))
    return [
        _facet(
            name,
            by_facet[name],
            order,
            golden if name == "mask" else None,
            together=together,
        )
        for name in HISTOGRAMS
        if name in by_facet
    ]


def _facet(
    histogram: str,
    corpora: Mapping[str, Counter[int]],
    order: Sequence[str],
    golden: Mapping[str, int] | None,
    *,
    together: bool,
) -> Shown:
    """Return the charts of one histogram, which all have the same bars."""
    facet = HISTOGRAMS[histogram]
    every: Counter[int] = sum(corpora.values(), Counter())
    shown = {name: corpora[name] for name in order[:MAX_CORPORA] if name in corpora}
    if together and len(corpora) > 1:
        shown = {_free(ALL, shown): every, **shown}
    if golden:
        shown[_free("golden set", shown)] = _in_bars(facet, golden)
    used = {bar for counts in shown.values() for bar, values in counts.items() if values}
    bars = range(min(used), max(used) + 1)
    labels = [facet.label(bar) for bar in bars]
    head = _free(facet.unit, shown)
    return {
        "histogram": histogram,
        "title": facet.title,
        "unit": facet.unit,
        "labels": labels,
        "charts": [chart(name, counts, bars, labels) for name, counts in shown.items()],
        "left": max(0, len(corpora) - MAX_CORPORA),
        "columns": [(head, "text"), *((name, "share") for name in shown)],
        "rows": [
            {
                head: label,
                **{name: counts[bar] / counts.total() for name, counts in shown.items()},
            }
            for bar, label in zip(bars, labels, strict=True)
        ],
    }


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name, with a mark if a corpus already has it."""
    while name in taken:
        name += "*"
    return name


def _in_bars(facet: Histogram, golden: Mapping[str, int]) -> Counter[int]:
    bars: Counter[int] = Counter()
    for words, masks in golden.items():
        bars[int(facet.bars_of(np.array([int(words)]))[0])] += masks
    return bars


def chart(name: str, counts: Counter[int], bars: Sequence[int], labels: Sequence[str]) -> Shown:
    """Return a chart of values by bar, its name and the labels of its bars."""
    total, most = counts.total(), max(counts.values())
    return {
        "name": name,
        "total": total,
        "median": labels[_median(counts, bars)],
        "bars": [
            {
                "height": counts[bar] / most,
                "values": counts[bar],
                "label": _bar_label(label, counts[bar], total),
                "kind": "",
            }
            for bar, label in zip(bars, labels, strict=True)
        ],
        "ticks": [labels[place] for place in sorted({0, len(labels) // 2, len(labels) - 1})],
    }


def _bar_label(label: str, values: int, total: int) -> str:
    return f"{label}: {number(values)} ({percent(values / total)})"


def _median(counts: Counter[int], bars: Sequence[int]) -> int:
    """Return the place of the bar that holds the middle value."""
    below = 0
    for place, bar in enumerate(bars):
        below += counts[bar]
        if 2 * below >= counts.total():
            return place
    return len(bars) - 1
