"""Samples mutants of the pure parts, runs the tests that reach each, and prints the score.

Everything is kept in a directory outside the repository: a run that was stopped goes on where it
was when it is started again with the same seed, or a larger number. With ``--retry``, the mutants
that survived are tried again, as after tests were added.
"""

import argparse
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import uuid
from pathlib import Path

from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkItem

from tests.mutants import choose, sample
from tests.mutants.tests_of_mutant import QUIET

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pairweave-mutants"
LIMIT_SECONDS = 3600  # by the clock; `tests_of_mutant` has one of CPU time
CONFIG = f"""
[cosmic-ray]
module-path = "transforms"
timeout = {LIMIT_SECONDS}
test-command = "{sys.executable} -m tests.mutants.tests_of_mutant"
[cosmic-ray.distributor]
name = "local"
"""


def main() -> int:
    """Run, or go on."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--mutants", type=int, default=300, help="how many to draw")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    parser.add_argument("--state", type=Path, help="directory to keep; below ~/.cache by default")
    parser.add_argument("--retry", action="store_true", help="try survivors again")
    options = parser.parse_args()
    state = options.state or CACHE / str(options.seed)
    _copy_tree(state)
    environment = {
        **os.environ,
        # Kernels as Python: one that is changed must not be found compiled, nor be compiled.
        "NUMBA_DISABLE_JIT": "1",
        "HYPOTHESIS_PROFILE": "ci",
        "PYTHONPATH": str(state / "tree"),
        "PAIRWEAVE_DATA": os.environ.get("PAIRWEAVE_DATA", str(ROOT.parent / "shared" / "data")),
        "MUTANTS_STATE": str(state),
        "MUTANTS_TIMES": str(state / "found.json"),
    }
    session = state / "session.sqlite"
    drawn = _fingerprint(state)
    if session.exists() and (state / "drawn").read_text() != drawn:
        print(f"the sources have changed since {session} was drawn; delete {state}")
        return 2
    database = WorkDB(str(session), WorkDB.Mode.create)
    if database.num_work_items < options.mutants:
        known = {_key(mutation) for item in database.work_items for mutation in item.mutations}
        drawn_now = sample.draw(state / "tree", options.mutants, options.seed)
        new = [mutation for mutation in drawn_now if _key(mutation) not in known]
        database.add_work_items(WorkItem.single(uuid.uuid4().hex, mutation) for mutation in new)
    database.close()
    (state / "drawn").write_text(drawn)
    _measure(state, environment)
    if options.retry:
        _forget_survivors(session)
    (state / "config.toml").write_text(CONFIG)
    command = [sys.executable, "-m", "cosmic_ray.cli", "exec", "config.toml", str(session)]
    shutil.copy(state / "config.toml", state / "tree" / "config.toml")
    subprocess.run(command, cwd=state / "tree", env=environment, check=True)
    return _report(session)


def _key(mutation: MutationSpec) -> tuple[str, str, int]:
    return str(mutation.module_path), mutation.operator_name, mutation.occurrence


def _copy_tree(state: Path) -> None:
    """Copy the working tree: mutants are made in the copy, and what is edited stays out of it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for copy in ("tree", "pristine"):
        shutil.rmtree(state / copy, ignore_errors=True)
    for name in filter(None, listed.split("\0")):
        if not (ROOT / name).is_file() and not (ROOT / name).is_symlink():
            continue
        copies = ["tree"]
        if name.startswith(("transforms/", "models/")) and name.endswith(".py"):
            copies.append("pristine")
        for copy in copies:
            (state / copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, state / copy / name, follow_symlinks=False)


def _fingerprint(state: Path) -> str:
    digest = hashlib.sha256()
    for path in sample.pure_modules(state / "tree"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _measure(state: Path, environment: dict[str, str]) -> None:
    """Find out which test runs which line; test files that were measured before are left out."""
    tree, known = state / "tree", state / "measured.json"
    measured = json.loads(known.read_text()) if known.exists() else {}
    chosen = choose.quick_tests(tree)
    wanted = {name: _digest(tree, name, tests) for name, tests in chosen.items()}
    (state / "coveragerc").write_text(
        "[run]\nsource = transforms,models\n"
        f"data_file = {state / 'coverage.sqlite'}\ndisable_warnings = no-data-collected\n"
    )
    times = json.loads((state / "times.json").read_text()) if measured else {}
    times = {test: spent for test, spent in times.items() if test.partition("::")[0] in wanted}
    for name, digest in wanted.items():
        if measured.get(name) == digest:
            continue
        command = [sys.executable, "-m", "coverage", "run", f"--rcfile={state / 'coveragerc'}"]
        command += ["--append", "-m", "pytest", "-q", "--no-header", "--timeout", "900", *QUIET]
        command += ["-p", "tests.mutants.reach", "-p", "no:cacheprovider", *chosen[name]]
        subprocess.run(command, cwd=tree, env=environment, check=False)
        times = {test: spent for test, spent in times.items() if test.partition("::")[0] != name}
        found = state / "found.json"
        times |= json.loads(found.read_text()) if found.exists() else {}
        found.unlink(missing_ok=True)
        measured[name] = digest
        (state / "times.json").write_text(json.dumps(times, indent=0))
        known.write_text(json.dumps(measured, indent=0))


def _digest(tree: Path, name: str, tests: list[str]) -> str:
    """Return what changes with a test file, and with which of its tests are run."""
    digest = hashlib.sha256((tree / name).read_bytes())
    if tests != [name]:
        digest.update(repr(tests).encode())
    return digest.hexdigest()


def _forget_survivors(session: Path) -> None:
    with sqlite3.connect(session) as database:
        database.execute("delete from work_results where test_outcome = 'SURVIVED'")


def _report(session: Path) -> int:
    database = WorkDB(str(session), WorkDB.Mode.open)
    results = dict(database.results)
    survived = []
    for item in database.work_items:
        result = results.get(item.job_id)
        if result is not None and result.test_outcome == TestOutcome.SURVIVED:
            survived.append((item, result))
    for item, result in survived:
        (mutation,) = item.mutations
        print(f"\n{mutation.module_path}:{mutation.start_pos[0]} {mutation.operator_name}")
        changed = [line for line in result.diff.splitlines() if line[:1] in "+-"]
        print("\n".join(line for line in changed if line[:3] not in ("---", "+++")))
    caught = len(results) - len(survived)
    print(f"\n{caught} of {len(results)} mutants caught, {caught / max(1, len(results)):.1%}")
    database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
