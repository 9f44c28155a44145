"""The links of two aligners of the same tokens, by the product of their posteriors."""

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow import flat_columns
from pairweave.transforms.errors import WorkerError

MIN_POSTERIOR = 1e-4
"""Minimum posterior by which an aligner does not refuse a link (``tests/benchmarks/README.md``)."""

SUREST = 1 - 1e-6
"""No posterior counts as more than this, so that a posterior rounded to 1 can be outvoted."""


def pool(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Pool two posteriors of each link by their logarithms, with equal weights.

    Of the posteriors ``a`` and ``b`` (Genest and Zidek 1986, section 3.3) this is the geometric
    mean, normalized over a link and its absence:
    ``sqrt(a * b) / (sqrt(a * b) + sqrt((1 - a) * (1 - b)))``. It is at least 1/2 exactly where
    ``a + b >= 1``, and 0 where one of them is 0.

    >>> pool(np.array([0.5, 0.9, 0.2]), np.array([0.5, 0.9, 0.8])).round(2).tolist()
    [0.5, 0.9, 0.5]
    """
    a, b = np.minimum(one, SUREST), np.minimum(other, SUREST)
    likely = np.sqrt(a * b)
    return likely / (likely + np.sqrt((1 - a) * (1 - b)))


def multiply_posteriors(first: pa.Table, second: pa.Table, threshold: float) -> pa.Table:
    """Multiply the posteriors of two aligners, in each direction, and keep the likely links.

    The posteriors of a link are pooled (`pool`). A link that either aligner lacks is dropped.

    Args:
        first: LINKED rows, with every link that the first aligner does not refuse.
        second: The same pairs in the same order, with another aligner's links.
        threshold: Minimum pooled posterior of a link.

    Returns:
        The rows, with the links of both directions and their pooled posteriors.

    Raises:
        WorkerError: The tables hold other pairs or other tokens, or the links of a pair are outside
            its tokens, not sorted, or given twice.
    """
    for table in (first, second):
        schemas.require(table, schemas.LINKED)
    for name in ("id", "source_tokens", "target_tokens"):
        if not first[name].equals(second[name]):
            raise WorkerError(f"two aligners' tables differ in column {name}")
    product = first
    for name in ("forward", "reverse"):
        column = _multiply(first, second, name, threshold)
        place = product.schema.get_field_index(name)
        product = product.set_column(place, schemas.LINKED.field(name), column)
    return product


def _multiply(first: pa.Table, second: pa.Table, name: str, threshold: float) -> pa.Array:
    """Return the column of one direction."""
    (keys, one), (others, other) = (_links_of(table, name) for table in (first, second))
    shared, at, by = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    pooled = pool(one[at], other[by])
    kept = pooled >= threshold
    shared = shared[kept]
    rows = np.arange(first.num_rows + 1, dtype=np.int64)
    fields: dict[str, np.ndarray] = {
        "source": ((shared >> 16) & 0xFFFF).astype(np.int16),
        "target": (shared & 0xFFFF).astype(np.int16),
        "probability": pooled[kept].astype(np.float32),
    }
    return flat_columns.list_column(np.searchsorted(shared, rows << 32), fields, schemas.LINK_LIST)


def _links_of(table: pa.Table, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (row, source, target) of each link as one number, and its posterior, float64."""
    offsets, fields = flat_columns.links_of(table, name)
    part = slice(offsets[0], offsets[-1])
    rows = np.repeat(np.arange(table.num_rows, dtype=np.int64), np.diff(offsets))
    source, target = (fields[side][part].astype(np.int64) for side in ("source", "target"))
    return (rows << 32) | (source << 16) | target, fields["probability"][part].astype(np.float64)
