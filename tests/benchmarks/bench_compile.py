"""CPU time of a first run, which compiles kernels, beside that of the next; and of the kernels.

Both are of ``augment`` on made-up pairs, with two workers and an empty directory of compiled code.
"""

import os
import resource
import subprocess
import sys

import pytest

from tests.makers import corpora, runs

pytestmark = pytest.mark.bench

PAIRS = 2_000
SHOWN = 15


def cpu_seconds(environment, *arguments):
    """Run the command; return its CPU seconds, those of its workers included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [*runs.COMMAND, *map(str, arguments)]
    subprocess.run(command, env=environment, cwd=runs.ROOT, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_cpu_time_of_a_first_run(tmp_path):
    corpora.write_corpus(tmp_path, PAIRS)
    kernels = tmp_path / "kernels"
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(kernels),
        "PYTHONPATH": str(runs.ROOT),
    }
    job = (
        *("augment", "--source_input", tmp_path / "corpus.en"),
        *("--target_input", tmp_path / "corpus.de", "--source_lang", "en", "--target_lang", "de"),
        *("--workers", 2, "--shard_pairs", PAIRS // 4),
    )
    first = cpu_seconds(environment, *job, "--output", tmp_path / "first")
    compiled = len(list(kernels.rglob("*.nbc")))
    second = cpu_seconds(environment, *job, "--output", tmp_path / "second")
    assert len(list(kernels.rglob("*.nbc"))) == compiled
    assert runs.tree_digest(tmp_path / "first") == runs.tree_digest(tmp_path / "second")
    print(f"\nfirst run {first:.1f} s of CPU time, next run {second:.1f} s: {compiled} signatures")
    words = [sys.executable, "-m", "tests.benchmarks.compile_times", str(SHOWN)]
    print(subprocess.check_output(words, env=environment, cwd=runs.ROOT, text=True))
