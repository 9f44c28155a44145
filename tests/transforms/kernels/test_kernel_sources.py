"""Which files a kernel's code comes from."""

import ast
import shutil
from pathlib import Path

import pytest

from pairweave.transforms.kernels import kernel_sources
from pairweave.transforms.kernels.kernel_sources import digest, has_kernels

PACKAGE = kernel_sources.PACKAGE


def imported(path):
    """Return the package's files that a file imports, by its syntax tree.

    Those of packages count if they have any code.
    """
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            modules |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        if isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
    result = set()
    for module in modules:
        first, *rest = module.split(".")
        place = PACKAGE.joinpath(*rest)
        folder = place / "__init__.py"
        if first == "pairweave" and place.with_suffix(".py").is_file():
            result.add(place.with_suffix(".py"))
        elif first == "pairweave" and folder.is_file() and assigns(folder):
            result.add(folder)
    return result


def assigns(path):
    """Return True if a file defines anything that could be imported from it."""
    kinds = ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef
    return any(isinstance(node, kinds) for node in ast.parse(path.read_text()).body)


def closure():
    """Return the modules with kernels, and all that they import."""
    waiting = [path for path in (PACKAGE / "transforms").rglob("*.py") if has_kernels(path)]
    result = set()
    while waiting:
        path = waiting.pop()
        if path not in result:
            result.add(path)
            waiting += imported(path)
    return sorted(result)


SOURCES = closure()


@pytest.fixture
def toy(tmp_path):
    """Return a package: `first` imports `folder.second`, which imports `third`."""
    package = tmp_path / "one" / "toy"
    (package / "folder").mkdir(parents=True)
    (package / "first.py").write_text("import json\nfrom toy.folder import (\n    second,\n)\n")
    (package / "folder" / "second.py").write_text("from toy.third import x\nfrom other import y\n")
    (package / "third.py").write_text("import toy.first\nx = 1\n")
    (package / "fourth.py").write_text("x = 1\n")
    return package


def fresh(source, package):
    digest.cache_clear()
    kernel_sources._read.cache_clear()
    kernel_sources._exists.cache_clear()
    return digest(source, package)


@pytest.mark.parametrize("changed", ["first", "folder/second", "third"])
def test_a_changed_import_of_an_import_changes_it(toy, changed):
    before = fresh(toy / "first.py", toy)
    with (toy / f"{changed}.py").open("a") as file:
        file.write("# changed\n")
    assert fresh(toy / "first.py", toy) != before


def test_other_files_and_the_place_of_the_package_do_not(toy, tmp_path):
    before = fresh(toy / "first.py", toy)
    (toy / "fourth.py").write_text("x = 2\n")
    assert fresh(toy / "first.py", toy) == before
    moved = shutil.copytree(toy, tmp_path / "two" / "toy")
    assert fresh(moved / "first.py", moved) == before


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_imports_are_those_of_the_syntax_tree(path):
    assert set(kernel_sources._imported(path, PACKAGE)) == imported(path)


def test_there_are_sources():
    assert len(SOURCES) > 50
    assert Path(PACKAGE, "__init__.py").is_file()
