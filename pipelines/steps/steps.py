"""Beam transforms that apply functions to batches and shards, used by all jobs, and count time."""

import contextlib
import functools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.metrics import Metrics, MetricsFilter

from pairweave.models.model_store import ModelReference
from pairweave.transforms import schemas
from pairweave.transforms.commit.checking import check_part, part_count
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.output import receipts, run_files
from pairweave.transforms.output.receipt_sums import ReceiptSums, add_sums
from pairweave.transforms.output.run_files import WriteConfig
from pairweave.transforms.output.write import ShardOutput, write_shard
from pairweave.transforms.reading.damaged_characters import count_characters
from pairweave.transforms.screen import ScreenConfig, screen
from pairweave.transforms.shards.sample import sample_rows, sample_share
from pairweave.transforms.shards.shard import Batches, Shard, Shards
from pairweave.transforms.storage import files
from pairweave.transforms.units import ReadLimits, Unit

Receipts = beam.PCollection[str]
Sums = beam.PCollection[ReceiptSums]
Samples = beam.PCollection[tuple[int, Iterable[pa.Table]]]


UNITS_AT_ONCE = 16
"""Number of a large plan's units that a worker takes at once, which limits the rows that it splits
for the shuffle."""

MANY_UNITS = 1_024
"""Number of units from which a plan counts as large."""

NAMESPACE = "pairweave.steps"
"""Namespace of the counters of each step's work: `MICROSECONDS` and `ROWS`."""

MICROSECONDS, ROWS = "microseconds", "rows"

StepTimes = dict[str, dict[str, float | int]]
"""Seconds, rows and rows per second, by the name of a step."""


@contextlib.contextmanager
def timed(rows: int) -> Iterator[None]:
    """Count the time of this block, and the rows that it processes, for the step that runs it.

    Outside a worker, nothing is counted.
    """
    start = time.monotonic_ns()
    try:
        yield
    finally:
        count(rows, start)


