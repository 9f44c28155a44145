"""Simulate what of a run grows with its size: plan, graph, shuffle, commit, manifest, status.

``python tests/benchmarks/scale/simulated_run.py --shards 15259`` stands for a billion pairs, of
65,536 in a shard and in a unit. There is no text: the plan and the receipts of such a run are
written with the project's own functions, with the counts that rows in random order have, and the
real commit, ``status`` and resume work on them. ``--latency_ms 30`` puts the run into an object
store whose every request takes so long. With ``--engine_rows``, the real graph of a job also runs
on the local engine, with as many rows a unit, which have ids and nothing else; `costs.py` adds what
reading and aligning take at measured rates.

Prints a line of JSON for each phase: wall and CPU seconds of this process, and its peak memory.
"""

import argparse
import contextlib
import functools
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import apache_beam as beam
import numpy as np
import pyarrow as pa

from pairweave.pipelines.engines import engines
from pairweave.pipelines.steps.steps import Commit, DistributeUnits, WriteShards
from pairweave.transforms import schemas
from pairweave.transforms.commit.claim import claim
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.commit.run_state import read_state
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import receipts, run_files
from pairweave.transforms.output.run_files import WriteConfig
from pairweave.transforms.output.unit_counts import PACKED, pack_units
from pairweave.transforms.output.write import ShardOutput, encode_parquet
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.shards.shuffle import MakeShards
from pairweave.transforms.storage import files, object_stores
from pairweave.transforms.storage.object_stores import Version
from pairweave.transforms.units import Part, Unit

UNIT_PAIRS = 65_536
FILE_UNITS = 64


class SlowStore:
    """An object store in a directory, each of whose requests takes a time."""

    def __init__(self, root: Path, seconds: float) -> None:
        """Set where its objects are, and the time."""
        self._root = root
        self._seconds = seconds
        self.requests = 0

    def _path(self, uri: str) -> Path:
        self.requests += 1
        time.sleep(self._seconds)
        return self._root / uri.partition("://")[2]

    def list(self, prefix: str, most: int | None = None, *, nested: bool = True) -> Iterator[str]:
        """Yield the objects of a directory, and none below it; 1,000 a request."""
        del nested
        directory = self._path(prefix)
        inside = directory.iterdir() if directory.is_dir() else ()
        names = sorted(path for path in inside if path.is_file())[:most]
        for number, path in enumerate(names):
            if number and number % 1_000 == 0:
                self._path(prefix)
            yield f"slow://{path.relative_to(self._root)}"

    def version(self, path: str) -> Version:
        """Return an object's size."""
        result = self._path(path).stat()
        return Version(result.st_size, None, result.st_mtime)

    def read(self, path: str, version: Version, start: int, stop: int) -> bytes:
        """Return a range of an object."""
        del version
        return self._path(path).read_bytes()[start:stop]

    def put(self, path: str, data: BinaryIO) -> None:
        """Write an object."""
        place = self._path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.read())

    def put_absent(self, path: str, data: bytes) -> bool:
        """Write an object if there is none."""
        place = self._path(path)
        if place.exists():
            return False
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        return True

    def delete(self, path: str) -> None:
        """Delete an object."""
        self._path(path).unlink()


def units_of(count: int) -> tuple[Unit, ...]:
    """Return units of line-parallel text, as a plan has them."""
    draws = np.random.default_rng(1)  # digests of real units cannot be compressed either
    parts = []
    for number in range(count):
        file, place = divmod(number, FILE_UNITS)
        ranges = ((place * 8_000_000, (place + 1) * 8_000_000),)
        sides = [
            Part(
                f"crawl-{file:05d}.{side}",
                f"gs://bucket/in/crawl-{file:05d}.{side}",
                "none",
                ranges,
                draws.bytes(16).hex(),
                role,
            )
            for side, role in (("en", "source"), ("de", "target"))
        ]
        parts.append(tuple(sides))
    return tuple(
        Unit(
            number,
            "crawl",
            "en",
            "de",
            "moses",
            sides,
            1 + number % FILE_UNITS * UNIT_PAIRS,
            UNIT_PAIRS,
        )
        for number, sides in enumerate(parts)
    )


