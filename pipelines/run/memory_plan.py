"""The memory that a run will need, and how many workers fit into what it may use.

Nothing that determines an output byte is chosen here: shards, units and the sample of a fit follow
from the input and the options alone. With less memory, fewer workers run; if one is too many, the
run is refused, and the message names the least ``--memory`` and the options that need less.

The figures were measured on whole runs of `augment` (`tests/benchmarks/scale/README.md`).
"""

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path

from pairweave.pipelines.process import memory
from pairweave.pipelines.process.memory import Limit, show_size
from pairweave.pipelines.run.progress import LOG
from pairweave.pipelines.run.run import GraphT, Run
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.shards.shuffle import BUFFER_BYTES

ALONE_BYTES = 600 << 20
"""A launcher and its one worker, before its first row: libraries, kernels, the plan."""

LAUNCHER_BYTES = 600 << 20
"""The launcher of several workers, with the process that forks them."""

WORKER_BYTES = 300 << 20
"""Each of them, before its first row."""

SHARD_FACTOR = 16
"""Memory of a shard in its largest step, in bytes of its text: tokens, links and phrases."""

FIT_FACTOR = 20
"""Memory of a fit, in bytes of its sample's text: tokens, pairs of words that occur together."""

BUFFER_FACTOR = 3
"""Memory of the rows that are split for the shuffle, in bytes of these rows."""

MODEL_FACTOR = 2
"""Memory of a model, in bytes of its files."""

BUNDLES = 256
"""Bundles of a stage of the local engine; a worker reads the units of one and splits them."""


@dataclasses.dataclass(frozen=True)
class Need:
    """What a run needs, in bytes.

    Attributes:
        shard: For the rows of a shard, in each worker.
        fit: For the fit, in one worker.
        models: For given models, in each worker.
    """

    shard: int
    fit: int
    models: int

    def together(self, workers: int) -> int:
        """Return what a launcher and so many workers need."""
        own = LAUNCHER_BYTES + workers * WORKER_BYTES if workers > 1 else ALONE_BYTES
        return own + max(workers * (self.shard + self.models), self.fit)


def need_of(run: Run) -> Need:
    """Estimate what a run needs."""
    text, rows = run.plan.text_bytes, max(run.plan.rows, 1)
    units = max(len(run.plan.units), 1)
    read = text / units * math.ceil(units / BUNDLES)
    split = BUFFER_FACTOR * min(read, BUFFER_BYTES)
    shard = SHARD_FACTOR * text / max(run.shards, 1)
    fit_pairs = 0 if run.fitting is None else run.fitting.pairs
    fit = FIT_FACTOR * text * min(1.0, fit_pairs / rows)
    return Need(int(max(shard, split)), int(fit), MODEL_FACTOR * model_bytes(run))


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
        ConfigError: The memory, which the user or the container limits, is too little for one.
    """
    options = run.options
    if options.engine != "local":
        return run  # Its processes are sized by their own options, on this machine or others.
    found = memory.limit(options.memory)
    need = need_of(run)
    workers = options.workers
    while workers > 1 and need.together(workers) > found.size:
        workers -= 1
    if found.is_hard and need.together(workers) > found.size:
        raise ConfigError(_refusal(run, need, found))
    if workers == options.workers:
        return run
    LOG.info(
        "%d of %d workers, because %s; all need %s",
        workers,
        options.workers,
        f"{found.whose} is the limit" if found.is_hard else f"of {found.whose}",
        show_size(need.together(options.workers)),
    )
    return dataclasses.replace(run, options=options.model_copy(update={"workers": workers}))


def _refusal(run: Run, need: Need, found: Limit) -> str:
    least = show_size(need.together(1))
    message = f"{found.whose}: too little memory: one worker needs about {least}; give it that"
    if max(need.shard, need.fit) < ALONE_BYTES:
        return message  # nearly all of it is libraries
    if need.fit > need.shard + need.models:
        return f"{message}, a fitted --model or, with another --output, fewer --fit_pairs"
    pairs = -(-run.plan.rows // run.shards)
    return f"{message} or, with another --output, fewer --shard_pairs (a shard has {pairs:,} pairs)"
