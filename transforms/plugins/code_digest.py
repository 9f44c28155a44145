"""The SHA-256 of a plugin's code: of every file of its distribution and its package."""

import hashlib
import importlib.util
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

_COMPILED = frozenset({".pyc", ".pyo", ".nbi", ".nbc", ".pth"})


def code_digest(distribution: Distribution, module: str) -> str:
    """Return the hex SHA-256 of the names and bytes of all files of a plugin.

    These are the files that the plugin's distribution lists, and the files in the folder of the
    package that its entry point names, since the distribution of an editable install lists none.
    Caches, files written by an installer, and other distributions that the plugin imports are left
    out.

    Args:
        distribution: The installed distribution.
        module: The module that the entry point names.

    Raises:
        OSError: A file cannot be read.
    """
    files = {**dict(_listed(distribution)), **dict(_of_package(module))}
    digest = hashlib.sha256()
    for name in sorted(files):
        with files[name].open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{name}\0{content}\n".encode())
    return digest.hexdigest()


def _listed(distribution: Distribution) -> Iterator[tuple[str, Path]]:
    """Yield the files that a distribution lists, by their names."""
    for each in distribution.files or ():
        written = each.parts[0] == ".." or each.parts[0].endswith((".dist-info", ".egg-info"))
        path = Path(str(each.locate()))
        if not written and not each.name.startswith("__editable__") and _is_code(each, path):
            yield each.as_posix(), path


def _of_package(module: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of the outermost package of a module, by their names below its parent folder.

    Several distributions may share a package without ``__init__.py``, so the package or module
    inside it counts, and otherwise the files that its distribution lists.
    """
    name, _, rest = module.partition(".")
    spec = importlib.util.find_spec(name)
    while spec is not None and spec.origin is None and rest:
        inner, _, rest = rest.partition(".")
        name = f"{name}.{inner}"
        spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None or not spec.has_location:
        return
    origin, parents = Path(spec.origin), name.split(".")[:-1]
    if spec.submodule_search_locations is None:
        yield PurePosixPath(*parents, origin.name).as_posix(), origin
        return
    folder = origin.parent
    for path in folder.rglob("*"):
        below = PurePosixPath(*parents, folder.name, path.relative_to(folder).as_posix())
        if _is_code(below, path):
            yield below.as_posix(), path


def _is_code(name: PurePosixPath, path: Path) -> bool:
    cached = "__pycache__" in name.parts or name.suffix in _COMPILED
    return not cached and path.is_file()
