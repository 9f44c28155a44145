"""The settings of a job in its plan: exactly those that determine an output byte."""

import math
import re
from collections.abc import Iterable
from typing import Any

from pairweave.pipelines.options.base import PlannedOptions, left_out_options
from pairweave.pipelines.parts.part import Settled
from pairweave.transforms.output.signature_line import Counted, InFull

_DIGEST = re.compile(r"(?:(?P<kind>[a-z0-9_]+):)?(?P<short>[0-9a-f]{12})[0-9a-f]{52}")
"""Pattern of a SHA-256, optionally preceded by the kind of thing that was hashed."""


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


def flat_configuration(settings: dict[str, object]) -> dict[str, object]:
    """Return settings for a signature, with digests shortened to 12 characters."""
    flat: dict[str, object] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": each for key, each in value.items()}
        else:
            flat[name] = value
    return {name: _shortened(value) for name, value in flat.items()}


def _shortened(value: object) -> object:
    """Return a setting with its digests shortened, also digests of files or with a kind."""
    if isinstance(value, Counted):
        return len(value)
    if isinstance(value, list):
        is_files = all(isinstance(each, dict) and "sha256" in each for each in value)
        return [each["sha256"][:12] for each in value] if is_files else value
    if isinstance(value, str) and not isinstance(value, InFull):
        digest = _DIGEST.fullmatch(value)
        if digest:
            return f"{digest['kind']}-{digest['short']}" if digest["kind"] else digest["short"]
    return value
