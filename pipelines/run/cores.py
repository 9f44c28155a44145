"""How the cores that a job was given are shared by the neural models that compute on them."""

import dataclasses
from typing import Any

from pairweave.models.encoder.encoder_store import EncoderReference
from pairweave.models.translators.translator_store import TranslatorReference
from pairweave.pipelines.options.base import AlignerSettings, JobOptions
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.run.scorer_choice import PairScorer


def share_cores(run: Run) -> Run:
    """Give each copy of a neural model the cores that no other process of the run uses.

    A shard is the work of one process. Where there are fewer shards than workers, or where workers
    share copies of an encoder, a copy works on several batches of its shard at once.
    """
    options = run.options
    # Prism's only process has many threads, which wait for each other at a model.
    processes = 1 if options.engine == "prism" else min(options.workers, run.shards)
    alone = options.workers // processes
    shared = options.workers // min(_copies(options) or processes, processes)
    return dataclasses.replace(
        run,
        model=_with_threads(run.model, shared),
        second=_with_threads(run.second, alone),
        translator=_with_threads(run.translator, alone),
        scorer=_with_threads(run.scorer, alone),
    )


def _copies(options: JobOptions) -> int | None:
    """Return how many copies of the encoder the workers of a machine share, if any."""
    if not isinstance(options, AlignerSettings):
        return None
    return options.model_copies or (1 if options.large_model else None)


def _with_threads(model: Any, threads: int) -> Any:  # noqa: ANN401 - any of a run's models
    """Return a reference that says how many batches its model works on at once."""
    if isinstance(model, EncoderReference | TranslatorReference):
        return dataclasses.replace(model, threads=threads)
    if isinstance(model, PairScorer):
        sides = (_with_threads(side, threads) for side in (model.forward, model.reverse))
        return PairScorer(*sides)
    return model
