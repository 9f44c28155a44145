"""The plan's entries for files that options name."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from pairweave.transforms.storage import files


def files_facts(patterns: Sequence[str]) -> list[dict[str, str]]:
    """Return the plan's entry for files named by options, without paths so that they may move."""
    return [
        {"name": PurePosixPath(path).name, "sha256": files.sha256_of(path)}
        for pattern in patterns
        for path in files.match(pattern)
    ]
