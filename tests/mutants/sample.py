"""Draws a sample of mutants from all that cosmic-ray's operators can make."""

import ast
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.plugins import get_operator, operator_names
from cosmic_ray.work_item import MutationSpec

# These need other libraries, whose tests are another suite, or hold no logic.
_NEURAL = re.compile(r"^\s*(?:import|from) (?:torch|transformers|ctranslate2|safetensors)", re.M)
_MARKUP_ONLY = frozenset({"report_style.py"})
# Without the compiler a kernel works as with it, so to remove its decorator changes nothing.
_NO_FAULTS = re.compile(r"njit|functools\.(?:cache|lru_cache|wraps)|overload")

Site = tuple[str, tuple[int, int], tuple[int, int]]


def pure_modules(tree: Path) -> list[Path]:
    """Return the modules to mutate: all transforms, and the models that need no other library."""
    found = [*tree.glob("transforms/**/*.py"), *tree.glob("models/**/*.py")]
    return sorted(
        path
        for path in found
        if path.name not in _MARKUP_ONLY and not _NEURAL.search(path.read_text())
    )


def draw(tree: Path, number: int, seed: int) -> list[MutationSpec]:
    """Return mutants of the tree, drawn by hash and seed.

    Places in the code are drawn, then one mutant of each: an operator with eleven alternatives
    counts no more than one with two. A smaller sample lies inside a larger one.
    """
    sites: dict[Site, list[MutationSpec]] = defaultdict(list)
    names = sorted(name for name in operator_names() if not get_operator(name).arguments())
    for module in pure_modules(tree):
        source = module.read_text()
        silent = set(_without_effect(source))
        lines = source.splitlines()
        path = str(module.relative_to(tree))
        nodes = list(ast_nodes(get_ast_from_path(module)))
        for name in names:
            operator = get_operator(name)()
            spans = (span for node in nodes for span in operator.mutation_positions(node))
            for occurrence, (start, end) in enumerate(spans):
                decorator = name.endswith("RemoveDecorator")
                if start in silent or (decorator and _NO_FAULTS.search(lines[start[0] - 1])):
                    continue
                sites[path, start, end].append(MutationSpec(path, name, occurrence, start, end))
    places = sorted(sites, key=lambda place: _hash(seed, place))[:number]
    return [
        min(sites[place], key=lambda one: _hash(seed, place, one.operator_name, one.occurrence))
        for place in places
    ]


def _hash(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode()).digest()


def _without_effect(source: str) -> Iterator[tuple[int, int]]:
    """Yield the (line, column) of all that is inside an annotation."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        annotation = getattr(node, "returns", None) or getattr(node, "annotation", None)
        if annotation is None:
            continue
        first = annotation.lineno, annotation.col_offset
        last = annotation.end_lineno, annotation.end_col_offset
        for line in range(first[0], last[0] + 1):
            for column in range(len(lines[line - 1]) + 1):
                if first <= (line, column) <= last:
                    yield line, column
