"""CPU time of the first run of an installation, with a wheel that ships kernels and without.

All are of ``augment`` on made-up pairs, with two workers and an empty directory of compiled code.
"""

import os
import resource
import subprocess
import sys

import pytest

from tests.deploy.test_compiled_wheel import build
from tests.makers import corpora, runs

pytestmark = pytest.mark.bench

PAIRS = 2_000
SHOWN = 15
LIMIT_SECONDS = 10.0


def cpu_seconds(package, kernels, *arguments):
    """Run the command; return its CPU seconds, those of its workers included."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels), "PYTHONPATH": str(package)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [*runs.COMMAND, *map(str, arguments)]
    subprocess.run(command, env=environment, cwd=package, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_cpu_time_of_a_first_run(tmp_path):
    corpora.write_corpus(tmp_path, PAIRS)
    kernels = tmp_path / "kernels"
    job = (
        *("augment", "--source_input", tmp_path / "corpus.en"),
        *("--target_input", tmp_path / "corpus.de", "--source_lang", "en", "--target_lang", "de"),
        *("--workers", 2, "--shard_pairs", PAIRS // 4),
    )
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    wheel = build(tmp_path)
    subprocess.run([*pip, "--no-deps", "--target", str(site), str(wheel)], check=True)
    shipped = cpu_seconds(site, tmp_path / "none", *job, "--output", tmp_path / "shipped")
    assert not list((tmp_path / "none").rglob("*.nbc"))
    first = cpu_seconds(runs.ROOT, kernels, *job, "--output", tmp_path / "first")
    compiled = len(list(kernels.rglob("*.nbc")))
    second = cpu_seconds(runs.ROOT, kernels, *job, "--output", tmp_path / "second")
    assert len(list(kernels.rglob("*.nbc"))) == compiled
    digests = {runs.tree_digest(tmp_path / name) for name in ("shipped", "first", "second")}
    assert len(digests) == 1
    print(
        f"\nCPU time of a first run: {shipped:.1f} s with the kernels of a wheel, {first:.1f} s "
        f"without; of the next run {second:.1f} s; {compiled} signatures; "
        f"wheel of {wheel.stat().st_size} bytes"
    )
    assert shipped < LIMIT_SECONDS
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels), "PYTHONPATH": str(runs.ROOT)}
    words = [sys.executable, "-m", "tests.benchmarks.compile_times", str(SHOWN)]
    print(subprocess.check_output(words, env=environment, cwd=runs.ROOT, text=True))
