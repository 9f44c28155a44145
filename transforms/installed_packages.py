"""Versions of installed packages, on which results depend."""

import importlib.metadata
import importlib.util
from collections.abc import Iterable

from pairweave.transforms.errors import WorkerError


def version_of(package: str = "pairweave") -> str:
    """Return an installed package's version, for signatures."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "source tree"


def with_versions(packages: Iterable[str]) -> list[str] | None:
    """Return packages with their versions, such as ``icu4py-1.0``; None if one is missing."""
    names = sorted(packages)
    if not all(map(importlib.util.find_spec, names)):
        return None
    return [f"{name}-{importlib.metadata.version(name)}" for name in names]


def require_same(task: str, planned: str, installed: str | None) -> None:
    """Check that this machine has the packages that a run names.

    Args:
        task: What they do in the run, such as ``cuts words``.
        planned: The packages of the run with their versions.
        installed: Those of this machine; None if they are missing.

    Raises:
        WorkerError: They differ.
    """
    if installed != planned:
        raise WorkerError(
            f"this run {task} with {planned}, but this machine has {installed or 'none'}; install "
            "the same versions on every machine"
        )
