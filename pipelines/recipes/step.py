"""One step of a recipe."""

import dataclasses

from pairweave.pipelines.options.base import PlannedOptions


@dataclasses.dataclass(frozen=True)
class Step:
    """One job of a recipe.

    Attributes:
        name: Name of the step and of its directory; in a repeated block followed by the number of
            the round.
        job: The name of the job.
        options: The job's options; outputs and models of other steps are paths.
        reads: The names of the steps that it reads from.
        max_rejected: Largest share of its input that it may reject (`rejected_share`).
    """

    name: str
    job: str
    options: PlannedOptions
    reads: tuple[str, ...]
    max_rejected: float
