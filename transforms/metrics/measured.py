"""Metrics as sums over lines, so that any of them can be tested for significance."""

import dataclasses

from pairweave.transforms.metrics.significance import LineSums


@dataclasses.dataclass(frozen=True, slots=True)
class Metric:
    """A metric.

    Attributes:
        title: The name to show to people.
        needs_tags: Whether it is measured only on test sets with tags.
        higher_is_better: Whether a higher value is better.
    """

    title: str
    needs_tags: bool = True
    higher_is_better: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """A metric of some translations.

    Attributes:
        sums: The contribution of each line, and the function of the sums.
        signature: The line that names everything that determines the value.
    """

    sums: LineSums
    signature: str

    @property
    def value(self) -> float:
        """Return the value of all lines."""
        return float(self.sums.figure(self.sums.lines.sum(axis=0)))
