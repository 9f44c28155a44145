"""Parallel corpora into training data for machine translation.

>>> import pairweave
>>> links = pairweave.symmetrize(["0-0 1-1 1-2"], ["0-0 1-1 2-2"], heuristic="intersection")
>>> links["links"].to_pylist()
[[{'source': 0, 'target': 0}, {'source': 1, 'target': 1}]]

The functions here do with tables in memory what the command ``pairweave`` does with files, with the
same options. Importing this package loads neither Beam nor a neural library. Everything that is not
listed in ``__all__`` is private and may change without notice.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairweave.pipelines.in_memory import (
        FittedModel,
        align,
        augment,
        fit,
        project_tags,
        suggest,
        symmetrize,
    )
    from pairweave.pipelines.streaming.row_stream import RowStream, stream
    from pairweave.transforms.errors import PairweaveError

__all__ = [
    "FittedModel",
    "PairweaveError",
    "RowStream",
    "align",
    "augment",
    "fit",
    "project_tags",
    "stream",
    "suggest",
    "symmetrize",
]

_ROOMS = {
    "PairweaveError": "transforms.errors",
    "RowStream": "pipelines.streaming.row_stream",
    "stream": "pipelines.streaming.row_stream",
}
"""Where public names are that are not in `pipelines.in_memory`."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    import importlib

    if name not in __all__:
        raise AttributeError(f"module 'pairweave' has no attribute {name!r}")
    room = _ROOMS.get(name, "pipelines.in_memory")
    found = getattr(importlib.import_module(f"pairweave.{room}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
