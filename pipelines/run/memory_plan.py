"""The memory that a run will need, and the number of workers that fit its limit.

Nothing that determines an output byte is chosen here: shards, units and the sample of a fit follow
from the input and the options alone. With less memory, fewer workers run. If there is not enough
for one, the run is refused, and the message names the smallest ``--memory`` and options that lower
it.

The figures were measured on whole runs of `augment` (`tests/benchmarks/scale/README.md`).
"""

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path

from pairweave.pipelines.process import memory
from pairweave.pipelines.process.log import LOG
from pairweave.pipelines.process.memory import Limit, show_size
from pairweave.pipelines.run.run import GraphT, Run
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.shards.shuffle import BUFFER_BYTES

ALONE_BYTES = 600 << 20
"""Memory of a launcher that works itself, before the first row: libraries, kernels, plan."""

LAUNCHER_BYTES = 600 << 20
"""Memory of the launcher of several workers, including the process that forks them."""

WORKER_BYTES = 300 << 20
"""Memory of each of several workers, before its first row."""

SHARD_FACTOR = 16
"""Memory of a shard in its largest step, as a multiple of its text: tokens, links and phrases."""

FIT_FACTOR = 20
"""Memory of a fit, as a multiple of its sample's text: tokens and pairs of co-occurring words."""

FIRST_TEXT_FACTOR = 75
"""Further memory of a fit for the first text, in which most pairs of co-occurring words are new."""

FIRST_TEXT_BYTES = 320 << 20
"""Limit of this further memory. Fits of 1.3, 3.2, 6.9 and 16.8 MiB of text (English and German
news, captions and help) took 124, 267, 450 and 635 MiB."""

BUFFER_FACTOR = 3
"""Memory for splitting rows for the shuffle, as a multiple of the rows."""

MODEL_FACTOR = 2
"""Memory of a model, as a multiple of its files."""

BUNDLES = 256
"""Number of bundles in a stage of the local engine; a worker reads and splits the units of one."""


@dataclasses.dataclass(frozen=True)
class Need:
    """The memory that a run needs, in bytes.

    Attributes:
        shard: For the rows of a shard, in each worker.
        fit: For the fit, in one worker.
        models: For the given models, in each worker.
    """

    shard: int
    fit: int
    models: int

    def together(self, workers: int) -> int:
        """Return the memory that a launcher and this many workers need together."""
        own = LAUNCHER_BYTES + workers * WORKER_BYTES if workers > 1 else ALONE_BYTES
        return own + max(workers * (self.shard + self.models), self.fit)


def need_of(run: Run) -> Need:
    """Estimate the memory that a run needs."""
    text, rows = run.plan.text_bytes, max(run.plan.rows, 1)
    units = max(len(run.plan.units), 1)
    read = text / units * math.ceil(units / BUNDLES)
    split = BUFFER_FACTOR * min(read, BUFFER_BYTES)
    shard = SHARD_FACTOR * text / max(run.shards, 1)
    fit_pairs = 0 if run.fitting is None else run.fitting.pairs
    fit = fit_bytes(text * min(1.0, fit_pairs / rows))
    return Need(int(max(shard, split)), fit, MODEL_FACTOR * model_bytes(run))


def fit_bytes(text: float) -> int:
    """Estimate the memory of a fit.

    Args:
        text: Size of both sides of its sample, in bytes.
    """
    return int(FIT_FACTOR * text + min(FIRST_TEXT_FACTOR * text, FIRST_TEXT_BYTES))


def model_bytes(run: Run) -> int:
    """Return the size of the files of all models in local directories, each counted once."""
    models = (model for part in run.settled.values() for model in part.models)
    directories = {Path(place) for model in models for place in _places(model)}
    files = (file for place in directories if place.is_dir() for file in place.iterdir())
    return sum(file.stat().st_size for file in files if file.is_file())


def _places(model: object) -> Iterator[str]:
    """Yield the directory of a model, or its name on a hub."""
    settings = getattr(model, "config", model)
    for place in (getattr(model, "directory", None), getattr(settings, "model", None)):
        if isinstance(place, str):
            yield place


def within_memory(run: Run[GraphT]) -> Run[GraphT]:
    """Return the run with as many workers as its memory allows.

    Raises:
        ConfigError: The user's or the container's limit is too low for one worker.
    """
    options = run.options
    if options.engine != "local":
        return run  # The engine's processes, here or elsewhere, have their own memory options.
    limit = memory.limit(options.memory)
    need = need_of(run)
    workers = options.workers
    while workers > 1 and need.together(workers) > limit.size:
        workers -= 1
    if limit.is_hard and need.together(workers) > limit.size:
        raise ConfigError(_refusal(run, need, limit))
    if workers == options.workers:
        return run
    LOG.info(
        "%d of %d workers, because %s; all need %s",
        workers,
        options.workers,
        f"{limit.whose} is the limit" if limit.is_hard else f"of {limit.whose}",
        show_size(need.together(options.workers)),
    )
    return dataclasses.replace(run, options=options.model_copy(update={"workers": workers}))


def _refusal(run: Run, need: Need, limit: Limit) -> str:
    least = show_size(need.together(1))
    message = f"{limit.whose}: too little memory: one worker needs about {least}; give it that"
    if max(need.shard, need.fit) < ALONE_BYTES:
        return message  # nearly all of this memory is libraries
    if need.fit > need.shard + need.models:
        return f"{message}, a fitted --model or, with another --output, fewer --fit_pairs"
    pairs = -(-run.plan.rows // run.shards)
    return f"{message} or, with another --output, fewer --shard_pairs (a shard has {pairs:,} pairs)"
