"""The histograms of all jobs: their units, their edges, and how values are sorted into bars.

Values are binned as whole numbers, so no rounding of sums can move a value into another bar. The
bars of a histogram are the same in every run, so shards can be added and runs compared.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

Bars = dict[str, dict[str, list[int]]]
"""By histogram and group: the number of values in each bar, without empty bars at the end."""

ALL = "all"
"""The only group of a histogram that is not divided."""


@dataclasses.dataclass(frozen=True)
class Histogram:
    """The declaration of a histogram.

    Attributes:
        title: The quantity that is measured.
        unit: Its unit, as the head of a column.
        edges: Least value of every bar but the first, ascending, in units divided by ``scale``.
        scale: The number of parts of the unit that edges count.
        by: The division of values: by corpus, by the method that masks, or none (`ALL`).
    """

    title: str
    unit: str
    edges: tuple[int, ...]
    scale: int = 1
    by: Literal["corpus", "method", "all"] = "corpus"

    @property
    def bars(self) -> int:
        """Return the number of bars."""
        return len(self.edges) + 1

    def label(self, bar: int) -> str:
        """Name the values of a bar.

        >>> [HISTOGRAMS["tags"].label(bar) for bar in (0, 1, 16)]
        ['0', '1', '16 and more']
        """
        return self.range_label(bar, bar)

    def range_label(self, first: int, last: int) -> str:
        """Name the values of the bars ``first`` to ``last``.

        >>> HISTOGRAMS["tags"].range_label(1, 3), HISTOGRAMS["ratio"].range_label(1, 2)
        ('1 to 3', '0.25 to 0.5')
        """
        if last == len(self.edges):
            low = self.edges[max(first, 1) - 1]
            if self.unit == "%":
                return "100" if low == 100 else f"{low} to 100"
            return f"{self._edge_text(low)} and more"
        high = self.edges[last]
        if first == 0:
            return "0" if high == self.scale == 1 else f"under {self._edge_text(high)}"
        low = self.edges[first - 1]
        if self.scale > 1:
            return f"{self._edge_text(low)} to {self._edge_text(high)}"
        return self._edge_text(low) if high == low + 1 else f"{low:,} to {high - 1:,}"

    def _edge_text(self, edge: int) -> str:
        return f"{edge / self.scale:,g}" if self.scale > 1 else f"{edge:,}"

    def bars_of(self, values: np.ndarray) -> np.ndarray:
        """Return the bar of each value, int64 ``[value]``.

        Args:
            values: The values, in units divided by ``scale``, int64 ``[value]``.
        """
        return np.searchsorted(np.array(self.edges), values, side="right").astype(np.int64)

    def bars_of_units(self, values: np.ndarray) -> np.ndarray:
        """Return the bar of each value in units, int64 ``[value]``.

        A value just below an edge by the rounding of float32 counts as the edge.

        Args:
            values: Shares (0.05 is 5 %) or numbers of units, float32 ``[value]``.
        """
        parts = values.astype(np.float64) * (100 if self.unit == "%" else self.scale)
        limits = self.edges[0] - 1, self.edges[-1]
        whole = np.floor(np.clip(np.nan_to_num(parts), *limits) + _ROUNDING).astype(np.int64)
        return self.bars_of(whole)

    def as_json(self, groups: Mapping[str, list[int]]) -> dict[str, Any]:
        """Return the histogram in the form of a manifest, with every bar.

        Args:
            groups: Number of values in each bar, by group; empty bars at the end may be missing.
        """
        edges = [
            edge // self.scale if edge % self.scale == 0 else edge / self.scale
            for edge in self.edges
        ]
        counts = {name: [*bars, *[0] * (self.bars - len(bars))] for name, bars in groups.items()}
        return {"unit": self.unit, "by": self.by, "edges": edges, "counts": counts}


_ROUNDING = 1e-5
_LENGTHS = (*range(20, 100, 20), *range(100, 200, 25), *range(200, 500, 50), 500, 600, 800, 1000)
_PERCENT = tuple(range(5, 101, 5))
_RATIOS = (25, 33, 50, 67, 80, 90, 100, 110, 125, 150, 200, 300, 400)
_WORDS = (*range(1, 13), 15, 20, 30, 50)
_MANY_WORDS = (*range(1, 65), 80, 96, 128, 192, 256, 384)
_FEW = (*range(1, 21), 25, 30, 40, 50, 75, 100)

_SHARES = (
    *("source_foreign", "target_foreign", "source_script", "target_script", "copied_words"),
    *("copied_characters", "number_mismatch", "number_conflict", "repetition"),
    *("address_mismatch", "placeholder_mismatch", "tag_mismatch", "bracket_mismatch"),
    *("end_mismatch", "target_coverage", "source_coverage", "gap", "order"),
    *("yisi2", "yisi2_precision", "yisi2_recall", "lm", "cosine"),
)


def _of_column(name: str, unit: str, edges: Iterable[int], scale: int = 1) -> Histogram:
    return Histogram(f"Pairs by {name}", unit, tuple(edges), scale, by="all")


HISTOGRAMS: Mapping[str, Histogram] = MappingProxyType(
    {
        "source_length": Histogram("Characters of the source", "characters", _LENGTHS),
        "target_length": Histogram("Characters of the target", "characters", _LENGTHS),
        "ratio": Histogram(
            "Characters of the target for each of the source", "times", _RATIOS, 100
        ),
        "confidence": Histogram("Mean probability of the links of a pair, in %", "%", _PERCENT),
        "coverage": Histogram("Tokens of a pair that have a link, in %", "%", _PERCENT),
        "tags": Histogram("Tags in a tagged row", "tags", tuple(range(1, 17))),
        "span": Histogram("Source tokens in a tag", "tokens", _WORDS),
        "depth": Histogram("Most tags around one place of a tagged row", "tags", (*range(1, 9),)),
        "mask": Histogram("Words of a suggestion for a masked span", "words", _WORDS),
        "suggestion_words": Histogram(
            "Words of a suggestion for a masked span", "words", _MANY_WORDS, by="method"
        ),
        "mask_position": Histogram(
            "Share of the other words that stand before the mask",
            "%",
            tuple(range(5, 100, 5)),
            by="method",
        ),
        "sentence_masks": Histogram("Masks of a sentence", "masks", _MANY_WORDS, by="method"),
        "score": _of_column("score", "score", range(5, 201, 5), 100),
        "mojibake": _of_column("mojibake", "traces", _FEW),
        "entities": _of_column("entities", "entities", _FEW),
        "char_ratio": _of_column("char_ratio", "times", _FEW),
        "word_chars": _of_column("word_chars", "characters", _FEW),
        **{name: _of_column(name, "%", _PERCENT) for name in _SHARES},
        "forward_likelihood": _of_column("forward_likelihood", "nats", range(-60, 1), 2),
        "reverse_likelihood": _of_column("reverse_likelihood", "nats", range(-60, 1), 2),
        "roughness": _of_column("roughness", "nats", range(1, 41), 4),
        "margin": _of_column("margin", "times", range(5, 201, 5), 100),
    }
)
"""Every histogram by its name, in the order in which they are shown.

