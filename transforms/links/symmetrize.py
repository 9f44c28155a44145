"""Turns LINKED rows into SYMMETRIZED rows: combines two sets of links."""

import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import directed_links_of, list_column
from pairweave.transforms.kernels.links import symmetrize as kernel
from pairweave.transforms.links.link_options import SymmetrizeConfig


def symmetrize(table: pa.Table, config: SymmetrizeConfig) -> pa.Table:
    """Turn LINKED rows into SYMMETRIZED rows, in the same order.

    The probability of a link is the mean of those of the two directions, where a direction without
    the link counts as 0.

    Args:
        table: Pairs with links in both directions (`transforms.schemas.LINKED`).
        config: The heuristic.

    Raises:
        WorkerError: The links of a pair are outside its tokens, not sorted, or given twice.
    """
    schemas.require(table, schemas.LINKED)
    forward, reverse = directed_links_of(table)
    joined = kernel.symmetrize(forward.links, reverse.links, kernel.HEURISTICS[config.heuristic])
    probability = kernel.mean_probabilities(joined, forward, reverse)
    fields = {"source": joined.sources, "target": joined.targets, "probability": probability}
    links = list_column(joined.offsets, fields, schemas.LINK_LIST)
    return table.drop_columns(["forward", "reverse"]).append_column(
        schemas.SYMMETRIZED.field("links"), links
    )
