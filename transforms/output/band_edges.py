"""Documents whose alignment may be better outside the band that was searched."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pairweave.transforms.output.run_files import Json
from pairweave.transforms.units import Notice


class BandEdge(NamedTuple):
    """Where the path of a document touches the edge of the widest band.

    Attributes:
        first: Line of the first such source sentence, from 1.
        last: Line of the last one.
        sentences: How many there are.
    """

    first: int
    last: int
    sentences: int


def edge_notices(units: Iterable[Json], edges: Mapping[int, BandEdge]) -> Iterator[Notice]:
    """Yield a notice on each document whose path touches the edge of its band.

    Args:
        units: The units of a plan.
        edges: Where, by the number of the unit.
    """
    for unit in units:
        if unit["index"] in edges:
            first, last, sentences = edges[unit["index"]]
            yield Notice(
                "band_edge",
                unit["file"],
                sentences,
                "the alignment touches the edge of the widest band that memory allows at "
                f"{sentences:,} source sentences, from line {first:,} to line {last:,}, and may be "
                "wrong there; divide the document, such as by chapters",
            )
