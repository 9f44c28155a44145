"""A rule of ``filter``, on capital letters, and a word aligner, by place."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Links = list[list[tuple[int, int, float]]]


class Shouting:
    """The difference between the shares of capitals in the letters of both sides, from 0 to 1.

    Letters without case, such as those of Chinese, do not count; a side without others has 0.
    """

    about = "difference between the sides' shares of capital letters"
    limit = 0.5
    least = False

    def measure(self, pairs: pa.Table) -> np.ndarray:
        """Return the difference for each pair, float32 ``[pair]``."""
        source, target = (_capitals(pairs.column(side)) for side in ("source", "target"))
        return np.abs(source - target)


def _capitals(texts: pa.ChunkedArray) -> np.ndarray:
    """Return the share of capitals in the letters of each text, float32 ``[text]``."""
    upper, lower = (
        pc.count_substring_regex(texts, pattern).to_numpy() for pattern in (r"\p{Lu}", r"\p{Ll}")
    )
    return (upper / np.maximum(upper + lower, 1)).astype(np.float32)


class Diagonal:
    """Links each token with the one in the same place of the other side.

    The place is relative to the length, and the probability is less the further apart both are.
    """

    about = "by relative place (no model)"

    def align(self, pairs: pa.Table) -> tuple[Links, Links]:
        """Return the links of both directions, as (source, target, probability)."""
        sides = [pairs.column(name).to_pylist() for name in ("source_tokens", "target_tokens")]
        forward = [_nearest(source, target) for source, target in zip(*sides, strict=True)]
        reverse = [
            [(there, here, probability) for here, there, probability in _nearest(target, source)]
            for source, target in zip(*sides, strict=True)
        ]
        return forward, reverse


def _nearest(tokens: list[str], others: list[str]) -> list[tuple[int, int, float]]:
    """Return for each token the one of the other side at the nearest relative place."""
    if not others:
        return []
    places = [number * len(others) / len(tokens) for number in range(len(tokens))]
    return [(number, int(place), 1 - place % 1 / 2) for number, place in enumerate(places)]


SHOUTING = Shouting()
DIAGONAL = Diagonal()
