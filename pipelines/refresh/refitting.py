"""When a table's fitted models are fitted anew: on request, or by a rule."""

from collections import Counter
from collections.abc import Mapping

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.chain.table_names import LANGUAGES, PROVENANCE
from pairweave.transforms.errors import ConfigError

KEY = "refit_growth"


def read_growth(value: object) -> float | None:
    """Return the factor in the file by which a table may outgrow its models; None for no limit.

    Raises:
        ConfigError: It is not a number above 1.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 1:
        raise ConfigError(
            f"{KEY}: expected a number above 1, such as 3: models are fitted anew when the table "
            f"has 3 times the places of pairs that they were fitted to; got {value!r}"
        )
    return float(value)


def outgrown(fitted: Mapping[str, int], now: Mapping[str, int], growth: float) -> list[str]:
    """Return the models that a table has outgrown, in words.

    >>> outgrown({"en-de": 100, "en-nl": 100}, {"en-de": 250, "en-nl": 150}, 2.0)
    ['the model of en-de was fitted to 100 places of pairs, and the table has 250']
    """
    return [
        f"the model of {pair} was fitted to {count:,} places of pairs, and the table has "
        f"{now.get(pair, 0):,}"
        for pair, count in sorted(fitted.items())
        if now.get(pair, 0) >= growth * count
    ]


def reasons(table: str, base: Record, growth: float | None, *, asked: bool) -> list[str]:
    """Return why the models of a table are fitted anew tonight; empty if they are not.

    Args:
        table: Directory of all tables.
        base: The record of the last night.
        growth: The limit in the configuration.
        asked: Whether the command requests it.

    Raises:
        ConfigError: The command requests it, but the table has no model of its own.
    """
    if asked and not base.models:
        raise ConfigError(
            f"--refit: {table} has fitted no model: its job needs none, or the configuration gives "
            "one; give another model there, and --migrate"
        )
    if asked:
        return ["--refit asks for it"]
    if growth is None or not base.fitted:
        return []
    now: Counter[str] = Counter()
    for entry in tables.current(table, PROVENANCE, base):
        now["-".join(entry["partition"][name] for name in LANGUAGES)] += entry["rows"]
    return [f"{each} ({KEY}: {growth:g})" for each in outgrown(base.fitted, now, growth)]
