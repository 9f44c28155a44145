"""A second aligner: its links are combined with those of the first, and agreement is counted."""

import numpy as np
import pyarrow as pa

from pairweave.models.aligner import LoadableReference
from pairweave.pipelines.steps.steps import MapWholeShards
from pairweave.transforms import progress_marks, schemas
from pairweave.transforms.links.aligner_agreement import Agreement
from pairweave.transforms.links.combine import combine
from pairweave.transforms.links.link_options import Heuristic, SymmetrizeConfig
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.shards.shard import Shard


class AlignWithSecond(MapWholeShards):
    """Combines the links of every shard with those of a second aligner."""

    def __init__(self, reference: LoadableReference, heuristic: Heuristic, way: str) -> None:
        """Set the arguments of `align_with_second`."""
        super().__init__(align_with_second, reference=reference, heuristic=heuristic, way=way)


def align_with_second(
    shard: Shard, reference: LoadableReference, heuristic: Heuristic, way: str
) -> Shard:
    """Align a shard's pairs by a second aligner, and combine the links of both.

    Args:
        shard: A shard whose working table is `transforms.schemas.SYMMETRIZED`.
        reference: The second aligner.
        heuristic: Heuristic that symmetrizes its links.
        way: ``intersection`` or ``union``.

    Returns:
        The shard with the combined links, and in its notes the agreement of both aligners. Pairs
        that the second aligner cannot align are rejected.
    """
    first = shard.table
    aligner = reference.load()
    with progress_marks.aligning(first.num_rows):
        linked, given_up = aligner.align_or_reject(first.select(schemas.TOKENS.names))
    if given_up:
        stay = np.ones(first.num_rows, np.bool_)
        stay[list(given_up)] = False
        first = first.filter(pa.array(stay))
        shard = shard.give_up(given_up)
    second = symmetrize(linked, SymmetrizeConfig(heuristic=heuristic))
    joined, counts = combine(first, second, way)
    agreement = Agreement(*(int(number) for number in counts.sum(axis=0)))
    return shard.with_table(joined).with_notes(agreement=agreement)
