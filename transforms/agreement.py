"""How far two aligners agree: counted in each shard, kept in its receipt, summed in the manifest.

The rate is the F1 of one aligner's symmetrized links against the other's, over all pairs: twice the
links that both made, by the links of the first and of the second together (`Agreement.rate`). It is
1 where both always make the same links, and needs no gold: where aligners of different kinds agree,
both are more often right.
"""

from collections.abc import Mapping

import pyarrow as pa

from pairweave.transforms.combine import Agreement

FIRST = "links of the first aligner"
SECOND = "links of the second aligner"
BOTH = "links of both aligners"
NAMES = (FIRST, SECOND, BOTH)

_KEY = b"pairweave.agreement"


def mark(kept: pa.Table, agreement: Agreement) -> pa.Table:
    """Note on a shard's kept rows how far two aligners agreed about them."""
    numbers = f"{agreement.first} {agreement.second} {agreement.common}".encode()
    return kept.replace_schema_metadata({**(kept.schema.metadata or {}), _KEY: numbers})


def marked(kept: pa.Table) -> dict[str, int]:
    """Return the counts that `mark` noted, by name; none where one aligner was at work.

    >>> marked(mark(pa.table({"id": ["a"]}), Agreement(4, 6, 3)))[BOTH]
    3
    """
    found = (kept.schema.metadata or {}).get(_KEY)
    if found is None:
        return {}
    return dict(zip(NAMES, map(int, found.split()), strict=True))


def of_counts(counts: Mapping[str, int]) -> Agreement | None:
    """Return the agreement that a manifest's or a receipt's counts tell of, if they do."""
    if not all(name in counts for name in NAMES):
        return None
    return Agreement(*(counts[name] for name in NAMES))
