"""Rows with new tags in every epoch, from several runs at once, in a random order.

An epoch has as many pairs as all runs together. It is divided into windows that have the same share
of each run; the rows of a window are put in random order. A run continues in the next epoch where
it stopped, and tags are drawn again whenever all of its pairs have been used. Everything depends
only on the runs, the settings and the seed, so any window can be made by itself, on any machine.
"""

import functools
import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels import sampling
from pairweave.transforms.streaming.drawable_pairs import draw_pass
from pairweave.transforms.streaming.pair_passes import PairPasses, StreamedRun
from pairweave.transforms.streaming.seeds import derived, random_order
from pairweave.transforms.streaming.stream_options import StreamConfig
from pairweave.transforms.tags.tag_config import TagConfig

_MAX_ROWS = 1 << 20
"""Number of rows of a window, so that their text fits in one column."""


class Position(NamedTuple):
    """A place in a stream: an epoch, a window of it, and rows of the window, all from 0."""

    epoch: int
    window: int
    row: int = 0


class Window(NamedTuple):
    """The rows of a window.

    Attributes:
        rows: The rows (`transforms.schemas.TAGGED`), perhaps with links, in the stream's order.
        left_out: Number of pairs whose text contains tags of its own.
    """

    rows: pa.Table
    left_out: int


class TagStream:
    """The rows of several runs. Several threads must not use an object at the same time."""

    def __init__(self, runs: Sequence[StreamedRun], config: StreamConfig) -> None:
        """Plan the stream; nothing is read yet.

        Raises:
            ConfigError: Weights do not match the runs, or no run has a pair.
        """
        self.config = config
        self._runs = tuple(runs)
        self._shares = pairs_of_an_epoch([run.size for run in runs], config)
        variants = max(run.drawing.tags.variants for run in runs)
        window = min(config.window, _MAX_ROWS // (variants + 1))
        self.windows = -(-sum(self._shares) // window)
        self._passes = [
            PairPasses(
                run,
                derived(config.seed, sampling.STEP_STREAM_SHARDS, number),
                shuffle=config.shuffle,
                memory=(config.cache_mib << 20) * run.size // sum(run.size for run in runs),
            )
            for number, run in enumerate(runs)
        ]

    @property
    def shares(self) -> tuple[int, ...]:
        """Return the number of pairs of each run in an epoch."""
        return self._shares

    @property
    def tags(self) -> tuple[TagConfig, ...]:
        """Return how the tags of each run are drawn."""
        return tuple(run.drawing.tags for run in self._runs)

    @functools.cached_property
    def mark(self) -> str:
        """Return a hexadecimal digest of everything that determines which row a position means.

        Epochs and memory do not count, so a stream can be continued with more of them.
        """
        drawn = []
        for run in self._runs:
            phrases, tags = run.drawing.phrases, run.drawing.tags
            settings = [
                each.model_dump(mode="json", exclude={"profile"}) for each in (phrases, tags)
            ]
            profile = None if tags.profile is None else tags.profile.to_json()
            drawn.append([*settings, profile, run.drawing.reserved])
        shards = [[run.run.entry(name)["sha256"] for name in run.run.names] for run in self._runs]
        order = [self.config.seed, self.config.shuffle, self.windows, self._shares]
        return hashlib.sha256(json.dumps([order, drawn, shards]).encode()).hexdigest()

    def window(self, epoch: int, number: int) -> Window:
        """Make the rows of a window.

        Raises:
            WorkerError: A shard is missing or differs from its manifest.
        """
        tables, left_out = [], 0
        for run, passes, share in zip(self._runs, self._passes, self._shares, strict=True):
            start, stop = (
                epoch * share + share * place // self.windows for place in (number, number + 1)
            )
            for part in passes.parts(start, stop):
                left_out += int((~part.drawable.fits).sum())
                tables.append(draw_pass(part.drawable, run.drawing, part.number))
        if not tables:  # windows of fewer pairs than there are runs: none has its turn here
            number_of_run = next(place for place, share in enumerate(self._shares) if share)
            part = next(iter(self._passes[number_of_run].parts(0, 1)))
            drawing = self._runs[number_of_run].drawing
            tables.append(draw_pass(part.drawable, drawing, part.number).slice(0, 0))
        rows = pa.concat_tables(tables).combine_chunks()
        if self.config.shuffle:
            # Places, not pairs: with weights, a pair can occur twice in a window.
            places = np.arange(rows.num_rows, dtype=np.uint64)
            seed = derived(self.config.seed, sampling.STEP_STREAM_ROWS, epoch)
            seed = derived(seed, sampling.STEP_STREAM_ROWS, number)
            order = random_order(places, seed, sampling.STEP_STREAM_ROWS)
            rows = rows.take(pa.array(order)).combine_chunks()
        return Window(rows, left_out)

    def positions(self, start: Position) -> Iterator[Position]:
        """Yield the beginning of every window from a position on; the first may be inside one.

        Raises:
            ConfigError: The stream has no such position.
        """
        known = 0 <= start.epoch <= self.config.epochs and 0 <= start.window <= self.windows
        if not known or start.row < 0:
            raise ConfigError(
                f"position {start.epoch}:{start.window}, row {start.row}: this stream has "
                f"{counted(self.config.epochs, 'epoch')} of {counted(self.windows, 'window')}, "
                "counted from 0"
            )
        at = start
        while at.epoch < self.config.epochs:
            if at.window < self.windows:
                yield at
                at = Position(at.epoch, at.window + 1)
            else:
                at = Position(at.epoch + 1, 0)


def pairs_of_an_epoch(sizes: Sequence[int], config: StreamConfig) -> tuple[int, ...]:
    """Return how many pairs of each run an epoch has; in total, as many as all runs have together.

    Shares are proportional to ``weight ** (1 / temperature)`` (a temperature over 1 favours small
    runs, as in Arivazhagan et al. 2019); the largest remainders are rounded up.

    >>> pairs_of_an_epoch([900, 100], StreamConfig(temperature=2.0))
    (750, 250)

    Raises:
        ConfigError: The numbers of weights and runs differ, or nothing has a weight.
    """
    weights = np.array(config.weights or sizes, np.float64)
    if len(weights) != len(sizes):
        raise ConfigError(
            f"{counted(len(weights), 'weight')} for {counted(len(sizes), 'run')}; give one for "
            "each, in the same order"
        )
    if (weights < 0).any() or not np.isfinite(weights).all():
        raise ConfigError(f"weights must be numbers from 0, got {', '.join(map(str, weights))}")
    total = sum(sizes)
    weights = weights * (np.array(sizes) > 0)
    if not weights.any():
        raise ConfigError("these runs have no pair to stream")
    weights = (weights / weights.max()) ** (1 / config.temperature)
    exact = total * weights / weights.sum()
    shares = np.floor(exact).astype(np.int64)
    missing = np.argsort(shares - exact, kind="stable")[: total - shares.sum()]
    shares[missing] += 1
    return tuple(shares.tolist())
