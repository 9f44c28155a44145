"""Applies rules of other packages in a run."""

import dataclasses
from collections.abc import Mapping
from typing import cast

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.plugins.entry_points import Plugin, load_plugin, plan_plugin, raised
from pairweave.transforms.plugins.filter_rule import RULE, FilterRule
from pairweave.transforms.plugins.returned_numbers import returned_numbers

_TEXTS = ("source", "target", "source_lang", "target_lang")


@dataclasses.dataclass(frozen=True)
class PlannedRule:
    """A rule of another package.

    Attributes:
        plugin: The plugin, which workers load.
        limit: Its limit.
        least: Whether the limit is a minimum.
    """

    plugin: Plugin
    limit: float
    least: bool


def plan_rules(limits: Mapping[str, float | None] | None) -> tuple[PlannedRule, ...]:
    """Find the rules that an option names.

    Args:
        limits: Their limits by name; None for the limit of the rule.

    Returns:
        The rules in the order of the map, in which they are applied.

    Raises:
        ConfigError: A package is not installed, or has no such rule.
    """
    planned = []
    for name, given in (limits or {}).items():
        plugin, loaded = plan_plugin(RULE, name, "--plugin_rules")
        rule = cast("FilterRule", loaded)
        limit = float(rule.limit if given is None else given)
        planned.append(PlannedRule(plugin, limit, rule.least))
    return tuple(planned)


def rule_settings(planned: tuple[PlannedRule, ...]) -> dict[str, object]:
    """Return the plan's entries of rules, by name: limit, distribution and hash of the code."""
    settings: dict[str, object] = {}
    for number, rule in enumerate(planned, 1):
        plugin, name = rule.plugin, rule.plugin.name
        settings |= {
            name: rule.limit,
            f"{name}.applied": number,
            f"{name}.limit": "minimum" if rule.least else "maximum",
            **{f"{name}.{fact}": value for fact, value in plugin.facts.items()},
        }
    return settings


def measure(planned: PlannedRule, pairs: pa.Table | pa.RecordBatch) -> np.ndarray:
    """Return the values of a rule, float32 ``[pair]``.

    Args:
        planned: The rule.
        pairs: Pairs with texts and languages; no text is null.

    Raises:
        ConfigError: The rule cannot be loaded here, raises an error, or returns anything other than
            a number for each pair.
    """
    rule = cast("FilterRule", load_plugin(planned.plugin, RULE))
    columns = {name: pairs.column(name).cast(pa.string()) for name in _TEXTS}
    try:
        returned = rule.measure(pa.table(columns))
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a panic of Rust is not an Exception
        raise _failed(planned, raised(error)) from error
    try:
        values = returned_numbers(returned, pairs.num_rows, "values")
    except ValueError as error:
        raise _failed(planned, str(error)) from error
    if np.isnan(values).any():
        place = int(np.isnan(values).argmax())
        text = str(columns["source"][place])[:80]
        raise _failed(planned, f"returned NaN for a pair, whose source is {text!r}")
    return values


def _failed(planned: PlannedRule, what: str) -> ConfigError:
    return planned.plugin.failed(
        "plugin_rules", "measure", what, "a number for each pair", "leave the rule out"
    )
