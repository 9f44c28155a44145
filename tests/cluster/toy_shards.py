"""A small job like the real ones, run as a program: units, tables, one shuffle, a file per shard.

Run as ``python toy_shards.py --output DIR --engine local --workers 2``; what it did not
recognise goes to Beam. The last line on stdout is one JSON object.
"""

import argparse
import collections
import hashlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import apache_beam as beam
import numba
import numpy as np
import pyarrow as pa
from apache_beam.options.pipeline_options import PipelineOptions

from pairweave.pipelines.engines import engines, failures
from pairweave.pipelines.engines.local import forks, worker
from pairweave.transforms.arrow.arrow_coder import TableCoder
from pairweave.transforms.errors import ConfigError, WorkerError

MEETING_SECONDS = 60.0
"""How long a shard waits for what a runner that shares the work makes happen at once."""


def read_unit(unit: int, rows: int, shards: int, fill: int) -> Iterator[tuple[int, pa.Table]]:
    """Make the rows of one unit and cut them by shard."""
    numbers = np.arange(unit * rows, (unit + 1) * rows, dtype=np.uint64)
    keys = (numbers * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(16)
    table = pa.table(
        {
            "id": pa.array([f"{key:032x}" for key in keys.tolist()]),
            "corpus": pa.array([f"corpus{unit % 3}"] * rows).dictionary_encode(),
            "source": pa.array([f"Satz {number} " + "x" * fill for number in numbers.tolist()]),
        }
    )
    shard_of = (keys % np.uint64(shards)).astype(np.int64)
    order = np.argsort(shard_of, kind="stable")
    table = table.take(pa.array(order))
    ends = np.searchsorted(shard_of[order], np.arange(shards + 1))
    for shard in range(shards):
        yield shard, table.slice(int(ends[shard]), int(ends[shard + 1] - ends[shard]))


def spend(kind: str, seconds: float) -> None:
    """Pass about so much time: in Numba without the lock, in plain Python with it, or asleep."""
    if kind == "numba":
        spin(np.uint64(seconds * 2.2e8))
    elif kind == "python":
        total = 0
        for number in range(int(seconds * 1.3e7)):
            total ^= number * 7
    elif kind == "sleep":
        time.sleep(seconds)


def meet(output: str, shard: int, shards: int, slow: int) -> None:
    """Wait until two processes make shards, then with the slow shard until all others are made.

    Unlike a sleep, this does not depend on how soon a busy machine lets the second process begin.
    """
    Path(output, f"begun-{os.getpid()}").touch()
    own = f"part-{shard:05d}"
    deadline = time.monotonic() + MEETING_SECONDS
    while time.monotonic() < deadline:
        begun = len(list(Path(output).glob("begun-*")))
        made = [path.name for path in Path(output).glob("part-*") if path.name != own]
        if begun > 1 and (shard != slow or len(made) == shards - 1):
            return
        time.sleep(0.01)


@numba.njit(nogil=True, cache=True)
def spin(steps: np.uint64) -> np.uint64:
    """Run a compiled loop that releases the lock."""
    state = np.uint64(1)
    for step in range(steps):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        state += np.uint64(step)
    return state


def write_shard(
    element: tuple[int, Iterable[pa.Table]],
    output: str,
    shards: int,
    work: str,
    seconds: float,
    slow: int,
    fault: str,
) -> str:
    """Sort one shard, work on it, write it; return who did it and when, as JSON."""
    shard, parts = element
    start = time.time()
    if shard == 1:
        if fault == "config":
            raise ConfigError(f"toy.txt: shard {shard} cannot be made: mend the file")
        if fault == "worker":
            raise WorkerError(f"toy: shard {shard}: 3 pairs in, 2 out, first pair 00ff")
        if fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
    table = pa.concat_tables(parts).unify_dictionaries().sort_by("id")
    # The order of a dictionary is that of arrival.
    table = table.cast(table.schema.set(1, pa.field("corpus", pa.string()))).combine_chunks()
    spend(work, seconds)
    if work == "meet":
        meet(output, shard, shards, slow)
    digest = hashlib.sha256(TableCoder().encode(table))
    handle, temporary = tempfile.mkstemp(dir=output, prefix=".tmp-")
    with os.fdopen(handle, "w") as sink:
        sink.write(f"{shard} {table.num_rows} {digest.hexdigest()}\n")
    Path(temporary).replace(Path(output, f"part-{shard:05d}"))
    return json.dumps(
        {
            "shard": shard,
            "pid": os.getpid(),
            "start": start,
            "end": time.time(),
        }
    )


def note(line: str, output: str) -> str:
    """Keep what a shard said of itself."""
    said = json.loads(line)
    Path(output, f"said-{said['shard']:05d}").write_text(line)
    return line


def say(facts: dict[str, object]) -> None:
    """Print one line of JSON."""
    sys.stdout.write(json.dumps(facts) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the job; return its exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", required=True)
    parser.add_argument("--engine", default="local")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--units", type=int, default=4)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--shards", type=int, default=6)
    parser.add_argument("--fill", type=int, default=20)
    parser.add_argument("--work", default="none")
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--slow", type=int, default=-1)
    parser.add_argument("--fault", default="")
    parser.add_argument("--forks", action="store_true", help="fork workers, do not start them")
    ours, extra = parser.parse_known_args(arguments)
    output = Path(ours.output).resolve()
    output.mkdir(parents=True, exist_ok=True)
    if ours.forks:
        forks.allow()
        worker.prepare_forks()
    begin = time.time()
    with engines.beam_options(ours.engine, ours.workers, "toy", extra) as flags:
        try:
            with beam.Pipeline(options=PipelineOptions(flags)) as pipeline:
                (
                    pipeline
                    | beam.Create(range(ours.units), reshuffle=True)
                    | "Read" >> beam.FlatMap(read_unit, ours.rows, ours.shards, ours.fill)
                    | beam.GroupByKey()
                    | "Write"
                    >> beam.Map(
                        write_shard,
                        str(output),
                        ours.shards,
                        ours.work,
                        ours.seconds,
                        ours.slow,
                        ours.fault,
                    )
                    | "Note" >> beam.Map(note, str(output))
                )
        except Exception as error:  # noqa: BLE001 - what a command line does with it is the test
            message, user_error = failures.failure_message(error)
            say({"error": message, "user_error": user_error})
            return 1
    said = [json.loads(path.read_text()) for path in sorted(output.glob("said-*"))]
    digest = hashlib.sha256()
    for path in sorted(output.glob("part-*")):
        digest.update(f"{path.name}\n{path.read_text()}".encode())
    say(
        {
            "seconds": time.time() - begin,
            "digest": digest.hexdigest(),
            "shards": len(said),
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "pids": collections.Counter(one["pid"] for one in said),
            "span": max(one["end"] for one in said) - min(one["start"] for one in said),
        }
    )
    return 0


if __name__ == "__main__":
    # As the command line does; Beam may have said something as it was imported.
    worker.log_to_stderr("%(message)s", alone=True)
    sys.exit(main())
