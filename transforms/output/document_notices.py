"""Notices on documents whose path touches the band's edge, or whose sides look exchanged."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pairweave.transforms.output.run_files import Json
from pairweave.transforms.units import Notice


class BandEdge(NamedTuple):
    """Where the path of a document touches the edge of the widest band.

    Attributes:
        first: Line of the first such source sentence, from 1.
        last: Line of the last such sentence.
        sentences: Number of such sentences.
    """

    first: int
    last: int
    sentences: int


def edge_notices(units: Iterable[Json], edges: Mapping[int, BandEdge]) -> Iterator[Notice]:
    """Yield a notice on each document whose path touches the edge of its band.

    Args:
        units: The units of a plan.
        edges: The places, by the number of the unit.
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


class ExchangedSides(NamedTuple):
    """Documents of a unit whose sides look exchanged.

    Attributes:
        line: First line of the first such document; the row, if it is a row in a table.
        documents: Number of such documents.
    """

    line: int
    documents: int


def exchanged_notices(
    units: Iterable[Json], exchanged: Mapping[int, ExchangedSides]
) -> Iterator[Notice]:
    """Yield a notice on each unit with documents whose sides look exchanged.

    Args:
        units: The units of a plan.
        exchanged: The documents, by the number of the unit.
    """
    for unit in units:
        if unit["index"] in exchanged:
            line, documents = exchanged[unit["index"]]
            which = "1 document" if documents == 1 else f"{documents:,} documents"
            yield Notice(
                "exchanged_sides",
                unit["file"],
                documents,
                f"the sides of {which} look exchanged (from line {line:,}): by the words that the "
                "aligner knows, each is in the other's language; exchange them, or check "
                "source_lang and target_lang",
            )
