"""Rules of ``filter`` in other packages: their interface, and their facts for options."""

import math
from typing import TYPE_CHECKING, Protocol

from pairweave.transforms.plugins.plugin_kind import (
    NamesPlugins,
    PluginKind,
    about_of,
    line_of_text_fault,
)
from pairweave.transforms.rejects import Reject

if TYPE_CHECKING:  # the module is read by --help
    import numpy as np
    import pyarrow as pa


class FilterRule(Protocol):
    """A rule of the job ``filter`` and of the block ``filter:``, named by an entry point.

    A pair is rejected if its value is beyond the limit; rows and reasons call the rule ``rule_``
    followed by the name of the entry point. The entry point names an instance, not a class::

        [project.entry-points."pairweave.rules"]
        shouting = "my_package.shouting:RULE"

    Attributes:
        about: What is measured, in one line for ``--help all``.
        limit: The limit if the user gives none, in the unit of the values.
        least: Whether the limit is a minimum, not a maximum.
    """

    about: str
    limit: float
    least: bool

    def measure(self, pairs: "pa.Table") -> "np.ndarray":
        """Measure pairs.

        The value of a pair may depend only on that pair and on the code: not on its neighbours,
        their number or order, earlier calls, files, the clock or chance. Otherwise output differs
        with the number of workers. Several processes call it, each making one call at a time.

        Args:
            pairs: The texts ``source`` and ``target`` and their language tags ``source_lang`` and
                ``target_lang`` (such as ``en`` or ``pt-BR``, ``und`` if it is not known), all
                `pa.string` without nulls; up to about 65,536 rows, perhaps none.

        Returns:
            A value for each row, in their order: float32 ``[pair]``, without NaN.
        """
        ...


def _fault(loaded: object) -> str | None:
    """Return what a rule lacks, or None."""
    fault = line_of_text_fault(loaded, "measure")
    if fault is not None:
        return fault
    limit = getattr(loaded, "limit", None)
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
        return f"limit is {limit!r}, not a finite number"
    if not isinstance(getattr(loaded, "least", None), bool):
        return f"least is {getattr(loaded, 'least', None)!r}, not True or False"
    return None


def _describe(loaded: object) -> str:
    """Return the help text about a rule."""
    about, limit = about_of(loaded), getattr(loaded, "limit", 0.0)
    side = "minimum" if getattr(loaded, "least", False) else "maximum"
    return f"{about}; {side}, default {limit:g}"


RULE = PluginKind(
    group="pairweave.rules",
    noun="rule",
    expected="an instance with about (a line of text), limit (a number), least (True or False) and "
    "measure(pairs), as pairweave.plugins.FilterRule",
    built_in=frozenset(map(str, Reject)),
    fault=_fault,
    describe=_describe,
)

PLUGIN_RULES = NamesPlugins(RULE, lambda value: value if isinstance(value, dict) else ())
"""The fact of an option whose value is a map from names of rules to limits."""
