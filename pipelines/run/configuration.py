"""The settings of a job in its plan: exactly those that determine an output byte."""

import math
from collections.abc import Iterable
from typing import Any

from pairweave.pipelines.options.base import PlannedOptions, left_out_options
from pairweave.pipelines.parts.part import Settled


def configuration(options: PlannedOptions, settled: Iterable[Settled[Any]]) -> dict[str, object]:
    """Return the settings of a job for its plan: its options, and the settings of its parts.

    A setting that any part leaves out is left out, even if another part lists it.
    """
    parts = list(settled)
    elsewhere = {"corpora", *options.corpus_kind().model_fields} | left_out_options(options)
    left_out: set[str] = set().union(*(part.left_out for part in parts))
    settings = options.model_dump(mode="json", exclude=elsewhere | left_out)
    for part in parts:
        settings |= {name: each for name, each in part.settings.items() if name not in left_out}
    return {name: _finite(value) for name, value in settings.items()}


def _finite(value: object) -> object:
    """Return a value without infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return "inf" if value == math.inf else value
