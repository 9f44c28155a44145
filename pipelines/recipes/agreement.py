"""Settings that the steps of a recipe share, so that no step rejects pairs that another chose.

A step may have wider limits for the lengths of pairs than the defaults of the next one. If a
`filter` accepts a ratio of 15, a `fit` with its default of 3 would reject pairs that the filter has
chosen. A step therefore takes over the limits of the `filter` whose pairs it reads (`inherited`),
and a step that sets narrower limits, other languages or other tokens is refused before anything
runs (`check`).
"""

from collections.abc import Iterable
from typing import Any

from pairweave.pipelines.options.base import PlannedOptions
from pairweave.pipelines.recipes.step import Step
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import AGREES, REJECTS, mark_of
from pairweave.transforms.screen_options import ScreenLimits

LIMITS = tuple(name for name, field in ScreenLimits.model_fields.items() if mark_of(field, REJECTS))
"""Options of the screen of every job; a larger value passes more pairs."""

_CHOOSES = "filter"
"""The job that chooses pairs; steps that read from other jobs may set their own limits."""


def inherited(job: str, sources: Iterable[Step]) -> dict[str, Any]:
    """Return the limits that a step has unless the recipe sets them.

    Args:
        job: The job of the step.
        sources: The steps whose pairs it reads.

    Returns:
        For each of `LIMITS`, the widest of the `filter` steps among them; nothing if there is none,
        or if the step is a ``filter`` itself.
    """
    chosen = [step.options for step in sources if step.job == _CHOOSES]
    if job == _CHOOSES or not chosen:
        return {}
    return {name: max(getattr(options, name) for options in chosen) for name in LIMITS}


def check(job: str, options: PlannedOptions, sources: Iterable[Step], read: Iterable[Step]) -> None:
    """Check that a step agrees with the steps that it reads from.

    Args:
        job: The job of the step.
        options: Its options.
        sources: The steps whose pairs it reads.
        read: All steps that it reads from, for their pairs or their model.

    Raises:
        ConfigError: The steps disagree; names the option, both values, and the remedy.
    """
    if job != _CHOOSES:
        for step in sources:
            if step.job == _CHOOSES:
                _check_limits(options, step)
    for step in read:
        _check_alike(options, step)


def _check_limits(options: PlannedOptions, step: Step) -> None:
    for name in LIMITS:
        own, chosen = getattr(options, name), getattr(step.options, name)
        if own < chosen:
            raise ConfigError(
                f"{name}: {own:g} is less than the {chosen:g} of the step {step.name}, so this "
                f"step would reject pairs that {step.name} has chosen; give {name} once, at the "
                "top of the recipe"
            )


def _check_alike(options: PlannedOptions, step: Step) -> None:
    for name, field in type(options).model_fields.items():
        if not mark_of(field, AGREES):
            continue
        own, other = getattr(options, name), getattr(step.options, name, None)
        both_set = name in options.model_fields_set and name in step.options.model_fields_set
        if both_set and None not in (own, other) and own != other:
            raise ConfigError(
                f"{name}: {own} differs from the {other} of the step {step.name}, from which this "
                f"step reads; give {name} once, at the top of the recipe"
            )