def document_of(units: tuple[Unit, ...], shards: int, rows: int) -> dict[str, Any]:
    """Return the plan of a job on these units (`pipelines.run.prepare`)."""
    return {
        "job": "augment",
        "version": "0",
        "signature": "simulated",
        "configuration": {"seed": 1},
        "corpora": [{"name": "crawl", "source_lang": "en", "target_lang": "de", "licence": None}],
        "inputs": [],
        "units": [
            {"index": unit.index, "file": unit.file, "line": unit.first_line, "rows": rows}
            for unit in units
        ],
        "reading": [],
        "notices": [],
        "rows": rows * len(units),
        "shards": shards,
        "models": [],
    }


def write_run(directory: Path, document: dict[str, Any], rows: int) -> None:
    """Write the receipts and files of a run whose rows are spread over units at random.

    Its files are empty tables, so that what is measured is not the disk.
    """
    digest, shards = run_files.plan_digest(document), document["shards"]
    units = len(document["units"])
    for name in (run_files.DATA, run_files.REJECTS, run_files.RECEIPTS):
        (directory / name).mkdir(parents=True, exist_ok=True)
    data = encode_parquet(schemas.TAGGED.empty_table(), "simulated")
    # Every unit has as many rows in each shard: a round of units that is shifted by shard.
    share = np.random.default_rng(1).multinomial(rows, np.full(shards, 1 / shards))
    for shard in range(shards):
        counts = share[(np.arange(units) + shard) % shards]
        filled = np.flatnonzero(counts)
        result = np.stack([filled, counts[filled], np.zeros_like(filled)], axis=1)
        kept = int(counts.sum())
        names = run_files.data_name(shard, shards), run_files.rejects_name(shard, shards)
        receipt = {
            "plan": digest,
            "shard": shard,
            "rows": kept,
            "kept": kept,
            "kept_by_corpus": {"crawl": kept},
            "rejected": [],
            "units": pack_units(result if len(result) > PACKED else result.tolist()),
            "unit_reasons": [],
            "counts": {"plain_rows": kept},
            "histograms": {},
            "files": [run_files.file_entry(name, data, 0) for name in names],
        }
        receipt["files"][0]["rows"] = 0
        for name in names:
            (directory / name).write_bytes(data)
        name = run_files.shard_receipt_name(shard, shards)
        (directory / name).write_bytes(run_files.to_json(receipt))
    for unit in range(units):
        receipt = {"plan": digest, "unit": unit, "rows": rows}
        (directory / run_files.unit_receipt_name(unit)).write_bytes(run_files.to_json(receipt))


