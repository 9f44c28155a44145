"""Samples faults, runs the tests that reach each, and prints the survivors and the score.

Everything is kept in a directory outside the repository: a run that was stopped goes on where it
was when it is started again. With ``--retry``, the faults that survived are tried again, as after
tests were added.
"""

import argparse
import dataclasses
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import pytest

from tests.mutants import choose, forks, measure, modules, sample, score, trying

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pairweave-mutants"
MEASURING_SECONDS = 1800  # of CPU, for a file of tests
KERNELS = ("*.nbi", "*.nbc")
"""The files in which Numba keeps compiled kernels, beside their sources."""

_UNNOTICED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
_tree = Path()
"""In a worker: its own copy of the project."""


def main() -> int:
    """Run, or go on."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--mutants", type=int, default=300, help="how many to draw")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    parser.add_argument(
        "--area",
        choices=modules.AREAS,
        action="append",
        help="leave out the other area",
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--state", type=Path, default=CACHE, help="directory to keep")
    parser.add_argument("--retry", action="store_true", help="try survivors again")
    options = parser.parse_args()
    areas = tuple(dict.fromkeys(options.area or modules.AREAS))
    os.environ["PAIRWEAVE_DATA"] = os.environ.get(
        "PAIRWEAVE_DATA", str(ROOT.parent / "shared" / "data")
    )
    state = options.state / _fingerprint()
    trees = [state / f"tree{worker}" for worker in range(options.workers)]
    for tree in trees:
        _copy_tree(tree)
    faults = _drawn(state, options.mutants, options.seed, areas)
    forks.import_libraries()
    fork = multiprocessing.get_context("fork")
    free = fork.SimpleQueue()
    for tree in trees:
        free.put(tree)
    with ProcessPoolExecutor(options.workers, fork, initializer=_take, initargs=(free,)) as pool:
        reached = {area: trying.Reached(_measure(pool, state, trees[0], area)) for area in areas}
        _try(pool, state, faults, reached, retry=options.retry)
    print(score.report(state / "tree0", faults, _results(state)))
    return 0


def _take(free: "multiprocessing.SimpleQueue[Path]") -> None:
    global _tree
    _tree = free.get()


def _place(area: str) -> forks.Place:
    """Return where the tests of faults of an area run: faults of the pipelines are in no kernel."""
    scratch = Path(tempfile.gettempdir()) / f"mutants-{os.getpid()}"
    return forks.Place(_tree, scratch, compiled=area == modules.PIPELINES)


def _fingerprint() -> str:
    """Return what names the state of the sources; results are of one such state."""
    return _digest(modules.importable(ROOT))[:16]


def _drawing() -> list[Path]:
    """Return the modules that decide which faults are drawn."""
    own = Path(__file__).parent
    return [own / "modules.py", own / "sample.py", *sorted((own / "families").glob("[!t]*.py"))]


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _copy_tree(copy: Path) -> None:
    """Copy the working tree: faults are made in the copy, and what is edited stays out of it.

    Kernels that are compiled in either are kept.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    former = copy.with_name(f"{copy.name}-former")
    shutil.rmtree(former, ignore_errors=True)
    if copy.exists():
        copy.rename(former)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            _copy(ROOT / name, copy / name)
    for tree in (ROOT, former):
        for folder in modules.FOLDERS:
            for pattern in KERNELS:
                for path in (tree / folder).rglob(pattern):
                    _copy(path, copy / path.relative_to(tree))
    shutil.rmtree(former, ignore_errors=True)


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, to, follow_symlinks=False)


def _drawn(state: Path, number: int, seed: int, areas: tuple[str, ...]) -> list[sample.Fault]:
    only = "" if areas == modules.AREAS else f".{'-'.join(areas)}"
    known = state / f"seed{seed}{only}.{number}.{_digest(_drawing())[:8]}.json"
    if not known.exists():
        faults = sample.draw(state / "tree0", number, seed, areas)
        known.write_text(json.dumps([dataclasses.asdict(fault) for fault in faults]))
    return [sample.Fault(**fault) for fault in json.loads(known.read_text())]


def _measure(pool: ProcessPoolExecutor, state: Path, tree: Path, area: str) -> list[Path]:
    """Measure the tests; files that have not changed since they were measured are left out."""
    (state / "measured").mkdir(exist_ok=True)
    results, jobs = [], []
    for name, tests in choose.quick_tests(tree, area).items():
        told = (tree / name).read_bytes() + repr((tests, area)).encode()
        results.append(state / "measured" / f"{hashlib.sha256(told).hexdigest()[:32]}.json")
        if not results[-1].exists():
            jobs.append((area, tests, results[-1]))
    for number, done in enumerate(
        as_completed([pool.submit(_measure_file, *job) for job in jobs]), 1
    ):
        print(f"{number}/{len(jobs)} {done.result()}", flush=True)
    return [path for path in results if path.exists()]


def _measure_file(area: str, tests: list[str], result: Path) -> str:
    log = result.with_suffix(".log")
    measuring = lambda: measure.measure(tests, result)  # noqa: E731
    code = forks.run_in(_place(area), log, MEASURING_SECONDS, measuring)
    last = log.read_text(errors="replace").splitlines()[-1:]
    return f"measured {tests[0].partition('::')[0]}: {code or ''}{''.join(last)}"


def _try(
    pool: ProcessPoolExecutor,
    state: Path,
    faults: list[sample.Fault],
    reached: dict[str, trying.Reached],
    *,
    retry: bool,
) -> None:
    """Try what has not been tried, and append each result to a file."""
    known = _results(state)
    left = [fault for fault in faults if fault.key not in known or (retry and known[fault.key][0])]
    jobs = []
    for fault in left:
        tests = reached[fault.area].tests_of(state / "tree0", fault)
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
    trial = lambda: trying.run([*tests])  # noqa: E731
    code = forks.run_in(_place(fault.area), log, trying.limit(tests), trial)
    before.replace(changed)
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (
        fault.key,
        code in _UNNOTICED,
        f"{code}, {len(tests)} tests, {[*failed, *lines[-1:], ''][0]}",
    )


def _results(state: Path) -> score.Results:
    known = state / "results.jsonl"
    lines = known.read_text().splitlines() if known.exists() else []
    return {key: (survived, told) for key, survived, told in map(json.loads, lines)}


if __name__ == "__main__":
    sys.exit(main())
