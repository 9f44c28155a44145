"""SECURITY.md names tests that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| `(tests/[\w/]+\.py)::(\w+)` \|$", PAGE, re.MULTILINE)


def test_every_promise_has_a_test():
    tables = re.findall(
        r"^\| promise \| test \|\n\| --- \| --- \|\n((?:\|.*\n)+)", PAGE, re.MULTILINE
    )
    lines = "".join(tables).splitlines()
    assert len(lines) == len(ROWS) > 30
    assert len({promise for promise, _, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("path", "name"), [(path, name) for _, path, name in ROWS])
def test_the_test_of_a_promise_exists(path, name):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
