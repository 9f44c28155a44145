"""The options of the pairs in ``known_pairs.py``."""

from pydantic import Field

from pairweave.transforms.config import UNPLANNED, StepOptions


class KnownPairOptions(StepOptions):
    """Pairs that are dealt with already."""

    known_pairs: str | None = Field(
        None,
        min_length=1,
        description="ids of pairs that a table has, as refresh writes them; such pairs are "
        "rejected as in_table before the screen",
        json_schema_extra={"metavar": "FILE", **UNPLANNED},
    )
    taken_down: str | None = Field(
        None,
        min_length=1,
        description="ids and hashes of texts that were taken down, as refresh writes them; their "
        "pairs are rejected as taken_down",
        json_schema_extra={"metavar": "FILE", **UNPLANNED},
    )

    def known_files(self) -> dict[str, tuple[str, ...]]:
        """Return the given files, by their entries in the plan."""
        given = {"known_pairs": self.known_pairs, "taken_down": self.taken_down}
        return {name: (path,) for name, path in given.items() if path is not None}
