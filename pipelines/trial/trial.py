"""Runs a few pairs of the input through the steps of ``augment`` and keeps each step's result."""

import dataclasses
import itertools
import tempfile
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq

from pairweave.pipelines.engines import engines
from pairweave.pipelines.engines.local.table_pipeline import TablePipeline, UnsupportedStepError
from pairweave.pipelines.engines.run_options import RunOptions
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.jobs import augment
from pairweave.pipelines.jobs.screened_rows import ReadInput, ScreenRows, trained_pieces
from pairweave.pipelines.run.retry import message_of
from pairweave.pipelines.run.run import Run
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.formats.registry import read_first
from pairweave.transforms.output.run_files import data_name, rejects_name
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import find_taggable

Row = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Trial:
    """The results of a pair.

    Attributes:
        place: Its file and line.
        id: Its id (`ids`); None if it could not be read.
        rejected: The pair's row in the rejects (`schemas.REJECTS`), if it was rejected.
        steps: Its tokens, links and phrase pairs, as far as the job's method makes them
            (`schemas.PHRASES`), and in ``drawable`` the weight of each phrase pair in draws, 0 if
            no tag is put around it; None if it was rejected earlier.
        rows: Its rows in the output (`schemas.TAGGED`).
    """

    place: tuple[str, int]
    id: str | None
    rejected: Row | None
    steps: Row | None
    rows: tuple[Row, ...]


def run_trial(options: AugmentOptions, pairs: int) -> list[Trial]:
    """Run the first pairs of each corpus through the job, in a temporary directory.

    The input is planned as in a run, and the job's aligner is fitted on it if the job fits one.

    Args:
        options: The job's options; ``output``, engine and workers are not used.
        pairs: Maximum number of pairs of a corpus.

    Returns:
        The pairs, sorted by corpus, file and line, including duplicates.

    Raises:
        ConfigError: The options or the input cannot be used.
        WorkerError: A step failed.
    """
    with tempfile.TemporaryDirectory(prefix="pairweave-try-") as directory:
        place = {"output": directory, "engine": "local", "workers": 1}
        options = options.model_copy(update=place | {"keep_origin": True})
        augment.check(options)
        run = dataclasses.replace(augment.JOB.prepare(options), shards=1)
        if run.plan.why_no_rows:
            raise ConfigError(f"nothing to try: {run.plan.why_no_rows}; give files with pairs")
        steps = Path(directory) / "steps.arrow"
        empty = pa.RecordBatch.from_pylist([], schemas.ROWS)
        batches = [empty, *read_first(run.plan.units, run.limits, pairs)]
        try:
            graph(TablePipeline(), run, batches, str(steps))
        except UnsupportedStepError:
            with engines.beam_options("local", 1, "pairweave-try", ()) as arguments:
                pipeline = beam.Pipeline(options=RunOptions(arguments))
                graph(pipeline, run, batches, str(steps))
                _finish(pipeline)
        rows, rejects = (
            pq.read_table(Path(directory) / name(0, 1)).to_pylist()
            for name in (data_name, rejects_name)
        )
        with pa.ipc.open_file(str(steps)) as reader:
            return _joined(reader.read_all().to_pylist(), rows, rejects)


def _finish(pipeline: beam.Pipeline) -> None:
    """Run a pipeline; errors of its steps get the same messages as in a run.

    Raises:
        ConfigError: The user must fix something.
        WorkerError: A step failed.
    """
    try:
        pipeline.run().wait_until_finish()
    except Exception as error:
        raise WorkerError(message_of(error)) from error


def graph(
    pipeline: beam.Pipeline, run: Run[AugmentOptions], batches: list[pa.RecordBatch], steps: str
) -> None:
    """Screen, shuffle, align and tag rows as the job does; keep the tables made before tagging."""
    pieces = trained_pieces(pipeline, run)
    rows = pipeline | "First" >> beam.Create(batches).with_output_types(pa.RecordBatch)
    rows = rows | "ScreenFirst" >> ScreenRows(run, pieces)
    shards = rows | "Shuffle" >> MakeShards(1, frozenset([0]))
    if run.fits:
        rows = pipeline | "Read" >> ReadInput(run) | "Screen" >> ScreenRows(run, pieces)
    phrases = augment.find_phrases(shards, rows, run, pieces)
    _ = phrases | "KeepSteps" >> beam.Map(keep_steps, steps, augment.tag_config(run))
    _ = phrases | "InjectTags" >> augment.inject_tags_of(run)


def keep_steps(shard: Shard, path: str, tags: TagConfig) -> None:
    """Write a shard's working table, with file, line and drawable phrases of each pair."""
    table = shard.table
    for name in ("file", "line"):
        table = table.append_column(name, shard.kept.column(name))
    table = table.append_column("drawable", drawable_weights(shard.table, tags))
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.unify_dictionaries())


def drawable_weights(table: pa.Table, tags: TagConfig) -> pa.Array:
    """Return the weight of each phrase pair of PHRASES rows in draws, 0 if it is not tagged."""
    offsets, boxes, weights = find_taggable(table, tags).phrases
    held = [
        {
            tuple(boxes[:, phrase].tolist()): float(weights[phrase]) if len(weights) else 1.0
            for phrase in range(*bounds)
        }
        for bounds in itertools.pairwise(offsets.tolist())
    ]
    phrases = table.column("phrases").to_pylist()
    return pa.array(
        [
            [weight_of.get(tuple(phrase.values())[:4], 0.0) for phrase in row]
            for row, weight_of in zip(phrases, held, strict=True)
        ],
        pa.list_(pa.float64()),
    )


def _joined(steps: list[Row], rows: list[Row], rejects: list[Row]) -> list[Trial]:
    """Join the rows of all tables for each pair.

    Rows with the same place may be several pairs, or a pair and its duplicates if a file is given
    twice.
    """
    of_pair: dict[tuple[str, str, int, str], dict[str, list[Row]]] = {}
    for name, table in (("steps", steps), ("rejected", rejects), ("rows", rows)):
        for row in table:
            key = (row["corpus"], row["file"], row["line"], row["id"] or "")
            of_pair.setdefault(key, {}).setdefault(name, []).append(row)
    trials = []
    for (_, file, line, name), tables in sorted(of_pair.items()):
        place, step = (file, line), tables.get("steps", [None])[0]
        written = tuple(tables.get("rows", ()))
        if written:
            trials.append(Trial(place, name, None, step, written))
            step = None
        for rejected in tables.get("rejected", []):
            trials.append(Trial(place, name or None, rejected, step, ()))
            step = None
    return trials
