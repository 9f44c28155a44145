"""Options of ``try``."""

from pydantic import Field

from pairweave.pipelines.options.job_options import AugmentOptions
from pairweave.transforms.config import UNPLANNED


class TrialOptions(AugmentOptions):
    """Options of ``try``: those of ``augment``, of which the place and the engine do not matter."""

    output: str = Field(
        "-",
        min_length=1,
        description="not used: nothing is written",
        json_schema_extra={"metavar": "DIR", **UNPLANNED},
    )
    fit_pairs: int = Field(
        20_000, ge=1, description="approximate number of pairs that an aligner is fitted on"
    )
    pairs: int = Field(20, ge=1, le=1_000, description="pairs of each corpus to show")
    change: tuple[str, ...] = Field(
        (),
        description="show only the pairs that other options change, before and after: "
        "OPTION=VALUE, such as heuristic=union",
    )
