"""Links between tokens with the probabilities of both directions of an aligner."""

import dataclasses
import itertools
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import links_of
from pairweave.transforms.links.link_options import Heuristic, SymmetrizeConfig
from pairweave.transforms.links.product import pool
from pairweave.transforms.links.symmetrize import symmetrize

SOFT_THRESHOLD = 0.05
"""Minimum posterior of the hmm links by which the rules ``best`` place tags."""


@dataclasses.dataclass(frozen=True, slots=True)
class SoftLinks:
    """The links of one pair.

    Attributes:
        source: Source tokens, int64 ``[link]``; no link occurs twice.
        target: Target tokens, int64 ``[link]``.
        forward: Probability of each, in [0, 1], in the direction that explains the target,
            float64; 0 where this direction has no such link.
        reverse: The same in the direction that explains the source.
    """

    source: np.ndarray
    target: np.ndarray
    forward: np.ndarray
    reverse: np.ndarray

    @classmethod
    def certain(cls, links: Iterable[tuple[int, int]]) -> "SoftLinks":
        """Return links that are certain in both directions, each link once.

        >>> SoftLinks.certain([(1, 0), (0, 2), (1, 0)]).target.tolist()
        [2, 0]
        """
        pairs = np.array(sorted(set(links)), np.int64).reshape(-1, 2)
        ones = np.ones(len(pairs))
        return cls(pairs[:, 0].copy(), pairs[:, 1].copy(), ones, ones)


def soften(table: pa.Table) -> list[SoftLinks]:
    """Return the links of both directions of LINKED rows, with their probabilities.

    Raises:
        WorkerError: The links of a pair are outside its tokens, not sorted, or given twice.
    """
    keys, probabilities = [], []
    for name in ("forward", "reverse"):
        offsets, fields = links_of(table, name)
        keys.append(_keys(offsets, fields))
        probabilities.append(fields["probability"][offsets[0] : offsets[-1]].astype(np.float64))
    joined = np.union1d(*keys)
    sides = []
    for side_keys, probability in zip(keys, probabilities, strict=True):
        values = np.zeros(len(joined))
        values[np.searchsorted(joined, side_keys)] = probability
        sides.append(values)
    return _split(joined, sides[0], sides[1], table.num_rows)


def confirm(first: SoftLinks, second: SoftLinks, least: float) -> SoftLinks:
    """Return the links of an aligner after a second aligner has confirmed or doubted them.

    The probability of a link is the mean of two values: the first aligner's probability, if it is
    `least` or more, and the product of both aligners (`transforms.links.product.pool`), in which
    each aligner refuses links that it does not have. So a link that both make roughly keeps its
    probability; a link that the second lacks keeps half of it; and a link that the first is unsure
    of gains probability where the second is sure.

    Args:
        first: The links of an aligner, including unlikely links.
        second: The links of another aligner, between the same tokens.
        least: Minimum probability of a link that only the first has; the result must reach half of
            this.

    >>> links = SoftLinks.certain([(0, 0), (1, 1)]), SoftLinks.certain([(1, 1), (2, 0)])
    >>> confirm(*links, 0.05).forward.round(2).tolist()
    [0.5, 1.0]
    """
    keys, others = (
        (links.source.astype(np.int64) << 32) | links.target for links in (first, second)
    )
    _, at, by = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    sides = []
    for own, other in ((first.forward, second.forward), (first.reverse, second.reverse)):
        pooled = np.zeros(len(own))
        pooled[at] = pool(own[at], other[by])
        sides.append((np.where(own >= least, own, 0) + pooled) / 2)
    kept = np.maximum(*sides) >= least / 2
    return SoftLinks(first.source[kept], first.target[kept], sides[0][kept], sides[1][kept])


def harden(table: pa.Table, heuristic: Heuristic) -> list[SoftLinks]:
    """Return the symmetrized links of LINKED rows, as certain links.

    Raises:
        WorkerError: See `soften`.
    """
    joined = symmetrize(table, SymmetrizeConfig(heuristic=heuristic))
    keys = _keys(*links_of(joined, "links"))
    ones = np.ones(len(keys))
    return _split(keys, ones, ones, table.num_rows)


def _keys(offsets: np.ndarray, fields: dict[str, np.ndarray]) -> np.ndarray:
    """Return (row, source, target) of each link as one number."""
    part = slice(offsets[0], offsets[-1])
    rows = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    source, target = (fields[name][part].astype(np.int64) for name in ("source", "target"))
    return (rows << 32) | (source << 16) | target


def _split(
    keys: np.ndarray, forward: np.ndarray, reverse: np.ndarray, rows: int
) -> list[SoftLinks]:
    source, target = (keys >> 16) & 0xFFFF, keys & 0xFFFF
    bounds = np.searchsorted(keys, np.arange(rows + 1, dtype=np.int64) << 32).tolist()
    return [
        SoftLinks(source[a:b], target[a:b], forward[a:b], reverse[a:b])
        for a, b in itertools.pairwise(bounds)
    ]
