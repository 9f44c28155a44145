"""Distribute a job's cores among its neural models."""

import dataclasses

from pairweave.pipelines.run.run import GraphT, Run


def share_cores(run: Run[GraphT]) -> Run[GraphT]:
    """Give each copy of a neural model its share of the cores.

    One process handles a shard. If there are fewer shards than workers, or if workers share copies
    of an encoder, a copy processes several batches at once.
    """
    options = run.options
    if options.engine == "dataflow":
        return run  # Dataflow's workers are other machines, with one process per core.
    # Prism has one process, whose threads take turns using a model.
    processes = 1 if options.engine == "prism" else min(options.workers, run.shards)
    settled = {
        name: part.with_threads(options.workers // min(part.copies or processes, processes))
        for name, part in run.settled.items()
    }
    return dataclasses.replace(run, settled=settled)
