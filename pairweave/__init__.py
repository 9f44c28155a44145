"""Parallel corpora into training data for machine translation.

>>> import pairweave
>>> links = pairweave.symmetrize(["0-0 1-1 1-2"], ["0-0 1-1 2-2"], heuristic="intersection")
>>> links["links"].to_pylist()
[[{'source': 0, 'target': 0}, {'source': 1, 'target': 1}]]

The functions here do with tables in memory what the command ``pairweave`` does with files, with the
same options. Importing this package loads neither Beam nor a neural library. Everything that is not
listed in ``__all__``, here and in ``pairweave.plugins``, is private and may change without notice.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairweave.pipelines.in_memory.evaluate_function import evaluate
    from pairweave.pipelines.in_memory.job_functions import (
        FittedModel,
        align,
        augment,
        bitext,
        check,
        filter,
        fit,
        suggest,
        try_,
    )
    from pairweave.pipelines.in_memory.stream_function import stream
    from pairweave.pipelines.in_memory.table_jobs import Result
    from pairweave.pipelines.in_memory.text_functions import project_tags, symmetrize
    from pairweave.pipelines.streaming.row_stream import RowStream
    from pairweave.transforms.errors import PairweaveError
    from pairweave.transforms.findings import Finding

    __version__: str

__all__ = [
    "Finding",
    "FittedModel",
    "PairweaveError",
    "Result",
    "RowStream",
    "__version__",
    "align",
    "augment",
    "bitext",
    "check",
    "evaluate",
    "filter",
    "fit",
    "project_tags",
    "stream",
    "suggest",
    "symmetrize",
    "try_",
]

_ROOMS = {
    "Finding": "transforms.findings",
    "PairweaveError": "transforms.errors",
    "Result": "pipelines.in_memory.table_jobs",
    "RowStream": "pipelines.streaming.row_stream",
    "evaluate": "pipelines.in_memory.evaluate_function",
    "project_tags": "pipelines.in_memory.text_functions",
    "stream": "pipelines.in_memory.stream_function",
    "symmetrize": "pipelines.in_memory.text_functions",
}
"""Where public names are that are not in `pipelines.in_memory.job_functions`."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    import importlib
    import sys

    if name not in __all__:
        message = f"module 'pairweave' has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])  # "Did you mean …?"
    if name == "__version__":
        from importlib.metadata import version

        return version("pairweave")
    if sys.platform != "linux":
        from pairweave.pipelines.start import ELSEWHERE

        raise ImportError(ELSEWHERE.strip())
    from pairweave.pipelines.process import caller_logs

    room = _ROOMS.get(name, "pipelines.in_memory.job_functions")
    with caller_logs.not_set_up():  # Beam may log while it is imported
        value = getattr(importlib.import_module(f"pairweave.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
