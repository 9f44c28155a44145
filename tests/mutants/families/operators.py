"""Faults that cosmic-ray's operators make: numbers off by one, other comparisons, and so on."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from tests.mutants.families.edits import Position

# Without the compiler a kernel works as with it, so to remove its decorator changes nothing.
_NO_FAULTS = re.compile(r"njit|uncounted|functools\.(?:cache|lru_cache|wraps)|overload")
# They say how a kernel is compiled or an object is stored, and not what comes out.
_SILENT_KEYWORDS = {"slots", "nogil", "cache"}


def mutations(module: Path) -> Iterator[tuple[Position, Position, str, int]]:
    """Yield where each fault of a module is, its operator, and which of the operator's it is."""
    source = module.read_text()
    silent = set(without_effect(source))
    lines = source.splitlines()
    nodes = list(ast_nodes(get_ast_from_path(module)))
    for name in sorted(name for name in operator_names() if not get_operator(name).arguments()):
        operator = get_operator(name)()
        spans = (span for node in nodes for span in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(spans):
            decorator = name.endswith("RemoveDecorator")
            if decorator and _NO_FAULTS.search(lines[start[0] - 1]):
                continue
            if start not in silent:
                yield start, end, name, occurrence


def mutated(source: str, operator: str, occurrence: int) -> str:
    """Return a module's text with one fault."""
    return mutate_code(source, get_operator(operator)(), occurrence)


def without_effect(source: str) -> Iterator[Position]:
    """Yield each (line, column) inside annotations and what else can change no result."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        for silent in _silent_parts(node):
            first = silent.lineno, silent.col_offset
            last = silent.end_lineno, silent.end_col_offset
            for line in range(first[0], last[0] + 1):
                for column in range(len(lines[line - 1]) + 1):
                    if first <= (line, column) < last:
                        yield line, column


def _silent_parts(node: ast.AST) -> Iterator[ast.expr]:
    annotation = getattr(node, "returns", None) or getattr(node, "annotation", None)
    if annotation is not None:
        yield annotation
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        yield node.test
    for decorator in getattr(node, "decorator_list", []):
        if isinstance(decorator, ast.Call):
            yield from (one.value for one in decorator.keywords if one.arg in _SILENT_KEYWORDS)
