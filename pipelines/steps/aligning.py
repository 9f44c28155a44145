"""Aligning the tokens of shards; each process loads the aligner once."""

import pyarrow as pa

from pairweave.models.aligner import NOTHING, LoadableReference
from pairweave.pipelines.steps.steps import timed
from pairweave.transforms import progress_marks, schemas
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.shards.shard import Shard


def align_table(shard: Shard, reference: LoadableReference) -> Shard:
    """Align a shard's pairs; kept rows, rejected rows and working table stay consistent."""
    if reference.digest == NOTHING:
        return shard.with_table(no_links(shard.table))
    aligner = reference.load()
    rows = shard.table.num_rows
    with timed(rows), progress_marks.aligning(rows):
        linked, given_up = aligner.align_or_reject(shard.table)
    return shard.give_up(given_up).with_table(linked)


def no_links(table: pa.Table) -> pa.Table:
    """Return the LINKED rows of a shard without pairs, as when nothing passed the screen.

    Raises:
        WorkerError: The shard has pairs.
    """
    if table.num_rows:
        raise WorkerError(f"{table.num_rows} pairs to align, but there were none to train on")
    return schemas.LINKED.empty_table()