def peak_mib() -> int:
    """Return the largest memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


@contextlib.contextmanager
def phase(name: str, **facts: object) -> Iterator[dict[str, Any]]:
    """Print what a phase took."""
    result: dict[str, Any] = dict(facts)
    wall, cpu = time.perf_counter(), time.process_time()
    yield result
    taken = {
        "phase": name,
        "seconds": round(time.perf_counter() - wall, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "peak_mib": peak_mib(),
    }
    sys.stdout.write(json.dumps({**taken, **result}) + "\n")
    sys.stdout.flush()


def graph_bytes(units: tuple[Unit, ...]) -> int:
    """Return the size of a graph that holds the units."""
    pipeline = beam.Pipeline()
    _ = pipeline | DistributeUnits(units)
    return len(pipeline.to_runner_api().SerializeToString())


def simulate(
    root: Path, units_count: int, shards: int, rows: int, latency: float, *, resume: bool = True
) -> dict[str, Any]:
    """Plan, commit and look at a simulated run; return its manifest."""
    with phase("plan", units=units_count, shards=shards) as facts:
        units = units_of(units_count)
        document = document_of(units, shards, rows)
        facts["plan_bytes"] = len(run_files.to_json(document))
    with phase("graph") as facts:
        facts["graph_bytes"] = graph_bytes(units)
    store = SlowStore(root, latency)
    output = "slow://run" if latency else str(root / "run")
    with in_store(store):
        claim(output, document)
        write_run(root / "run", document, rows)
        receipt = root / "run" / run_files.shard_receipt_name(0, shards)
        store.requests = 0
        with phase("commit", receipt_bytes=receipt.stat().st_size) as facts:
            manifest = commit_run(output, {})
            facts["requests"] = store.requests
            path = files.join(output, run_files.MANIFEST)
            facts["manifest_bytes"] = files.size(path)
        with phase("status"):
            read_state(output)
        if resume:
            with phase("resume"):
                digest = run_files.plan_digest(document)
                receipts.finished_shards(output, digest, shards)
                receipts.unread_units(output, digest, units_count)
    return manifest


@contextlib.contextmanager
def in_store(store: SlowStore) -> Iterator[None]:
    """Let URIs be in a store while a block runs."""
    before = object_stores.store_of
    object_stores.store_of = lambda _path: store  # type: ignore[assignment, return-value]
    try:
        yield
    finally:
        object_stores.store_of = before


def read(unit: Unit | None, rows: int, output: str, plan: str) -> Iterator[pa.RecordBatch]:
    """Make rows without text of a unit, with ids as hashes are: spread evenly."""
    if unit is None:
        yield pa.RecordBatch.from_pylist([], schema=schemas.ROWS)
        return
    numbers = np.random.default_rng(unit.index).bytes(16 * rows).hex()
    made = {name: pa.nulls(rows, schemas.ROWS.field(name).type) for name in schemas.ROWS.names}
    made["id"] = pa.array([numbers[32 * row : 32 * row + 32] for row in range(rows)])
    made["unit"] = pa.array(np.full(rows, unit.index, np.int32))
    made["line"] = pa.array(np.arange(unit.first_line, unit.first_line + rows))
    for name, value in (
        ("corpus", unit.corpus),
        ("file", unit.file),
        ("source_lang", "en"),
        ("target_lang", "de"),
    ):
        made[name] = pa.array([value] * rows).dictionary_encode()
    for name in ("source", "target"):
        made[name] = pa.array([""] * rows)
    yield pa.RecordBatch.from_arrays(list(made.values()), schema=schemas.ROWS)
    receipts.write_unit_receipt(output, plan, unit.index, rows)


def finish(shard: Shard) -> ShardOutput:
    """Leave out what would align and tag the rows."""
    return ShardOutput(shard, schemas.TAGGED.empty_table(), {"plain_rows": shard.kept.num_rows})


def run_graph(output: str, document: dict[str, Any], units: tuple[Unit, ...], rows: int) -> None:
    """Run the graph of a job on the local engine, without text and without an aligner."""
    claim(output, document)
    shards, plan = document["shards"], run_files.plan_digest(document)
    config = WriteConfig(output, shards, plan, "simulated")
    make = functools.partial(read, rows=rows, output=output, plan=plan)
    with engines.beam_options("local", 1, "simulated") as flags:
        options = beam.options.pipeline_options.PipelineOptions(flags)
        with beam.Pipeline(options=options) as pipeline:
            batches = pipeline | "Read" >> DistributeUnits(units)
            batches = batches | "Rows" >> beam.FlatMap(make).with_output_types(pa.RecordBatch)
            made = batches | "Shuffle" >> MakeShards(shards, frozenset(range(shards)))
            written = made | "Write" >> WriteShards(finish, config)
            _ = written | "Commit" >> Commit(config, {}, allow_empty=False)


def main(arguments: list[str] | None = None) -> int:
    """Simulate from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--shards", type=int, default=15_259, help="shards of the run")
    parser.add_argument("--units", type=int, default=0, help="units of its plan; 0 for as many")
    parser.add_argument("--latency_ms", type=float, default=0.0, help="time of a request")
    parser.add_argument("--engine_rows", type=int, default=0, help="rows a unit; 0 for no graph")
    given = parser.parse_args(arguments)
    if given.shards < 1:
        raise ConfigError("--shards: expected 1 or more")
    units = given.units or given.shards
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        simulate(root, units, given.shards, UNIT_PAIRS, given.latency_ms / 1000)
        if given.engine_rows:
            plan = units_of(units)
            document = document_of(plan, given.shards, given.engine_rows)
            with phase("engine", rows=units * given.engine_rows):
                run_graph(str(root / "graph"), document, plan, given.engine_rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
