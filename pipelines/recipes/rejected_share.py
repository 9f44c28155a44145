"""Stops a recipe if a step rejected too many pairs for the next steps to be worth running."""

from collections.abc import Mapping
from typing import Any

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.rules import RULES
from pairweave.transforms.option_marks import REJECTS, mark_of
from pairweave.transforms.rejects import Reject, is_of_plugin
from pairweave.transforms.screen import ScreenReject
from pairweave.transforms.screen_options import ScreenLimits

DEFAULT = 0.5

KEY = "max_rejected"
"""The key of a recipe and of its steps."""

ASKED_FOR = frozenset(
    {
        *(Reject.DUPLICATE, Reject.MASKED_DUPLICATE, Reject.NEAR_DUPLICATE),
        *(Reject.IN_EARLIER_CORPUS, Reject.IN_TABLE, Reject.TAKEN_DOWN, Reject.FILTERED),
        *(ScreenReject.EXCLUDED, ScreenReject.IDENTICAL),
    }
)
"""Reasons that count neither as rejected nor as read: repetitions, and pairs on users' lists."""

_SHOWN = 3


def check(job: str, manifest: Mapping[str, Any], most: float, output: str) -> None:
    """Check the share of a finished step's input that it rejected.

    Pairs that `filter` does not select do not count either, because the user asked for that.

    Args:
        job: The job.
        manifest: The manifest of its run.
        most: Largest share that it may reject, from 0 to 1.
        output: The directory of the run, for the message.

    Raises:
        ConfigError: The step rejected more; names the share, the main reasons and the remedies.
    """
    left_out = ASKED_FOR | ({Reject.LOW_SCORE} if job == "filter" else set())
    rejected = manifest.get("rejected", {})
    counted = {reason: count for reason, count in rejected.items() if reason not in left_out}
    read = manifest["rows"]["read"] - sum(rejected.values()) + sum(counted.values())
    lost = sum(counted.values())
    if not lost or lost <= most * read:
        return
    main = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN]
    options = [option for reason, _ in main if (option := _limit(reason)) is not None]
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in main)
    change = f"change {' or '.join(options)} at the top of the recipe" if options else "mend that"
    raise ConfigError(
        f"rejected {lost:,} of {read:,} pairs ({100 * lost / read:.0f} %), "
        f"more than max_rejected allows ({most:g}): {reasons}; examples are in "
        f"{output}/report.html. If this is not intended, {change}; if it is, give this step "
        f"{KEY}: 1 and run the same command again, which continues after it"
    )


def _limit(reason: str) -> str | None:
    """Return the option whose limit a reject reason stands for; None if there is no such option."""
    screen = ScreenLimits.model_fields.items()
    if is_of_plugin(reason):
        return "plugin_rules"
    limits = {str(mark_of(field, REJECTS)): name for name, field in screen}
    limits |= {str(rule.reason): rule.option for rule in RULES}
    return limits.get(reason)