Histograms of `filter` have the names of its columns.
"""


class Values(NamedTuple):
    """A histogram's name, its values, int64 ``[value]``, and the number of the group of each."""

    name: str
    values: np.ndarray
    groups: np.ndarray


def count_by_group(histograms: Iterable[Values], names: Sequence[str]) -> Bars:
    """Return how many values of each group are in each bar of some histograms.

    Args:
        histograms: The values.
        names: The names of the groups.

    Returns:
        The bars of groups with values, without the empty ones at the end.
    """
    bars_of_groups: Bars = {}
    for name, values, groups in histograms:
        bars = HISTOGRAMS[name].bars
        places = groups * bars + HISTOGRAMS[name].bars_of(values)
        counted = np.bincount(places, minlength=len(names) * bars).reshape(-1, bars)
        for group, counts in zip(names, counted.tolist(), strict=True):
            if any(counts):
                bars_of_groups.setdefault(name, {})[group] = trimmed(counts)
    return bars_of_groups


def count_bars(histogram: Histogram, bars: np.ndarray) -> list[int]:
    """Return how many values are in each bar, without the empty ones at the end.

    Args:
        histogram: The quantity that the values measure.
        bars: The bar of each value, int64 ``[value]``.
    """
    counts: list[int] = np.bincount(bars, minlength=histogram.bars).tolist()
    return trimmed(counts)


def trimmed(counts: list[int]) -> list[int]:
    """Return the numbers of bars without the empty bars at the end.

    >>> trimmed([0, 2, 0])
    [0, 2]
    """
    while counts and not counts[-1]:
        counts = counts[:-1]
    return counts


def are_bars(value: object) -> bool:
    """Tell whether a value read from a receipt has the form of `Bars`."""
    return isinstance(value, Mapping) and all(
        name in HISTOGRAMS
        and isinstance(groups, Mapping)
        and all(_fits(counts, HISTOGRAMS[name].bars) for counts in groups.values())
        for name, groups in value.items()
    )


def _fits(counts: object, bars: int) -> bool:
    return (
        isinstance(counts, list)
        and len(counts) <= bars
        and all(type(each) is int and each >= 0 for each in counts)
    )
