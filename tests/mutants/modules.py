"""Finds the modules to put faults into: those that can be imported without a neural library."""

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

FOLDERS = ("transforms", "models", "pipelines")
PACKAGE = "pairweave"
PURE, PIPELINES = AREAS = ("pure", "pipelines")
"""The areas that faults are drawn from in turn."""

_FOLDERS_OF = {
    PURE: ("transforms", "models"),
    PIPELINES: tuple(
        f"pipelines/{name}"
        for name in ("refresh", "run", "engines", "options", "job_options", "commands")
    ),
}
_NEURAL = {"torch", "transformers", "ctranslate2", "safetensors"}


def area_of(path: str) -> str:
    """Return the area of a module, which is given relative to the tree."""
    return PIPELINES if path.startswith("pipelines/") else PURE


def modules_of(tree: Path, area: str) -> list[Path]:
    """Return the modules of an area that import no neural library."""
    folders = [tree / folder for folder in _FOLDERS_OF[area]]
    return [path for path in importable(tree) if {*folders} & {*path.parents}]


@functools.cache
def importable(tree: Path) -> list[Path]:
    """Return the modules that import no neural library, neither themselves nor through others."""
    imports = imports_of(tree)
    neural = {name for name, needed in imports.items() if _roots(needed) & _NEURAL}
    grows = True
    while grows:
        more = {name for name, needed in imports.items() if name not in neural and needed & neural}
        neural |= more
        grows = bool(more)
    return [
        path
        for path in sources(tree)
        if dotted(tree, path) not in neural
        and not _roots(set(_imported(ast.parse(path.read_text()), inside=True))) & _NEURAL
    ]


def imports_of(tree: Path) -> dict[str, set[str]]:
    """Return by module what is imported with it."""
    return {dotted(tree, path): _imported_by(path) for path in sources(tree)}


def importers(tree: Path, path: str, files: Iterable[str]) -> list[str]:
    """Return those of some files that import a module."""
    name = dotted(tree, tree / path)
    return [file for file in files if name in _imported_by(tree / file)]


def sources(tree: Path) -> list[Path]:
    """Return all modules of the project."""
    return sorted(path for folder in FOLDERS for path in tree.glob(f"{folder}/**/*.py"))


def dotted(tree: Path, path: Path) -> str:
    """Return the name under which a module is imported."""
    parts = (PACKAGE, *path.relative_to(tree).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


@functools.cache
def _imported_by(path: Path) -> set[str]:
    return set(_imported(ast.parse(path.read_text()), inside=False))


def _roots(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def _imported(node: ast.AST, *, inside: bool) -> Iterator[str]:
    """Yield what is imported; ``inside`` means inside functions too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            yield child.module
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        elif inside or not isinstance(child, ast.FunctionDef):
            yield from _imported(child, inside=inside)
