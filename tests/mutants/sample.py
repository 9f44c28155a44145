"""Draws a sample of faults from all that cosmic-ray's operators can make."""

import ast
import hashlib
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from tests.mutants.pure import pure_modules

# Without the compiler a kernel works as with it, so to remove its decorator changes nothing.
_NO_FAULTS = re.compile(r"njit|functools\.(?:cache|lru_cache|wraps)|overload")
# They say how a kernel is compiled or an object is stored, and not what comes out.
_SILENT_KEYWORDS = {"slots", "nogil", "cache"}

Position = tuple[int, int]
Site = tuple[str, Position, Position]


@dataclass(frozen=True)
class Fault:
    """One change of one module; ``occurrence`` counts the places where the operator applies."""

    path: str
    operator: str
    occurrence: int
    line: int
    source: str

    @property
    def key(self) -> str:
        """What names the fault, as long as its module stays as it is."""
        return f"{self.path}:{self.line} {self.operator} {self.occurrence}"


def draw(tree: Path, number: int, seed: int) -> list[Fault]:
    """Return faults of the tree, drawn by hash and seed.

    Places in the code are drawn, then one fault of each: an operator with eleven alternatives
    counts no more than one with two. A smaller sample lies inside a larger one.
    """
    sites: dict[Site, list[tuple[str, int]]] = defaultdict(list)
    for module in pure_modules(tree):
        path = str(module.relative_to(tree))
        for start, end, name, occurrence in _mutations(module):
            sites[path, start, end].append((name, occurrence))
    drawn: list[Fault] = []
    for place in sorted(sites, key=lambda place: _hash(seed, place)):
        ways = sorted(sites[place], key=lambda way: _hash(seed, place, *way))
        drawn += _first_that_compiles(tree, place, ways)
        if len(drawn) == number:
            break
    return drawn


def _mutations(module: Path) -> Iterator[tuple[Position, Position, str, int]]:
    source = module.read_text()
    silent = set(_without_effect(source))
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


def _first_that_compiles(tree: Path, place: Site, ways: list[tuple[str, int]]) -> list[Fault]:
    path, (line, _), _ = place
    before = (tree / path).read_text()
    for name, occurrence in ways:
        after = mutate_code(before, get_operator(name)(), occurrence)
        if _compiles(after) and ast.dump(ast.parse(after)) != ast.dump(ast.parse(before)):
            return [Fault(path, name, occurrence, line, after)]
    return []


def _compiles(source: str) -> bool:
    """Tell whether Python neither refuses the source nor warns of it, as of ``x is 1``."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(source, "fault", "exec")
        except SyntaxError:  # a warning is one, too, once it is an error
            return False
    return True


def _hash(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode()).digest()


def _without_effect(source: str) -> Iterator[Position]:
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
