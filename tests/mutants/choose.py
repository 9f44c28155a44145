"""Chooses the tests that are fast enough to be run against each fault."""

import ast
import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.modules import PACKAGE, PIPELINES, PURE, modules_of

_NEURAL = re.compile(r"^(?:import torch|from (?:torch|safetensors)|\S.*importorskip\(.torch)", re.M)
_USES_PIPELINES = re.compile(
    r"pairweave\.pipelines|tests\S*\.(?:runs|nightly)\b|tests\S* import .*\b(?:runs|nightly)\b"
)
_ELSEWHERE = {"benchmarks", "cluster", "docs", "mutants", "oracles"}


@dataclass(frozen=True)
class Slow:
    """What makes a test too slow, or start a process.

    Attributes:
        text: Names and words in the text of a test or of what it uses.
        imports: Imports whose names do so.
    """

    text: re.Pattern[str]
    imports: re.Pattern[str]


_STARTS = r"(?:COMMAND|start|run|run_well|digest_of|kill_\w+|children)\b"
"""What of `tests.makers.runs` starts the command."""

_SLOW = {
    PURE: Slow(
        re.compile(r"torch|local_?runner|linear_time", re.I),
        re.compile(r"tests\S*\.runs\b|tests\S* import .*\bruns\b|subprocess"),
    ),
    # What `runs.run_here` and its like do is allowed.
    PIPELINES: Slow(
        re.compile(rf"\bruns\.{_STARTS}|linear_time|\btorch\b"),
        re.compile(
            rf"tests\S*\.runs import {_STARTS}|tests\S* import .*\b(?:terminals|documented|trees)\b"
        ),
    ),
}
_STARTS_PYTHON = re.compile(r"subprocess\.\w+\(\s*\[?\s*\*?sys\.executable")
_PROCESSES = ("tests/pipelines/engines/", "tests/pipelines/process/", "tests/pipelines/run/")
"""Where tests start Python, but with few imports, because processes are what they are about."""


def quick_tests(tree: Path, area: str) -> dict[str, list[str]]:
    """Return the tests to measure for faults of an area.

    Those for the pure parts run no job and start no process. Those for the pipelines may run jobs
    in their own process and start small programs, but not the command. None needs a neural library.

    Returns:
        By file, in order, what to give to pytest: the file's name where all of its tests are quick,
        otherwise the names of those that are. A module with examples in it is such a file too.
    """
    chosen = {}
    for path in modules_of(tree, area):
        if ">>>" in path.read_text():
            name = f"{PACKAGE}/{path.relative_to(tree)}"
            chosen[name] = [name]
    for path in sorted(tree.glob("tests/**/test_*.py")):
        source = path.read_text()
        if _ELSEWHERE & {*path.relative_to(tree).parts} or _NEURAL.search(source):
            continue
        if area == PIPELINES and not _USES_PIPELINES.search(source):
            continue
        name = str(path.relative_to(tree))
        too_slow = _SLOW[area]
        if area == PIPELINES and not name.startswith(_PROCESSES):
            text = f"{too_slow.text.pattern}|{_STARTS_PYTHON.pattern}"
            too_slow = dataclasses.replace(too_slow, text=re.compile(text))
        quick, slow = _parted(source, too_slow)
        if quick:
            chosen[name] = [f"{name}::{test}" for test in quick] if slow else [name]
    return chosen


def _parted(source: str, too_slow: Slow) -> tuple[list[str], list[str]]:
    """Return the names of a file's quick tests and of its slow ones."""
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    texts = {name: ast.get_source_segment(source, node) or "" for name, node in functions.items()}
    slow = {name for name, text in texts.items() if too_slow.text.search(text)}
    slow |= set(_slow_imports(tree, too_slow))
    grows = True
    while grows:
        more = {name for name in functions if name not in slow and _names(functions[name]) & slow}
        slow |= more
        grows = bool(more)
    tests = [name for name in functions if name.startswith("test_")]
    return [name for name in tests if name not in slow], [name for name in tests if name in slow]


def _slow_imports(tree: ast.Module, too_slow: Slow) -> Iterator[str]:
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for alias in node.names:
            one = ast.unparse(type(node)(**{**vars(node), "names": [alias]}))
            if too_slow.imports.search(one):
                yield alias.asname or alias.name


def _names(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function uses; a fixture is the name of an argument."""
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return used | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
