"""The comparison of a system with another one, as an option of several kinds of ``evaluate``."""

from typing import Annotated, TypeGuard

from pydantic import Field

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.option_marks import listed_before
from pairweave.transforms.option_places import FILE

Baseline = Annotated[
    str | None,
    FILE,
    Field(
        description="outputs of another system: every figure is tested against its own, by "
        "sacreBLEU's paired bootstrap and approximate randomization",
        json_schema_extra=listed_before("resamples"),
    ),
]


def tests_against(baseline: str | None, significance: Significance) -> TypeGuard[str]:
    """Tell whether there is a system to compare with.

    Raises:
        ConfigError: There is no such system, but options of the tests are given.
    """
    unused = sorted(significance.model_fields_set)
    if baseline is None and unused:
        raise ConfigError(
            f"--{unused[0]} applies to significance tests; give --baseline FILE as well"
        )
    return baseline is not None
