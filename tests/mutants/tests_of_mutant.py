"""Runs the tests that can reach the line which was mutated; exits with 0 if all of them pass.

cosmic-ray runs this in a copy of the tree, of which ``STATE/pristine`` holds the sources as they
were.
"""

import difflib
import json
import os
import resource
import sys
from pathlib import Path

import coverage
import pytest

QUIET = ["--tb", "line", "-W", "ignore::RuntimeWarning"]  # an integer of Python's that wraps
MOST_SECONDS = 60.0
"""Tests of a line are taken from the fastest on until they need this much CPU time in all."""

START_SECONDS = 60
"""CPU time that a mutant's tests may take beside four times what they took without it: a busy
machine kills no mutant, as a limit by the clock would."""


def changed_lines(state: Path) -> tuple[str, list[int]]:
    """Return the mutated file and the numbers that its changed lines had."""
    pristine = state / "pristine"
    for original in sorted(pristine.rglob("*.py")):
        name = original.relative_to(pristine)
        before, after = original.read_text(), (state / "tree" / name).read_text()
        if before == after:
            continue
        matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), False)
        found = [
            line + 1
            for kind, start, end, _, _ in matcher.get_opcodes()
            if kind != "equal"
            for line in range(start, max(end, start + 1))
        ]
        return str(name), found
    return "", []


def tests_of(state: Path, name: str, lines: list[int]) -> dict[str, float]:
    """Return the tests that run one of these lines, the fastest first, and their CPU seconds."""
    seconds = json.loads((state / "times.json").read_text())
    data = coverage.CoverageData(str(state / "coverage.sqlite"))
    data.read()
    reached = data.contexts_by_lineno(str(state / "tree" / name))
    found = {test for line in lines for test in reached.get(line, [])} & seconds.keys()
    if not found:  # a constant, say, or a line inside a statement: all tests of the module
        found = {test for tests in reached.values() for test in tests} & seconds.keys()
    chosen: dict[str, float] = {}
    for test in sorted(found, key=lambda test: (seconds[test], test)):
        if chosen and sum(chosen.values()) + seconds[test] > MOST_SECONDS:
            break
        chosen[test] = seconds[test]
    return chosen


def main() -> int:
    """Run them."""
    state = Path(os.environ["MUTANTS_STATE"])
    name, lines = changed_lines(state)
    chosen = tests_of(state, name, lines) if name else {}
    if not chosen:
        print(f"no test reaches {name} {lines}")
        return 0
    print(f"{len(chosen)} tests of {name} {lines}", flush=True)
    limit = START_SECONDS + int(4 * sum(chosen.values()))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "--timeout", "0"]
    return pytest.main([*options, *QUIET, *chosen])


if __name__ == "__main__":
    sys.exit(main())
