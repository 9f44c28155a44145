"""Weights of the evidence for the places of tags: the shipped weights, and weights in a file."""

import bisect
import dataclasses
import functools
from collections.abc import Mapping, Sequence

import numpy as np
import orjson

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.links.projection import Weights
from pairweave.transforms.kernels.links.projection_evidence import (
    PLACE_EVIDENCE,
    SPAN_EVIDENCE,
    TOKEN_EVIDENCE,
)
from pairweave.transforms.kernels.links.projection_points import POINT_EVIDENCE
from pairweave.transforms.projection.shipped_weights import SHIPPED

FORMAT = "pairweave projection weights 1"

SPAN_NAMES = (
    *TOKEN_EVIDENCE,
    *(f"opening_{name}" for name in PLACE_EVIDENCE),
    *(f"closing_{name}" for name in PLACE_EVIDENCE),
    *(f"whole_{name}" for name in SPAN_EVIDENCE),
)

MOST = 1_000_000
"""Largest weight, so that no sum of evidence overflows."""


@dataclasses.dataclass(frozen=True, slots=True)
class ProjectionWeights:
    """Weights, and the confidence that a margin gives.

    Attributes:
        spans: Weight of each of `SPAN_NAMES`.
        points: Weight of each of `POINT_EVIDENCE`.
        margins: Ascending margins, each the least to which a share applies.
        shares: Share of the tags with such a margin that are where people put them, in thousandths;
            one more than ``margins``, the first for margins below all of these.
    """

    spans: tuple[int, ...]
    points: tuple[int, ...]
    margins: tuple[int, ...]
    shares: tuple[int, ...]

    def arrays(self) -> Weights:
        """Return the weights for kernels."""
        return _arrays(self.spans, self.points)

    def confidence(self, margin: int) -> float:
        """Return the share of tags with this margin that are right, in [0, 1]."""
        return self.shares[bisect.bisect_right(self.margins, margin)] / 1_000

    def to_json(self) -> bytes:
        """Return the weights in the form of a file."""
        facts = {
            "format": FORMAT,
            "spans": dict(zip(SPAN_NAMES, self.spans, strict=True)),
            "points": dict(zip(POINT_EVIDENCE, self.points, strict=True)),
            "margins": self.margins,
            "shares": self.shares,
        }
        return orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n"


@functools.cache
def _arrays(spans: tuple[int, ...], points: tuple[int, ...]) -> Weights:
    return Weights(np.array(spans, np.int64), np.array(points, np.int64))


def read_weights(content: bytes, name: str) -> ProjectionWeights:
    """Read the weights of a file.

    Args:
        content: The file's bytes.
        name: The file's name, for messages.

    Raises:
        ConfigError: It contains no weights, or weights of another version.
    """
    try:
        facts = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ConfigError(
            f"{name}: not JSON ({error}); give a file of tags fit_projection"
        ) from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ConfigError(
            f"{name}: not in the format {FORMAT!r}; make it again with tags fit_projection"
        )
    return _checked(facts, name)


@functools.cache
def shipped_weights() -> ProjectionWeights:
    """Return the weights that come with the package."""
    return _checked(SHIPPED, "shipped weights")


def _checked(facts: Mapping[str, object], name: str) -> ProjectionWeights:
    weights = ProjectionWeights(
        _named(facts, "spans", SPAN_NAMES, name),
        _named(facts, "points", POINT_EVIDENCE, name),
        _numbers(facts, "margins", 1 << 50, name),
        _numbers(facts, "shares", 1_000, name),
    )
    rising = sorted(set(weights.margins)) == list(weights.margins)
    if not rising or len(weights.shares) != len(weights.margins) + 1 or min(weights.shares) < 0:
        raise ConfigError(
            f"{name}: margins must ascend, and there must be one more share than margins, in "
            "thousandths; make it again with tags fit_projection"
        )
    return weights


def _named(
    facts: Mapping[str, object], key: str, names: Sequence[str], name: str
) -> tuple[int, ...]:
    values = facts.get(key)
    if not isinstance(values, Mapping) or values.keys() != set(names):
        raise ConfigError(
            f"{name}: {key} has other names than this version's; make it again with tags "
            "fit_projection"
        )
    return _whole([values[weight] for weight in names], key, MOST, name)


def _numbers(facts: Mapping[str, object], key: str, most: int, name: str) -> tuple[int, ...]:
    values = facts.get(key)
    if not isinstance(values, list | tuple):
        raise ConfigError(f"{name}: {key} must be a list of whole numbers")
    return _whole(values, key, most, name)


def _whole(values: Sequence[object], key: str, most: int, name: str) -> tuple[int, ...]:
    numbers = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > most:
            raise ConfigError(f"{name}: {key} has {value!r}; expected whole numbers up to {most:,}")
        numbers.append(value)
    return tuple(numbers)
