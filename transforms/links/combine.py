"""Two aligners at once: the intersection or union of their links, and how far they agree."""

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow import flat_columns
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.kernels.links.combine import combine_links

WAYS = ("intersection", "union")


def combine(first: pa.Table, second: pa.Table, way: str) -> tuple[pa.Table, np.ndarray]:
    """Combine the symmetrized links of two aligners.

    Args:
        first: SYMMETRIZED rows.
        second: The same pairs in the same order, with another aligner's links.
        way: ``intersection`` or ``union``.

    Returns:
        The rows with the combined links; and for each row the links of the first aligner, of the
        second and of both, int64 ``[row, 3]`` (`transforms.links.aligner_agreement.Agreement` holds
        their sums).

    Raises:
        ConfigError: There is no such way.
        WorkerError: The tables differ in their pairs or tokens.
    """
    if way not in WAYS:
        raise ConfigError(f"links are combined by {' or '.join(WAYS)}, got {way!r}")
    schemas.require(first, schemas.SYMMETRIZED)
    schemas.require(second, schemas.SYMMETRIZED)
    for name in ("id", "source_tokens", "target_tokens"):
        if not first[name].equals(second[name]):
            raise WorkerError(f"two aligners' tables differ in column {name}")
    one, other = (flat_columns.weighted_links_of(table, "links") for table in (first, second))
    *links, common = combine_links(one, other, way == "union")
    names = ("source", "target", "probability")
    column = flat_columns.list_column(
        links[0], dict(zip(names, links[1:], strict=True)), schemas.SYMMETRIZED.field("links").type
    )
    place = first.schema.get_field_index("links")
    combined = first.set_column(place, schemas.SYMMETRIZED.field("links"), column)
    return combined, np.stack([np.diff(one.offsets), np.diff(other.offsets), common], axis=1)
