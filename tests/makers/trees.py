"""Copies of what the package is built from."""

import shutil

from tests.makers import runs

FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in")
FOLDERS = ("pairweave", "pipelines", "transforms", "models")


def copy_sources(tree, *more):
    """Write what a wheel is built from, and other files and folders, into a new directory."""
    tree.mkdir()
    for name in (*FILES, *more):
        kind = shutil.copytree if (runs.ROOT / name).is_dir() else shutil.copy
        kind(runs.ROOT / name, tree / name)
    skip = shutil.ignore_patterns("__pycache__")
    for name in FOLDERS:
        shutil.copytree(runs.ROOT / name, tree / name, symlinks=True, ignore=skip)
    return tree
