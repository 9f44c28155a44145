"""Tries a fault: chooses the tests that may notice it, and runs them."""

import ast
import json
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.mutants.measure import OPTIONS
from tests.mutants.modules import importers
from tests.mutants.sample import Fault

MAX_SECONDS = 20.0
"""Tests of a fault are taken, the most telling first, until they need this much CPU time."""

MAX_TESTS = 250
"""At most so many, because each also takes time for what is around it."""

START_SECONDS = 20
"""CPU time that the tests may take beside three times what they took without the fault: a busy
machine does not make a fault look noticed, as a limit by the clock would."""


class Reached:
    """Which test runs which line, from the files that `measure` wrote."""

    def __init__(self, measured: list[Path]) -> None:
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for path in measured:
            result = json.loads(path.read_text())
            self.seconds |= result["seconds"]
            for name, lines in result["lines"].items():
                if not name.endswith(".py"):  # coverage also sees the lines of templates
                    continue
                for line, tests in lines.items():
                    self.lines[name][int(line)].update(tests)

    def tests_of(self, tree: Path, fault: Fault) -> dict[str, float]:
        """Return the tests for a fault, the most telling first, and their CPU seconds.

        A test tells the more, the more lines of the module it runs in a second. The tests in files
        named after the module come first, then those in its folder: many others run a line of, say,
        the options and compare nothing that depends on it.
        """
        source = (tree / fault.path).read_text()
        lines, modules = _lines_to_reach(source, fault.line), [fault.path]
        run: dict[str, int] = defaultdict(int)
        if not lines:  # a constant or a field, which its own module or others use
            modules += importers(tree, fault.path, self.lines)
            files = importers(tree, fault.path, {test.partition("::")[0] for test in self.seconds})
            run |= {test: 1 for test in self.seconds if test.partition("::")[0] in files}
        for module in modules:
            inside = _inside_functions((tree / module).read_text())
            for line, tests in self.lines[module].items():
                for test in tests if line in inside else ():
                    run[test] += 1
        reached = set().union(*(self.lines[fault.path][line] for line in lines))
        if reached:
            run = {test: count for test, count in run.items() if test in reached}
        else:
            # A constant, or what runs in another process only, which tests beside it may start.
            beside = f"tests/{Path(fault.path).parent}/test_"
            run |= {test: 1 for test in self.seconds if test.startswith(beside) and test not in run}
        chosen: dict[str, float] = {}
        for test in sorted(run, key=lambda test: self._rank(test, run[test], fault.path)):
            if sum(chosen.values()) + self.seconds[test] < MAX_SECONDS and len(chosen) < MAX_TESTS:
                chosen[test] = self.seconds[test]
        return chosen

    def _rank(self, test: str, lines: int, path: str) -> tuple[bool, bool, float, str]:
        module, file = Path(path), Path(test.partition("::")[0])
        name = module.parent.name if module.stem == "__init__" else module.stem
        named, beside = file.stem.startswith(f"test_{name}"), file.parent == "tests" / module.parent
        return not named, not beside, self.seconds[test] / lines, test


def _lines_to_reach(source: str, line: int) -> set[int]:
    """Return the lines that stand for a line: its statement's, or the body of its function."""
    if line in _inside_functions(source):
        holders = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
        holders = [node for node in holders if node.lineno <= line <= (node.end_lineno or 0)]
        return {line, max(node.lineno for node in holders)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if first <= line < node.body[0].lineno:
                return set(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return set()


def _inside_functions(source: str) -> set[int]:
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        for line in range(node.body[0].lineno, (node.end_lineno or 0) + 1)
    }


def limit(tests: dict[str, float]) -> int:
    """Return the CPU seconds for a run of these tests."""
    return START_SECONDS + int(3 * sum(tests.values()))


class _Only:
    """A pytest plugin that leaves out all other tests, and begins with the most telling file."""

    def __init__(self, tests: list[str]) -> None:
        self.rank = {test: rank for rank, test in enumerate(tests)}
        self.files = list(dict.fromkeys(test.partition("::")[0] for test in tests))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self.rank]
        items[:] = sorted(chosen, key=self._place)

    def _place(self, item: pytest.Item) -> tuple[int, int]:
        return self.files.index(item.nodeid.partition("::")[0]), self.rank[item.nodeid]


def run(tests: list[str]) -> int:
    """Run tests in the current directory until one fails."""
    sys.dont_write_bytecode = True
    only = _Only(tests)
    options = ["-x", *OPTIONS, "-rfE", "--timeout", "0"]
    return int(pytest.main([*options, *only.files], plugins=[only]))
