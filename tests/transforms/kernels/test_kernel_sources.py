"""Which files a kernel's code comes from."""

import ast
import shutil
from pathlib import Path

import pytest

from pairweave.transforms.kernels import kernel_sources
from pairweave.transforms.kernels.kernel_sources import digest

KERNELS = sorted(
    path
    for path in (kernel_sources.PACKAGE / "transforms").rglob("*.py")
    if "numba.njit" in path.read_text()
)


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


def imported(path):
    """Return the package's files that a file imports, by its syntax tree."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        modules = [f"{node.module}.{name}" for name in names] + [node.module] if names else []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            first, *rest = module.split(".")
            file = kernel_sources.PACKAGE.joinpath(*rest).with_suffix(".py")
            if first == "pairweave" and file.is_file():
                found.add(file)
    return found


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_imports_are_those_of_the_syntax_tree(path):
    assert set(kernel_sources._imported(path, kernel_sources.PACKAGE)) == imported(path)


def test_there_are_kernels():
    assert len(KERNELS) > 40
    assert Path(kernel_sources.PACKAGE, "__init__.py").is_file()
