"""The default score: the probability that a pair is a translation, by logistic regression.

It needs no download: its features come from the statistical aligner and the rules. The weights
that ship were fitted on parallel text damaged by a script (``tests/makers/damage.py``);
`fit_weights` fits others on manually labelled pairs.
"""

import dataclasses
import functools
import hashlib
from importlib import resources
from typing import Annotated, ClassVar, Self

import numpy as np
import orjson
import pydantic
from pydantic import Field

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.evidence import EVIDENCE, Values, evidence_of
from pairweave.transforms.kernels.filtering.logistic import probabilities
from pairweave.transforms.storage import files
from pairweave.transforms.storage.json_files import JsonFile, parse_model

FORMAT = 1
_SHIPPED = "weights.json"

_PRIOR = 1.0
"""Strength of the normal prior on the weights of features with standard deviation 1."""

_MAX_ROUNDS = 50
_CONVERGED = 1e-9


@dataclasses.dataclass(frozen=True)
class Weights:
    """A fitted logistic regression.

    Attributes:
        weights: Weight of each feature of `EVIDENCE`.
        bias: Constant added to the weighted sum.
    """

    weights: tuple[float, ...]
    bias: float

    def to_json(self) -> bytes:
        """Return the file that `read_weights` reads."""
        named = dict(zip(EVIDENCE, self.weights, strict=True))
        document = {"format": FORMAT, "bias": self.bias, "weights": named}
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of the file."""
        return hashlib.sha256(self.to_json()).hexdigest()


def score(values: Values, weights: Weights) -> np.ndarray:
    """Return the scores of pairs, float32 ``[pair]`` in [0, 1]; higher is better."""
    return probabilities(evidence_of(values), np.array(weights.weights), weights.bias)


def fit_weights(values: Values, good: np.ndarray) -> Weights:
    """Fit weights to labelled pairs, by Newton's method with a normal prior on the weights.

    Args:
        values: As for `evidence.evidence_of`.
        good: Which pairs are translations, bool ``[pair]``.

    Raises:
        ConfigError: All labels are equal.
    """
    if good.all() or not good.any():
        raise ConfigError(f"all {len(good)} pairs have the same label; give good and bad pairs")
    evidence = evidence_of(values).astype(np.float64)
    mean, deviation = evidence.mean(axis=1), evidence.std(axis=1)
    deviation[deviation == 0] = 1.0
    scaled = (evidence - mean[:, None]) / deviation[:, None]
    design = np.concatenate([np.ones((1, len(good))), scaled])
    prior = np.full(len(design), _PRIOR)
    prior[0] = 0.0
    solution = np.zeros(len(design))
    for _ in range(_MAX_ROUNDS):
        likely = 1.0 / (1.0 + np.exp(-(solution @ design)))
        slope = design @ (good - likely) - prior * solution
        curve = (design * (likely * (1.0 - likely))) @ design.T + np.diag(prior)
        step = np.linalg.solve(curve, slope)
        solution = solution + step
        if np.abs(step).max() < _CONVERGED:
            break
    weights = solution[1:] / deviation
    bias = solution[0] - float(weights @ mean)
    return Weights(tuple(float(f"{weight:.6g}") for weight in weights), float(f"{bias:.6g}"))


def read_weights(path: str | None = None) -> Weights:
    """Read weights; a file is read again each time, as it may have changed.

    Args:
        path: A file written by `Weights.to_json`; None for the weights that ship.

    Raises:
        ConfigError: It is not such a file.
    """
    if path is None:
        return _shipped()
    if not files.exists(path):
        raise ConfigError(f"--score_weights {path}: no such file; filter_fit makes one")
    return _parse(f"--score_weights {path}", files.read_bytes(path))


@functools.cache
def _shipped() -> Weights:
    return _parse(_SHIPPED, (resources.files(__package__) / _SHIPPED).read_bytes())


def _parse(name: str, data: bytes) -> Weights:
    try:
        file = parse_model(data, name, _WeightsFile)
    except ConfigError as error:
        cause = str(error).removeprefix(f"{name}: ").removesuffix(f"; {_WeightsFile.ADVICE}")
        raise ConfigError(
            f"{name}: is not a file of weights ({cause}); {_WeightsFile.ADVICE}"
        ) from error
    return Weights(tuple(file.weights[column] for column in EVIDENCE), file.bias)


class _WeightsFile(JsonFile):
    """The content of a file of weights."""

    ADVICE: ClassVar[str] = "make one with filter_fit"

    format: int
    bias: Annotated[float, Field(allow_inf_nan=False)]
    weights: dict[str, Annotated[float, Field(allow_inf_nan=False)]]

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.format != FORMAT:
            raise ValueError(f"format {self.format}, expected {FORMAT}")
        if set(self.weights) != set(EVIDENCE):
            listed = ", ".join(self.weights)
            raise ValueError(f"weights of {listed}, expected {', '.join(EVIDENCE)}")
        return self
