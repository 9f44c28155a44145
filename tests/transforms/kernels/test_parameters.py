"""Kernels take few parameters: what belongs together is a NamedTuple."""

import ast
from pathlib import Path

from pairweave.transforms import kernels

MOST = 8


def parameters(source):
    """Return how many parameters each function of a module takes, by name."""
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    return {
        function.name: sum(isinstance(node, ast.arg) for node in ast.walk(function.args))
        for function in functions
    }


def test_parameters_of_all_kinds_are_counted():
    source = "def one(a, /, b, *c, d, **e): ...\ndef other(): ..."
    assert parameters(source) == {"one": 5, "other": 0}


def test_no_kernel_takes_more_than_eight_parameters():
    room = Path(next(iter(kernels.__path__)))
    counts = {
        f"{path.relative_to(room)}: {name}": count
        for path in sorted(room.rglob("*.py"))
        for name, count in parameters(path.read_text("utf-8")).items()
    }
    assert len(counts) > 100
    assert [name for name, count in counts.items() if count > MOST] == []
