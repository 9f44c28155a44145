"""Corpora mixed by weight and temperature.

A pair is taken if the hash of its id is below the share of its corpus. A smaller share is therefore
a subset of a larger one, and a later version of the table affects the pairs of an earlier one only
through the shares.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.ids import pair_keys
from pairweave.transforms.kernels import sampling


@dataclasses.dataclass(frozen=True)
class Mixture:
    """How much of each corpus to take.

    Attributes:
        weights: Weight of each corpus whose weight is not 1.
        temperature: Corpora are taken in proportion to weight times pairs to the power of
            1 / temperature (Arivazhagan et al. 2019, section 4.2): 1 keeps their sizes, a higher
            one evens them out.
        seed: Seed of the draws.
    """

    weights: Mapping[str, float]
    temperature: float
    seed: int

    def shares(self, sizes: Mapping[str, int]) -> dict[str, float]:
        """Return the share of each corpus to take; the largest share is 1.

        >>> Mixture({"b": 2.0}, 1.0, 1).shares({"a": 10, "b": 30})
        {'a': 0.5, 'b': 1.0}

        Args:
            sizes: Number of pairs of each corpus.

        Raises:
            ConfigError: A weight names a corpus that the table does not have, or all are 0.
        """
        unknown = sorted(self.weights.keys() - sizes.keys())
        if unknown:
            raise ConfigError(
                f"--weights {unknown[0]}: the table has {', '.join(sorted(sizes)) or 'no corpora'}"
            )
        if not sizes:
            return {}
        parts = {
            name: self.weights.get(name, 1.0) * size ** (1 / self.temperature) / size
            for name, size in sizes.items()
        }
        most = max(parts.values())
        if not most:
            raise ConfigError("--weights: all are 0, so nothing would be exported")
        return {name: parts[name] / most for name in sorted(parts)}

    def take(self, rows: pa.Table, shares: Mapping[str, float]) -> pa.Table:
        """Return the rows whose pairs are taken.

        Args:
            rows: Rows with the columns ``id`` and ``corpus``.
            shares: The share of each of their corpora (`shares`).
        """
        keys = pair_keys(rows.column("id"))
        numbers = sampling.units(np.uint64(self.seed), keys, sampling.STEP_EXPORT)
        names = pa.array(list(shares), pa.string())
        place = pc.index_in(rows.column("corpus"), names).to_numpy()
        limits = np.array(list(shares.values()))[place] if len(place) else np.zeros(0)
        return rows.filter(pa.array(numbers < limits))


def read_weights(words: tuple[str, ...]) -> dict[str, float]:
    """Return the weights in words such as ``news=2``.

    Raises:
        ConfigError: A word is not a corpus and a number of 0 or more.
    """
    weights = {}
    for word in words:
        name, _, text = word.rpartition("=")
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not name or not 0 <= value < float("inf"):
            raise ConfigError(f"--weights {word}: expected CORPUS=NUMBER, such as news=2")
        weights[name] = value
    return weights


def pairs_by_corpus(rows: pa.Table) -> dict[str, int]:
    """Return the number of different pairs of each corpus (columns ``id`` and ``corpus``)."""
    pairs = rows.select(["id", "corpus"]).group_by(["id", "corpus"]).aggregate([])
    counts = pairs.column("corpus").value_counts().to_pylist()
    return {item["values"]: item["counts"] for item in counts}
