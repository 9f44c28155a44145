"""The description of an input format, for the plan and the readers."""

import dataclasses
from collections.abc import Callable, Iterator

import pyarrow as pa

from pairweave.transforms.reading.scan import Scan, ScanRequest
from pairweave.transforms.units import ReadLimits, Unit


@dataclasses.dataclass(frozen=True)
class InputFormat:
    """The properties of one input format.

    Attributes:
        name: What options, plans and units call it.
        scan: Passes over a file before the job: its digest, its rows and where units begin; it may
            raise an `InputError`.
        read: Yields the rows of a unit in ROWS batches of at most so many rows; it may raise a
            `WorkerError`.
        extensions: What its files' names end in, in lower case, compression left out. Without any
            only the options say that a file has the format.
        compressed: Whether its files may be compressed.
        sides: Whether a corpus has a file for each side.
        named_rows: Whether rows of both sides belong together by name; else they do by order.
        columns: Whether rows have columns or fields, of which one may hold links.
        elements: Whether tags are elements of the file; else they are characters of its texts.
        inline_tags: What becomes of tags inside texts unless the corpus says otherwise.
        inline_syntax: What is a tag inside texts, likewise.
        source_lang: The source language, likewise; None where it must be given.
    """

    name: str
    scan: Callable[[ScanRequest], Scan]
    read: Callable[[Unit, ReadLimits, int], Iterator[pa.RecordBatch]]
    extensions: tuple[str, ...] = ()
    compressed: bool = True
    sides: bool = False
    named_rows: bool = False
    columns: bool = False
    elements: bool = False
    inline_tags: str = "raw"
    inline_syntax: str = "xml"
    source_lang: str | None = None
