"""Agreement of two aligners: counted in each shard, kept in its receipt, summed in the manifest.

The rate is the F1 of one aligner's symmetrized links against the other's, over all pairs: twice the
number of common links, divided by the sum of the numbers of links of both
(`Agreement.rate`). It is 1 if both always make the same links, and needs no gold links: where
aligners of different kinds agree, both are more often right.
"""

import dataclasses
from collections.abc import Mapping

FIRST = "links_of_first_aligner"
SECOND = "links_of_second_aligner"
BOTH = "links_of_both_aligners"
NAMES = (FIRST, SECOND, BOTH)


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of the links of two aligners on the same pairs, which add up over shards.

    Attributes:
        first: Links of the first aligner.
        second: Links of the second.
        common: Links that both made.
    """

    first: int = 0
    second: int = 0
    common: int = 0

    def __add__(self, other: "Agreement") -> "Agreement":
        """Add counts."""
        return Agreement(
            self.first + other.first, self.second + other.second, self.common + other.common
        )

    @property
    def rate(self) -> float:
        """Return the F1 of one aligner against the other, in [0, 1]; 1 where neither links.

        >>> Agreement(first=4, second=6, common=3).rate
        0.6
        """
        total = self.first + self.second
        return 2 * self.common / total if total else 1.0

    def counts(self) -> dict[str, int]:
        """Return the counts under the names that receipts and manifests use.

        >>> Agreement(first=4, second=6, common=3).counts()[BOTH]
        3
        """
        return dict(zip(NAMES, dataclasses.astuple(self), strict=True))


def of_counts(counts: Mapping[str, int]) -> Agreement | None:
    """Return the agreement in a manifest's or a receipt's counts, if they have one."""
    if not all(name in counts for name in NAMES):
        return None
    return Agreement(*(counts[name] for name in NAMES))