def count(rows: int, start: int) -> None:
    """Count the time since a reading of ``time.monotonic_ns``, and the rows processed since."""
    Metrics.counter(NAMESPACE, MICROSECONDS).inc((time.monotonic_ns() - start) // 1000)
    Metrics.counter(NAMESPACE, ROWS).inc(rows)


def step_times(result: Any) -> StepTimes:  # noqa: ANN401 - a runner's own
    """Return the times and rows of a finished pipeline's steps, by the step's name.

    Returns:
        Seconds of all workers together, rows, and rows per second and worker, if there are any.
    """
    by_step: dict[str, dict[str, int]] = {}
    counters = result.metrics().query(MetricsFilter().with_namespace(NAMESPACE))["counters"]
    for each in counters:
        counts = by_step.setdefault(each.key.step, {MICROSECONDS: 0, ROWS: 0})
        counts[each.key.metric.name] += int(each.result or 0)
    return {name: _described(**counts) for name, counts in sorted(by_step.items())}


def _described(microseconds: int, rows: int) -> dict[str, float | int]:
    times: dict[str, float | int] = {"seconds": round(microseconds / 1e6, 3)}
    if rows:
        times |= {"rows": rows, "rows_per_second": round(rows * 1e6 / max(1, microseconds), 1)}
    return times


class DistributeUnits(beam.PTransform[beam.pvalue.PBegin, beam.PCollection[Unit | None]]):
    """Distributes the units of a plan to workers, and one None; a large plan's units in groups.

    The graph contains the units, which Beam compresses: 15,259 of them take 1.6 MB.
    """

    def __init__(self, units: tuple[Unit, ...]) -> None:
        super().__init__()
        self._units = units

    def expand(self, pipeline: beam.pvalue.PBegin) -> beam.PCollection[Unit | None]:
        """Create the elements in the graph and spread them."""
        if len(self._units) < MANY_UNITS:
            return pipeline | "Units" >> beam.Create([None, *self._units], reshuffle=True)
        starts = range(0, len(self._units), UNITS_AT_ONCE)
        groups = [self._units[start : start + UNITS_AT_ONCE] for start in starts]
        elements = pipeline | "Units" >> beam.Create([(None,), *groups], reshuffle=True)
        each = beam.FlatMap(lambda group: group).with_output_types(Unit | None)
        return elements | "Each" >> each


class ReadUnits(beam.PTransform[beam.pvalue.PBegin, Batches]):
    """Reads units of input into row batches, and adds one empty batch.

    Each unit leaves a receipt in the output directory, if one is given.
    """

    def __init__(
        self, units: tuple[Unit, ...], limits: ReadLimits, output: str = "", plan: str = ""
    ) -> None:
        super().__init__()
        self._units = units
        self._read = functools.partial(_read, limits=limits, output=output, plan=plan)

    def expand(self, pipeline: beam.pvalue.PBegin) -> Batches:
        """Distribute the units to the workers and read them."""
        units = pipeline | "Units" >> DistributeUnits(self._units)
        return units | "Read" >> beam.FlatMap(self._read).with_output_types(pa.RecordBatch)


def _read(
    unit: Unit | None, limits: ReadLimits, output: str, plan: str
) -> Iterator[pa.RecordBatch]:
    if unit is None:
        yield pa.RecordBatch.from_pylist([], schema=schemas.ROWS)
        return
    rows = 0
    characters: Counter[str] = Counter()
    start = time.monotonic_ns()
    for batch in read_unit(unit, limits):
        rows += batch.num_rows
        characters += count_characters(batch)
        count(batch.num_rows, start)
        yield batch
        start = time.monotonic_ns()
    if output:
        receipts.write_unit_receipt(output, plan, unit.index, rows, characters)


class MapBatches(beam.PTransform[Batches, Batches]):
    """Applies a function to every batch."""

    def __init__(
        self, label: str, function: Callable[..., pa.RecordBatch], *settings: object
    ) -> None:
        super().__init__()
        self._label, self._function, self._settings = label, function, settings

    def expand(self, batches: Batches) -> Batches:
        """Apply the function."""
        step = beam.Map(self._function, *self._settings)
        return batches | self._label >> step.with_output_types(pa.RecordBatch)


def screen_rows(rows: pa.RecordBatch, config: ScreenConfig) -> pa.RecordBatch:
    """Add reasons to the rows of a batch that the screen rejects."""
    with timed(rows.num_rows):
        return screen(rows, config)


class GatherSample(beam.PTransform[Batches, Samples]):
    """Turns row batches, including an empty one, into the parts of one sample under one key."""

    def __init__(self, rows: int, wanted: int, seed: int) -> None:
        """Set the number of rows in all batches, how many to pick, and the run's seed."""
        super().__init__()
        share = sample_share(rows, wanted)
        self._sample = functools.partial(sample_rows, share=share, seed=seed)

    def expand(self, batches: Batches) -> Samples:
        """Sample each batch and gather the samples."""
        sample = beam.FlatMap(self._sample).with_output_types(tuple[int, pa.Table])
        return batches | "Sample" >> sample | "Gather" >> beam.GroupByKey()


class LearnFromSample(beam.PTransform[Batches, beam.PCollection[Any]]):
    """Turns row batches into the result of a function that learns from a sample, on one worker."""

    def __init__(
        self, label: str, gather: GatherSample, learn: Callable[..., object], **settings: object
    ) -> None:
        """Set the label of the last step, the sample, the function and its further arguments.

        The function takes the parts of the sample under one key. An argument may be a side input.
        """
        super().__init__()
        self._label, self._gather, self._learn, self._settings = label, gather, learn, settings

    def expand(self, batches: Batches) -> beam.PCollection[Any]:
        """Sample, gather under one key, learn."""
        return batches | self._gather | self._label >> beam.Map(self._learn, **self._settings)


class MapWholeShards(beam.PTransform[Shards, Shards]):
    """Applies a function to every shard: its kept rows, its rejected rows, its working table."""

    def __init__(self, function: Callable[..., Shard], **settings: object) -> None:
        """Set the function and its further arguments, which may be side inputs."""
        super().__init__()
        self._function, self._settings = function, settings

    def expand(self, shards: Shards) -> Shards:
        """Apply the function."""
        step = beam.Map(self._function, **self._settings)
        return shards | "Table" >> step.with_output_types(Shard)


class MapShards(beam.PTransform[Shards, Shards]):
    """Applies a function to the working table of every shard; it may also take the model."""

    def __init__(
        self,
        function: Callable[..., pa.Table],
        model: ModelReference | beam.pvalue.AsSingleton | None = None,
        **settings: object,
    ) -> None:
        super().__init__()
        self._function = functools.partial(function, **settings)
        self._model = model

    def expand(self, shards: Shards) -> Shards:
        """Apply the function."""
        step = beam.Map(_on_table, self._function, self._model)
        return shards | "Table" >> step.with_output_types(Shard)


def _on_table(
    shard: Shard, function: Callable[..., pa.Table], model: ModelReference | None
) -> Shard:
    models = () if model is None else (model,)
    with timed(shard.table.num_rows):
        table = function(shard.table, *models)
    return shard.with_table(table)


class WriteShards(beam.PTransform[Shards, Receipts]):
    """Writes every shard with its rejects and its receipt, after a job's last function."""

    def __init__(
        self, finish: Callable[..., ShardOutput], config: WriteConfig, **settings: object
    ) -> None:
        super().__init__()
        self._finish, self._config = functools.partial(finish, **settings), config

    def expand(self, shards: Shards) -> Receipts:
        """Write each shard and return the names of the receipts."""
        step = beam.Map(_write, self._finish, self._config)
        return shards | "Write" >> step.with_output_types(str)


def _write(shard: Shard, finish: Callable[[Shard], ShardOutput], config: WriteConfig) -> str:
    with timed(shard.table.num_rows):
        return write_shard(finish(shard), config)


class Commit(beam.PTransform[Receipts, Receipts]):
    """Commits the run after every receipt is written, unless shards are left for later.

    One worker checks a small run. For a large run it would have to read all receipts and files, so
    several workers check parts of it, and the last one adds up their sums.
    """

    def __init__(
        self, config: WriteConfig, extra_files: dict[str, bytes], *, allow_empty: bool
    ) -> None:
        super().__init__()
        self._output = config.output
        self._parts = 1 if config.partial else part_count(config.shards)
        commit = functools.partial(_commit, extra_files=extra_files, allow_empty=allow_empty)
        self._commit: Callable[..., str] = _commit_later if config.partial else commit

    def expand(self, receipts: Receipts) -> Receipts:
        """Wait for all receipts, then write the card and the manifest."""
        once = receipts.pipeline | "Once" >> beam.Create([self._output])
        if self._parts == 1:
            return once | "Manifest" >> beam.Map(
                self._commit, waited_for=beam.pvalue.AsList(receipts)
            )
        sums = beam.pvalue.AsSingleton(receipts | "Check" >> _CheckParts(self._output, self._parts))
        return once | "Manifest" >> beam.Map(self._commit, sums=sums)


class _CheckParts(beam.PTransform[Receipts, Sums]):
    """Waits for all receipts of a run, and turns them into one element with their sums."""

    def __init__(self, output: str, parts: int) -> None:
        super().__init__()
        self._parts = parts
        self._check = functools.partial(_check, output=output, parts=parts)

    def expand(self, receipts: Receipts) -> Sums:
        """Check each part, and add up the sums in a tree."""
        written = beam.pvalue.AsSingleton(receipts | "Written" >> beam.combiners.Count.Globally())
        numbers = receipts.pipeline | "Parts" >> beam.Create(range(self._parts), reshuffle=True)
        checked = numbers | "Check" >> beam.Map(self._check, waited_for=written)
        add_up = beam.CombineGlobally(add_sums).without_defaults()
        return checked | "AddUp" >> add_up.with_output_types(ReceiptSums)


def _check(part: int, waited_for: int, output: str, parts: int) -> ReceiptSums:  # noqa: ARG001
    return check_part(output, part, parts)


def _commit(
    output: str,
    extra_files: dict[str, bytes],
    allow_empty: bool,  # noqa: FBT001 - passed by name
    waited_for: list[str] | None = None,  # noqa: ARG001
    sums: ReceiptSums | None = None,
) -> str:
    commit_run(output, extra_files, allow_empty=allow_empty, sums=sums)
    return files.join(output, run_files.MANIFEST)


def _commit_later(output: str, waited_for: list[str]) -> str:  # noqa: ARG001 - as `_commit`
    return files.join(output, run_files.PLAN)
