"""Nights of `refresh` at growing sizes: nothing new, and one per cent new.

    pytest -m bench -n 0 -s tests/benchmarks/bench_refresh.py

Each size is a table of `augment --mix 0`, so that no aligner hides what the nights themselves cost.
"""

import resource
import subprocess
import sys
import time
from typing import NamedTuple

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from tests.makers import runs

pytestmark = pytest.mark.bench

CONFIG = """job: augment
source_lang: en
target_lang: de
mix: 0
workers: 2
corpora:
- {corpus: many, input: "many/*.tsv"}
"""
FILE_PAIRS = 50_000
WORDS = ["red", "old", "small", "quiet", "new", "green", "slow", "long", "wide", "cold"]


def write_pairs(path, start, stop):
    """Write pairs that differ, of about ten words a side."""
    lines = []
    for number in range(start, stop):
        words = " ".join(WORDS[int(digit)] for digit in f"{number:08d}")
        lines.append(f"The {words} house {number} .\tDas {words} Haus {number} .\n")
    path.write_text("".join(lines))


class Cost(NamedTuple):
    """Seconds on the clock, and of all processors together."""

    clock: float
    cpu: float

    def __str__(self):
        return f"{self.clock:.1f} s ({self.cpu:.1f} s CPU)"


def cpu_seconds():
    """Return the CPU seconds that ended child processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cost_of(directory, *words):
    """Run `refresh` once; return its seconds of clock and of CPU."""
    started, used = time.monotonic(), cpu_seconds()
    runs.run_well("refresh", "--config", "c.yaml", "--output", "table", *words, cwd=directory)
    return Cost(time.monotonic() - started, cpu_seconds() - used)


@pytest.mark.parametrize("pairs", [100_000, 1_000_000, 4_000_000])
def test_nights(pairs, tmp_path):
    (tmp_path / "many").mkdir()
    (tmp_path / "c.yaml").write_text(CONFIG)
    for start in range(0, pairs, FILE_PAIRS):
        write_pairs(tmp_path / "many" / f"{start:08d}.tsv", start, start + FILE_PAIRS)
    first = cost_of(tmp_path)
    nothing = [cost_of(tmp_path) for _ in range(3)]
    write_pairs(tmp_path / "many/new.tsv", pairs, pairs + pairs // 100)
    new = cost_of(tmp_path)
    write_pairs(tmp_path / "many/00000000.tsv", pairs // 100, FILE_PAIRS + pairs // 100)
    changed = cost_of(tmp_path, "--accept", "a benchmark")
    print(
        f"\n{pairs} pairs: first night {first}, nothing new {min(nothing)}, 1 % new {new}, "
        f"a file of {FILE_PAIRS} changed {changed}"
    )
    assert min(nothing).clock < 10


MEMORY = """
import resource
import sys
import numpy as np
import pyarrow as pa
from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.forgetting.pair_places import Places
from pairweave.pipelines.refresh.forgetting.withdrawal import withdrawn
from pairweave.transforms.known_pairs import NO_IDS

table, entries = sys.argv[1], []
for number in range(int(sys.argv[2]) // 100_000):
    halves = np.random.default_rng(number).integers(0, 1 << 63, (100_000, 2)).tolist()
    rows = {"id": sorted(f"{high:016x}{low:016x}" for high, low in halves)}
    rows |= {"corpus": ["many"] * 100_000, "content": [f"{number:016x}"] * 100_000}
    rows |= {"line": range(100_000)}
    partition = {"source_lang": "en", "target_lang": "de"}
    entries.append(tables.write_file(table, "provenance", pa.table(rows), partition))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
places = Places(table, entries)
known = places.ids()
going = withdrawn(places, {f"{0:016x}"}, NO_IDS, Places(table, []))
assert (len(known), len(going.pairs)) == (int(sys.argv[2]), 100_000)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.parametrize("places", [1_000_000, 4_000_000])
def test_memory_of_provenance(places, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path), str(places)],
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"\n{places} places: a withdrawal takes {int(done.stdout)} MiB more")
    assert int(done.stdout) < places * 150 >> 20
