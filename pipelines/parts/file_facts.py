"""The plan's entries for files that options name."""

import hashlib
from collections.abc import Sequence
from pathlib import PurePosixPath

from pairweave.transforms.storage import files


def files_facts(patterns: Sequence[str]) -> list[dict[str, str]]:
    """Return the plan's entry for files named by options, without paths so that they may move."""
    return [
        {"name": PurePosixPath(path).name, "sha256": _sha256(path)}
        for pattern in patterns
        for path in files.match(pattern)
    ]


def _sha256(path: str) -> str:
    return hashlib.sha256(files.read_bytes(path)).hexdigest()
