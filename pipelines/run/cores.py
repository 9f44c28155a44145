"""How the cores that a job was given are shared by the neural models that compute on them."""

import dataclasses
from typing import Protocol, Self, TypeVar

from pairweave.pipelines.run.run import Run


class Threaded(Protocol):
    """A reference to a model that may work on several batches at once."""

    def with_threads(self, threads: int) -> Self:
        """Return a reference to the same model that works on so many batches at once."""
        ...


Model = TypeVar("Model", bound=Threaded)


def share_cores(run: Run) -> Run:
    """Give each copy of a neural model the cores that no other process of the run uses.

    A shard is the work of one process. Where there are fewer shards than workers, or where workers
    share copies of an encoder, a copy works on several batches of its shard at once.
    """
    options = run.options
    # Prism's only process has many threads, which wait for each other at a model.
    processes = 1 if options.engine == "prism" else min(options.workers, run.shards)
    alone = options.workers // processes
    shared = options.workers // min(run.aligner.copies(options) or processes, processes)
    return dataclasses.replace(
        run,
        model=_with_threads(run.model, shared),
        second=_with_threads(run.second, alone),
        translator=_with_threads(run.translator, alone),
        scorer=_with_threads(run.scorer, alone),
    )


def _with_threads(model: Model | None, threads: int) -> Model | None:
    return None if model is None else model.with_threads(threads)
