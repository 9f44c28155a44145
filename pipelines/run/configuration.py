"""The settings of a job in its plan: exactly those that determine an output byte."""

import math
from collections.abc import Iterable
from typing import Any

from pairweave.pipelines.options.base import PlannedOptions, left_out_options
from pairweave.pipelines.parts.part import Settled


def configuration(options: PlannedOptions, settled: Iterable[Settled[Any]]) -> dict[str, object]:
    """Return the settings of a job for its plan: its options, and what its parts settled.

    What one part leaves out is left out, whichever part lists it.
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
    flat = dict(settings)
    for name, value in dict(flat.pop("filter", {})).items():  # type: ignore[call-overload]
        flat[f"filter.{name}"] = value
    digests = (
        "model",
        "second_model",
        "translator",
        "scorer",
        "reverse_scorer",
        "tag_profile",
        "glossary",
        "score_weights",
        "filter.score_model",
        "filter.score_weights",
        "encoder",
        "projection",
        "idf",
    )
    for name in digests:
        if flat.get(name) is not None:
            flat[name] = str(flat[name])[:12]
    flat["exclude"] = len(list(flat["exclude"]))  # type: ignore[call-overload]
    for name in ("fit_lengths", "parallel", "earlier", "known_pairs", "taken_down"):
        if name in flat:
            flat[name] = [file["sha256"][:12] for file in flat[name]]  # type: ignore[attr-defined]
    for name in {"tokens", "detector", "filter.detector"} & flat.keys():
        kind, colon, digest = str(flat[name]).partition(":")
        flat[name] = kind + colon.replace(":", "-") + digest[:12]
    return flat
