"""The options of the pairs in ``known_pairs.py``."""

from typing import Annotated

from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.option_marks import PLANNED_OTHERWISE, UNLISTED, not_at_night
from pairweave.transforms.option_places import FILE

_SET_AT_NIGHT = {**PLANNED_OTHERWISE, **UNLISTED, **not_at_night("refresh sets it")}


class KnownPairOptions(Config):
    """Pairs that are dealt with already."""

    known_pairs: Annotated[str | None, FILE] = Field(
        None,
        min_length=1,
        description="ids of pairs that a table has, as refresh writes them; such pairs are "
        "rejected as in_table before the screen",
        json_schema_extra=_SET_AT_NIGHT,
    )
    taken_down: Annotated[str | None, FILE] = Field(
        None,
        min_length=1,
        description="ids and hashes of texts that were taken down, as refresh writes them; their "
        "pairs are rejected as taken_down",
        json_schema_extra=_SET_AT_NIGHT,
    )

    @property
    def reads_part_of_table(self) -> bool:
        """Tell whether this is a run of a night, which reads the corpora with new files alone.

        `refresh` has checked all corpora of the table together.
        """
        return self.known_pairs is not None

    def known_files(self) -> dict[str, tuple[str, ...]]:
        """Return the given files, by their entries in the plan."""
        given = {name: getattr(self, name) for name in KnownPairOptions.model_fields}
        return {name: (path,) for name, path in given.items() if path is not None}
