"""Distributions of the length, place and number of masks: given, or learnt from a golden set."""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.counts.histograms import HISTOGRAMS, Bars
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.masks.masks import POSITIONS
from pairweave.transforms.storage.byte_streams import without_compression
from pairweave.transforms.storage.text_lines import read_text_lines
from pairweave.transforms.suggestions.suggestion_options import MAX_WORDS
from pairweave.transforms.symbols.mask import MASK, NOTHING
from pairweave.transforms.text.tokens import TokenConfig, token_counts

SPAN_METHODS = ("random", "alignment")
"""The methods that mask a span, not a whole sentence."""

FACETS = ("words", "position", "masks")
"""The distributions compared with a golden set: see `Histograms`."""

HISTOGRAM_NAMES = dict(
    zip(FACETS, ("suggestion_words", "mask_position", "sentence_masks"), strict=True)
)
"""The histogram of a run for each of them."""

Histogram = Mapping[int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Histograms:
    """Distributions over a set of examples.

    Attributes:
        words: Number of examples by length of the suggestion in tokens, from 1.
        position: Number of examples by place: the tokens before the mask divided by those before
            and after it, in `POSITIONS` bins (`position_bin`).
        masks: Number of sentences by number of examples, from 1.
    """

    words: Histogram
    position: Histogram
    masks: Histogram

    def as_json(self) -> dict[str, dict[str, int]]:
        """Return the histograms in the form stored in a plan."""
        return {
            name: {str(key): number for key, number in sorted(getattr(self, name).items())}
            for name in FACETS
        }


def from_json(stored: Mapping[str, Mapping[str, int]]) -> Histograms:
    """Return the histograms stored in a plan."""
    return Histograms(
        **{name: {int(key): number for key, number in stored[name].items()} for name in FACETS}
    )


def position_bin(before: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """Return the bin of each mask's place, of `POSITIONS` bins, int64 ``[mask]``.

    Args:
        before: Tokens before each mask.
        behind: Tokens after it.

    >>> position_bin(np.array([0, 5, 9, 0]), np.array([9, 5, 0, 0]))
    array([ 0, 10, 19,  0])
    """
    around = np.maximum(1, before + behind)
    return np.minimum(POSITIONS - 1, before * POSITIONS // around)


def length_weights(kind: str, mean_words: float, max_words: int) -> np.ndarray:
    """Return the cumulative weights of lengths 1, 2, … ``max_words``, float64 ``[length]``.

    Args:
        kind: ``geometric``: after each token the span ends with probability ``1 / mean_words``;
            ``uniform``: all lengths are equally likely.
        mean_words: Mean of the geometric distribution before truncation.
        max_words: Longest span.
    """
    if kind == "uniform":
        return np.arange(1, max_words + 1, dtype=np.float64)
    # Repeated multiplication and addition round identically on every machine.
    continuation = 1.0 - 1.0 / mean_words
    weights = []
    weight, total = 1.0, 0.0
    for _ in range(max_words):
        total += weight
        weights.append(total)
        weight *= continuation
    return np.array(weights)


def cumulative(histogram: Histogram, first: int, size: int) -> np.ndarray:
    """Return the cumulative weights of ``first``, ``first + 1``, …, float64 ``[size]``."""
    counts = [histogram.get(first + place, 0) for place in range(size)]
    return np.cumsum(np.array(counts, dtype=np.float64))


def read_golden(paths: Sequence[str], language: str | None = None) -> Histograms:
    """Learn the lengths, places and numbers of masks from a golden set in the format of WeTS.

    Args:
        paths: The masked translations (``.mask``), the suggestions (``.tgt``) and optionally the
            sources (``.src``), in any order, line by line, each plain, ``.gz`` or ``.zst``.
            Examples with the same source are masks of one sentence; without sources, each line is
            a sentence with one mask. Empty suggestions (`NOTHING`) have no length.
        language: BCP 47 tag of the translations.

    Raises:
        ConfigError: The files are not a golden set.
        InputError: A file is missing, or is not UTF-8 text.
    """
    sides = golden_sides(paths, "fit_lengths")
    lines = {side: read_text_lines(path) for side, path in sides.items()}
    sizes = {side: len(side_lines) for side, side_lines in lines.items()}
    if len(set(sizes.values())) > 1:
        raise ConfigError(f"the golden files differ in their lines: {sizes}")
    if not sizes["mask"]:
        raise ConfigError(f"{sides['mask']}: the golden set is empty")
    before, behind, words, masks = [], [], [], Counter[str]()
    for number, masked in enumerate(lines["mask"]):
        parts = masked.split(MASK)
        if len(parts) != 2:
            raise ConfigError(
                f"{sides['mask']}:{number + 1}: expected one {MASK}, found {len(parts) - 1}"
            )
        before.append(parts[0])
        behind.append(parts[1])
        suggestion = lines["tgt"][number].strip()
        words.append("" if suggestion == NOTHING else suggestion)
        masks[lines["src"][number] if "src" in lines else str(number)] += 1
    counts = [
        token_counts(pa.array(texts, pa.string()), TokenConfig(), language)[0]
        for texts in (before, behind, words)
    ]
    lengths = Counter(counts[2][counts[2] > 0].tolist())
    if not lengths or max(lengths) > MAX_WORDS:
        raise ConfigError(
            f"{sides['tgt']}: expected suggestions of 1 to {MAX_WORDS} words, "
            f"found {max(lengths, default=0)} as the longest"
        )
    places = Counter(position_bin(counts[0], counts[1]).tolist())
    return Histograms(lengths, places, Counter(masks.values()))


def golden_sides(paths: Sequence[str], option: str, needed: str = "mask tgt") -> dict[str, str]:
    """Return the files of a golden set by side: ``src``, ``mask`` and ``tgt``, from their names.

    Args:
        paths: The files, in any order.
        option: The option that names them, for messages.
        needed: The sides that must be there.

    Raises:
        ConfigError: A side is missing or given twice, or a name has another ending.
    """
    sides: dict[str, str] = {}
    for path in paths:
        ending = without_compression(path).rpartition(".")[2]
        if ending not in ("src", "mask", "tgt") or ending in sides:
            raise ConfigError(
                f"{option} {path}: expected one .mask and one .tgt file, and a .src file if "
                "several examples share a sentence"
            )
        sides[ending] = path
    for ending in needed.split():
        if ending not in sides:
            raise ConfigError(f"{option}: the .{ending} file of the golden set is missing")
    return sides


def jensen_shannon(one: Histogram, other: Histogram) -> float | None:
    """Return the Jensen-Shannon distance of two histograms, 0 (alike) to 1 (nothing in common).

    It is the square root of the divergence in bits (Endres and Schindelin 2003), rounded to six
    places. None if a histogram is empty.

    >>> jensen_shannon({1: 2, 2: 2}, {1: 5, 2: 5}), jensen_shannon({1: 1}, {2: 1})
    (0.0, 1.0)
    """
    totals = sum(one.values()), sum(other.values())
    if not all(totals):
        return None
    terms = []
    for key in sorted({*one, *other}):
        shares = one.get(key, 0) / totals[0], other.get(key, 0) / totals[1]
        middle = sum(shares) / 2
        terms += [share / 2 * math.log2(share / middle) for share in shares if share]
    return round(math.sqrt(max(0.0, math.fsum(terms))), 6)


def compare(
    golden: Mapping[str, Mapping[str, int]], bars: Bars
) -> dict[str, dict[str, float | None]]:
    """Return the Jensen-Shannon distances between a run's examples and a golden set.

    Both are sorted into the bars of the run's histograms: each length up to 64 words is a bar of
    its own, so is each place and each number of masks up to 64.

    Args:
        golden: The golden set's histograms, as JSON.
        bars: The run's histograms.

    Returns:
        The distance of each facet, for each of `SPAN_METHODS` with examples.
    """
    wanted = from_json(golden)
    distances = {}
    for method in SPAN_METHODS:
        if any(bars.get(HISTOGRAM_NAMES["words"], {}).get(method, [])):
            distances[method] = {
                facet: jensen_shannon(
                    dict(enumerate(bars.get(name, {}).get(method, []))),
                    golden_bars(facet, getattr(wanted, facet)),
                )
                for facet, name in HISTOGRAM_NAMES.items()
            }
    return distances


def golden_bars(facet: str, histogram: Histogram) -> dict[int, int]:
    """Return how many values of a golden set are in each bar of the run's histogram."""
    of_run = HISTOGRAMS[HISTOGRAM_NAMES[facet]]
    step = 100 // POSITIONS if facet == "position" else 1
    bars: Counter[int] = Counter()
    for value, number in histogram.items():
        bars[int(of_run.bars_of(np.array([value * step]))[0])] += number
    return dict(bars)
