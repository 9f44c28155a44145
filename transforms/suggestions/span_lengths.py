"""How long masks are, where they stand and how many a sentence has: given or learnt from gold."""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.masks.masks import POSITIONS
from pairweave.transforms.storage.text_lines import read_text_lines
from pairweave.transforms.suggestions.suggestion_options import MOST_WORDS
from pairweave.transforms.text.tokens import TokenConfig, token_counts

MASK = "<MASK_REP>"
"""What stands in place of the span that a suggestion is for (WeTS)."""

SPAN_METHODS = ("random", "alignment")
"""The methods that mask a span, and not a whole sentence."""

FACETS = ("words", "position", "masks")
"""What is compared with a golden set: see `Histograms`."""

Histogram = Mapping[int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Histograms:
    """What a set of examples looks like.

    Attributes:
        words: Examples by the length of the suggestion in tokens, from 1.
        position: Examples by the bin of their place: the tokens before the mask over those before
            and behind it, in `POSITIONS` bins (`position_bin`).
        masks: Sentences by how many examples they have, from 1.
    """

    words: Histogram
    position: Histogram
    masks: Histogram

    def as_json(self) -> dict[str, dict[str, int]]:
        """Return the histograms as a plan holds them."""
        return {
            name: {str(key): number for key, number in sorted(getattr(self, name).items())}
            for name in FACETS
        }


def from_json(found: Mapping[str, Mapping[str, int]]) -> Histograms:
    """Return histograms that a plan holds."""
    return Histograms(
        **{name: {int(key): number for key, number in found[name].items()} for name in FACETS}
    )


def position_bin(before: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """Return in which of `POSITIONS` bins masks stand, int64 ``[mask]``.

    Args:
        before: Tokens before each mask.
        behind: Tokens behind it.

    >>> position_bin(np.array([0, 5, 9, 0]), np.array([9, 5, 0, 0]))
    array([ 0, 10, 19,  0])
    """
    around = np.maximum(1, before + behind)
    return np.minimum(POSITIONS - 1, before * POSITIONS // around)


def length_weights(kind: str, mean_words: float, max_words: int) -> np.ndarray:
    """Return the cumulative weights of lengths 1, 2, … ``max_words``, float64 ``[length]``.

    Args:
        kind: ``geometric``: after each token the span ends with probability ``1 / mean_words``;
            ``uniform``: every length is as likely.
        mean_words: Mean of the geometric distribution before it is cut off.
        max_words: Longest span.

    """
    if kind == "uniform":
        return np.arange(1, max_words + 1, dtype=np.float64)
    # By repeated multiplication and addition, which round alike on every machine.
    going_on = 1.0 - 1.0 / mean_words
    weights = []
    weight, total = 1.0, 0.0
    for _ in range(max_words):
        total += weight
        weights.append(total)
        weight *= going_on
    return np.array(weights)


def cumulative(histogram: Histogram, first: int, size: int) -> np.ndarray:
    """Return the cumulative weights of ``first``, ``first + 1``, …, float64 ``[size]``."""
    counts = [histogram.get(first + place, 0) for place in range(size)]
    return np.cumsum(np.array(counts, dtype=np.float64))


def read_golden(paths: Sequence[str], language: str | None = None) -> Histograms:
    """Learn from a golden set in WeTS' form how long masks are, where they stand and how many.

    Args:
        paths: The masked translations (``.mask``) and the suggestions (``.tgt``), line by line,
            and, as a third or in any order by their ending, the sources (``.src``): examples of
            one source are masks of one sentence. Without them the number of masks is that of
            ``<MASK_REP>`` in a line. Each may be ``.gz`` or ``.zst``.
        language: BCP 47 tag of the translations.

    Raises:
        ConfigError: The files are not such a set.
        InputError: A file is not there, or is not UTF-8 text.
    """
    sides = _sides(paths)
    lines = {side: read_text_lines(path) for side, path in sides.items()}
    sizes = {side: len(found) for side, found in lines.items()}
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
        words.append(lines["tgt"][number])
        masks[lines["src"][number] if "src" in lines else str(number)] += 1
    counts = [
        token_counts(pa.array(texts, pa.string()), TokenConfig(), language)[0]
        for texts in (before, behind, words)
    ]
    lengths = Counter(counts[2][counts[2] > 0].tolist())
    if not lengths or max(lengths) > MOST_WORDS:
        raise ConfigError(
            f"{sides['tgt']}: expected suggestions of 1 to {MOST_WORDS} words, "
            f"found {max(lengths, default=0)} as the longest"
        )
    places = Counter(position_bin(counts[0], counts[1]).tolist())
    return Histograms(lengths, places, Counter(masks.values()))


def _sides(paths: Sequence[str]) -> dict[str, str]:
    sides: dict[str, str] = {}
    for path in paths:
        ending = path.removesuffix(".gz").removesuffix(".zst").rpartition(".")[2]
        if ending not in ("src", "mask", "tgt") or ending in sides:
            raise ConfigError(
                f"fit_lengths {path}: expected one .mask and one .tgt file, and a .src file if "
                "several examples share a sentence"
            )
        sides[ending] = path
    for ending in ("mask", "tgt"):
        if ending not in sides:
            raise ConfigError(f"fit_lengths: the .{ending} file of the golden set is missing")
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


def count_names(method: str) -> dict[str, str]:
    """Return how a receipt's counts of each facet are called, with ``{}`` for the number."""
    return {
        "words": f"{method} suggestions with {{}} words",
        "position": f"{method} masks with {{}} percent of the other words before them",
        "masks": f"sentences with {{}} {method} masks",
    }


def histograms_of(counts: Mapping[str, int], method: str) -> Histograms:
    """Return what the counts of a run say of one method's examples."""
    found: dict[str, dict[int, int]] = {name: {} for name in FACETS}
    for facet, pattern in count_names(method).items():
        head, tail = pattern.split("{}")
        for name, number in counts.items():
            middle = name[len(head) : len(name) - len(tail)]
            if name.startswith(head) and name.endswith(tail) and middle.isdigit():
                key = int(middle)
                found[facet][key * POSITIONS // 100 if facet == "position" else key] = number
    return Histograms(**found)


def compare(
    golden: Mapping[str, Mapping[str, int]], counts: Mapping[str, int]
) -> dict[str, dict[str, float | None]]:
    """Return the Jensen-Shannon distances of a run's examples and a golden set.

    Args:
        golden: The golden set's histograms, as JSON.
        counts: The run's counts.

    Returns:
        For each of `SPAN_METHODS` with examples the distance of each facet.
    """
    wanted = from_json(golden)
    distances = {}
    for method in SPAN_METHODS:
        made = histograms_of(counts, method)
        if made.words:
            distances[method] = {
                facet: jensen_shannon(getattr(made, facet), getattr(wanted, facet))
                for facet in FACETS
            }
    return distances
