"""Distribute a job's cores among its neural models."""

import dataclasses
from typing import Protocol, Self, TypeVar

from pairweave.pipelines.run.run import GraphT, Run


class Threaded(Protocol):
    """A reference to a model that can process several batches at once."""

    def with_threads(self, threads: int) -> Self:
        """Return a reference to the same model that processes up to ``threads`` batches at once."""
        ...


Model = TypeVar("Model", bound=Threaded)


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
    alone = options.workers // processes
    shared = options.workers // min(run.aligner.copies(options) or processes, processes)
    return dataclasses.replace(
        run,
        model=_with_threads(run.model, shared),
        second=_with_threads(run.second, alone),
        translator=_with_threads(run.translator, alone),
        scorer=_with_threads(run.scorer, alone),
        similarity=_with_threads(run.similarity, alone),
    )


def _with_threads(model: Model | None, threads: int) -> Model | None:
    return None if model is None else model.with_threads(threads)
