"""Samples faults of the pure parts, runs the tests that reach each, and prints the score.

Everything is kept in a directory outside the repository: a run that was stopped goes on where it
was when it is started again. With ``--retry``, the faults that survived are tried again, as after
tests were added.
"""

import argparse
import dataclasses
import difflib
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import pytest

from tests.mutants import choose, forks, measure, pure, sample, trying

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pairweave-mutants"
MEASURING_SECONDS = 1800  # of CPU, for a file of tests
_UNNOTICED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
_tree = Path()
"""In a worker: its own copy of the project."""


def main() -> int:
    """Run, or go on."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--mutants", type=int, default=300, help="how many to draw")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--state", type=Path, default=CACHE, help="directory to keep")
    parser.add_argument("--retry", action="store_true", help="try survivors again")
    options = parser.parse_args()
    os.environ |= {
        # Kernels as Python: one that is changed must not be found compiled, nor be compiled.
        "NUMBA_DISABLE_JIT": "1",
        "PAIRWEAVE_DATA": os.environ.get("PAIRWEAVE_DATA", str(ROOT.parent / "shared" / "data")),
    }
    state = options.state / _fingerprint()
    trees = [state / f"tree{worker}" for worker in range(options.workers)]
    for tree in trees:
        _copy_tree(tree)
    faults = _drawn(state, options.mutants, options.seed)
    forks.import_libraries()
    fork = multiprocessing.get_context("fork")
    free = fork.SimpleQueue()
    for tree in trees:
        free.put(tree)
    with ProcessPoolExecutor(options.workers, fork, initializer=_take, initargs=(free,)) as pool:
        reached = trying.Reached(_measure(pool, state, trees[0]))
        _try(pool, state, faults, reached, retry=options.retry)
    return _report(state, faults)


def _take(free: "multiprocessing.SimpleQueue[Path]") -> None:
    global _tree
    _tree = free.get()


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for path in pure.pure_modules(ROOT):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _copy_tree(copy: Path) -> None:
    """Copy the working tree: faults are made in the copy, and what is edited stays out of it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    shutil.rmtree(copy, ignore_errors=True)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)


def _drawn(state: Path, number: int, seed: int) -> list[sample.Fault]:
    known = state / f"seed{seed}.{number}.json"
    if not known.exists():
        faults = sample.draw(state / "tree0", number, seed)
        known.write_text(json.dumps([dataclasses.asdict(fault) for fault in faults]))
    return [sample.Fault(**fault) for fault in json.loads(known.read_text())]


def _measure(pool: ProcessPoolExecutor, state: Path, tree: Path) -> list[Path]:
    """Measure the tests; files that have not changed since they were measured are left out."""
    (state / "measured").mkdir(exist_ok=True)
    results, jobs = [], []
    for name, tests in choose.quick_tests(tree).items():
        digest = hashlib.sha256((tree / name).read_bytes() + repr(tests).encode()).hexdigest()
        results.append(state / "measured" / f"{digest[:32]}.json")
        if not results[-1].exists():
            jobs.append((tests, results[-1]))
    for done in as_completed([pool.submit(_measure_file, *job) for job in jobs]):
        print(done.result(), flush=True)
    return [path for path in results if path.exists()]


def _measure_file(tests: list[str], result: Path) -> str:
    log = result.with_suffix(".log")
    code = forks.run_in(_tree, log, MEASURING_SECONDS, lambda: measure.measure(tests, result))
    last = log.read_text().splitlines()[-1:]
    return f"measured {tests[0].partition('::')[0]}: {code or ''}{''.join(last)}"


def _try(
    pool: ProcessPoolExecutor,
    state: Path,
    faults: list[sample.Fault],
    reached: trying.Reached,
    *,
    retry: bool,
) -> None:
    """Try what has not been tried, and append each result to a file."""
    known = _results(state)
    left = [fault for fault in faults if fault.key not in known or (retry and known[fault.key][0])]
    jobs = []
    for fault in left:
        tests = reached.tests_of(state / "tree0", fault)
        jobs.append(pool.submit(_try_fault, fault, tests))
    for number, job in enumerate(as_completed(jobs), 1):
        key, survived, told = job.result()
        with (state / "results.jsonl").open("a") as results:
            results.write(json.dumps([key, survived, told]) + "\n")
        print(f"{number}/{len(jobs)} {key}: {'SURVIVED ' if survived else ''}{told}", flush=True)


def _try_fault(fault: sample.Fault, tests: dict[str, float]) -> tuple[str, bool, str]:
    if not tests:
        return fault.key, True, "no test reaches it"
    changed, log = _tree / fault.path, _tree / "trial.log"
    before = changed.with_suffix(".before")
    shutil.copy2(changed, before)
    changed.write_text(fault.source)
    code = forks.run_in(_tree, log, trying.limit(tests), lambda: trying.run([*tests]))
    before.replace(changed)
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (
        fault.key,
        code in _UNNOTICED,
        f"{code}, {len(tests)} tests, {[*failed, *lines[-1:], ''][0]}",
    )


def _results(state: Path) -> dict[str, tuple[bool, str]]:
    known = state / "results.jsonl"
    lines = known.read_text().splitlines() if known.exists() else []
    return {key: (survived, told) for key, survived, told in map(json.loads, lines)}


def _report(state: Path, faults: list[sample.Fault]) -> int:
    known = _results(state)
    survivors = [fault for fault in faults if known[fault.key][0]]
    for fault in survivors:
        print(f"\n{fault.key}: {known[fault.key][1]}")
        before = (state / "tree0" / fault.path).read_text().splitlines()
        print("\n".join(_changed(before, fault.source.splitlines())))
    caught = len(faults) - len(survivors)
    print(f"\n{caught} of {len(faults)} faults caught, {caught / max(1, len(faults)):.1%}")
    return 0


def _changed(before: list[str], after: list[str]) -> Iterator[str]:
    for line in difflib.unified_diff(before, after, lineterm="", n=0):
        if line[:3] not in ("---", "+++", "@@ "):
            yield line


if __name__ == "__main__":
    sys.exit(main())
