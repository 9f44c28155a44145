"""What a compiled kernel was compiled from: its file and the files that it imports from.

Numba compares a compiled function with the file that defines it, but not with those of the
functions that it calls and of the constants that it uses. After an upgrade, it would continue with
code that contains earlier versions of these.
"""

import functools
import hashlib
import re
from pathlib import Path

PACKAGE = Path(__file__).absolute().parents[2]
"""The folder of the package `pairweave`. Not resolved: in a checkout, folders in it are links."""

_IMPORT = re.compile(rb"^from ([\w.]+) import (\([^)]*\)|.*)$|^import ([\w.]+)", re.MULTILINE)
_NAME = re.compile(rb"\w+")
_KERNEL = re.compile(rb"\bnjit\b|^@uncounted\b", re.MULTILINE)


def has_kernels(source: Path) -> bool:
    """Tell whether a module has kernels.

    Raises:
        OSError: The file cannot be read.
    """
    return _KERNEL.search(source.read_bytes()) is not None


@functools.cache
def digest(source: Path, package: Path = PACKAGE) -> str:
    """Return the SHA-256 over a file and all files of the package that it imports, directly or not.

    The digest depends on what is in the files and on their places in the package, not on where the
    package is.

    Args:
        source: A module of the package.
        package: The package's folder.

    Raises:
        OSError: The file cannot be read.
    """
    files: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in files:
            files.add(path)
            waiting += _imported(path, package)
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(f"{path.relative_to(package.parent)}\n{_read(path)[0]}\n".encode())
    return total.hexdigest()


@functools.cache
def _read(path: Path) -> tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return the SHA-256 of a file, and each module that it imports from with the names."""
    text = path.read_bytes()
    imports = tuple(
        ((first or second).decode(), tuple(name.decode() for name in _NAME.findall(names)))
        for first, names, second in _IMPORT.findall(text)
    )
    return hashlib.sha256(text).hexdigest(), imports


def _imported(path: Path, package: Path) -> list[Path]:
    """Return the files of the package that a file imports from."""
    imported = []
    for module, names in _read(path)[1]:
        first, *rest = module.split(".")
        if first != package.name:
            continue
        place = package.joinpath(*rest)
        files = [place.with_suffix(".py"), *(place / f"{name}.py" for name in names)]
        imported += [file for file in files if _exists(file)]
    return imported


@functools.cache
def _exists(path: Path) -> bool:
    return path.is_file()
