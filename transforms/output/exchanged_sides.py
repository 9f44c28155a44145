"""Documents whose sides look exchanged."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pairweave.transforms.output.run_files import Json
from pairweave.transforms.units import Notice


class ExchangedSides(NamedTuple):
    """Documents of a unit whose sides look exchanged.

    Attributes:
        line: First line of the first such document; of a row in a table, that row.
        documents: How many there are.
    """

    line: int
    documents: int


def exchanged_notices(
    units: Iterable[Json], found: Mapping[int, ExchangedSides]
) -> Iterator[Notice]:
    """Yield a notice on each unit with documents whose sides look exchanged.

    Args:
        units: The units of a plan.
        found: Such documents, by the number of the unit.
    """
    for unit in units:
        if unit["index"] in found:
            line, documents = found[unit["index"]]
            which = "1 document" if documents == 1 else f"{documents:,} documents"
            yield Notice(
                "exchanged_sides",
                unit["file"],
                documents,
                f"the sides of {which} look exchanged (from line {line:,}): by the words that the "
                "aligner knows, each is in the other's language; exchange them, or check "
                "source_lang and target_lang",
            )
