"""Chooses the tests that are fast enough to be run against each fault."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.pure import PACKAGE, pure_modules

_SLOW_IMPORT = re.compile(r"tests\S*\.runs\b|tests\S* import .*\bruns\b|subprocess")
_SLOW_TEXT = re.compile(r"torch|local_?runner|linear_time", re.I)
_NEURAL = re.compile(r"^(?:import torch|from (?:torch|safetensors)|.*importorskip\(.torch)", re.M)


def quick_tests(tree: Path) -> dict[str, list[str]]:
    """Return the tests that run no job, start no process and need no neural library.

    Returns:
        By file, in order, what to give to pytest: the file's name where all of its tests are quick,
        otherwise the names of those that are. A module with examples in it is such a file too.
    """
    chosen = {}
    for path in pure_modules(tree):
        if ">>>" in path.read_text():
            name = f"{PACKAGE}/{path.relative_to(tree)}"
            chosen[name] = [name]
    for path in sorted(tree.glob("tests/**/test_*.py")):
        source = path.read_text()
        if "cluster" in path.parts or _NEURAL.search(source):
            continue
        name = str(path.relative_to(tree))
        quick, slow = _parted(source)
        if quick:
            chosen[name] = [f"{name}::{test}" for test in quick] if slow else [name]
    return chosen


def _parted(source: str) -> tuple[list[str], list[str]]:
    """Return the names of a file's quick tests and of its slow ones."""
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    texts = {name: ast.get_source_segment(source, node) or "" for name, node in functions.items()}
    slow = {name for name, text in texts.items() if _SLOW_TEXT.search(text)}
    slow |= set(_slow_imports(source, tree))
    grows = True
    while grows:
        more = {name for name in functions if name not in slow and _names(functions[name]) & slow}
        slow |= more
        grows = bool(more)
    tests = [name for name in functions if name.startswith("test_")]
    return [name for name in tests if name not in slow], [name for name in tests if name in slow]


def _slow_imports(source: str, tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        if not _SLOW_IMPORT.search(ast.get_source_segment(source, node) or ""):
            continue
        for alias in node.names:
            name = alias.asname or alias.name
            if name in ("runs", "subprocess") or ".runs" in ast.unparse(node):
                yield name


def _names(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function uses; a fixture is the name of an argument."""
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return used | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
