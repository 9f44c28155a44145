"""Normal figures, from news and web text, to show next to the figures of a run.

They are in ``normal_figures.json``, which has the counts of runs with default options, written by
``python -m tests.benchmarks.measure_normal_figures``.
"""

import functools
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pairweave.transforms.counts.histograms import HISTOGRAMS
from pairweave.transforms.report.templating import percent

FIGURES = Path(__file__).with_name("normal_figures.json")

RATES = {
    "tags in a tagged row": ("tags", "tagged_rows"),
    "words of a kept target": ("kept_target_words", "kept_pairs"),
    "links of a pair": ("links", "pairs"),
    "share of the judged translations that are kept": ("kept_triples", "triples"),
}
"""Means to show, by their descriptions: a counter divided by another."""

_NO_BREAK = "\u00a0"

Json = Mapping[str, Any]


class NormalFigures:
    """The figures of each text for a job; empty texts for a job that was not measured.

    Args:
        job: The job's name.
    """

    def __init__(self, job: str) -> None:
        figures = _figures()
        self._runs: dict[str, Json] = figures["jobs"].get(job, {})
        self.texts: dict[str, str] = {name: figures["texts"][name] for name in self._runs}

    def kept(self) -> str:
        """Return the shares of pairs kept, such as ``news 99.9 %, web 100 %``."""
        return self._said(lambda run: percent(run["rows"]["kept"] / run["rows"]["read"]))

    def rejected(self, reason: str) -> str:
        """Return the shares of pairs rejected for a reason."""
        return self._of_read(lambda run: run["rejected"].get(reason, 0))

    def would_reject(self, rule: str) -> str:
        """Return the shares of pairs that a rule of `filter` rejects, or would reject."""
        return self._of_read(lambda run: run["counts"].get(f"would_reject_{rule}", 0))

    def median(self, histogram: str, group: str = "") -> str:
        """Return the medians of a histogram, as the range of a bar.

        Args:
            histogram: Its name.
            group: The method of examples, for a histogram by method.
        """

        def of_run(run: Json) -> str:
            bars = run["histograms"].get(histogram, [])
            if HISTOGRAMS[histogram].by == "method":
                bars = bars.get(group, []) if bars else []
            return _median(histogram, bars)

        return self._said(of_run)

    def rate(self, what: str) -> str:
        """Return a mean of `RATES`."""
        return self._said(lambda run: rate(run["counts"], what))

    def _of_read(self, pairs: Callable[[Json], int]) -> str:
        return self._said(lambda run: percent(pairs(run) / run["rows"]["read"]))

    def _said(self, figure: Callable[[Json], str]) -> str:
        """Join a figure's values in each text, leaving out texts without a value.

        A line breaks only between the texts.
        """
        said = ((name, figure(run)) for name, run in self._runs.items())
        joined = (f"{name} {value}".replace(" ", _NO_BREAK) for name, value in said if value)
        return ", ".join(joined)


def rate(counts: Mapping[str, int], what: str) -> str:
    """Return a mean of `RATES`; empty if its counters are not there.

    >>> rate({"tags": 7, "tagged_rows": 2}, "tags in a tagged row")
    '3.50'
    >>> rate({"tags": 7}, "tags in a tagged row")
    ''
    """
    part, whole = (counts.get(name, 0) for name in RATES[what])
    return f"{part / whole:.2f}" if part and whole else ""


def _median(name: str, bars: list[int]) -> str:
    """Return the label of the bar that holds the middle value; empty without a value."""
    values = Counter({bar: count for bar, count in enumerate(bars) if count})
    below = 0
    for bar, count in values.items():
        below += count
        if 2 * below >= values.total():
            return HISTOGRAMS[name].label(bar)
    return ""


@functools.cache
def _figures() -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(FIGURES.read_text("utf-8"))
    return figures
