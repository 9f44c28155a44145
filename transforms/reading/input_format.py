"""The description of an input format, for the plan and the readers."""

import dataclasses
from collections.abc import Callable, Iterator

import pyarrow as pa

from pairweave.transforms.plugins.entry_points import Plugin
from pairweave.transforms.reading.scan import Scan, ScanRequest
from pairweave.transforms.units import ReadLimits, Unit


@dataclasses.dataclass(frozen=True)
class InputFormat:
    """The properties of one input format.

    Attributes:
        name: Its name in options, plans and units.
        scan: Scans a file before the job: its digest, its rows and the starts of units; it may
            raise an `InputError`.
        read: Yields the rows of a unit in ROWS batches of a maximum number of rows; it may raise a
            `WorkerError`.
        extensions: Suffixes of its files' names, in lower case and without compression. If there
            are none, the format has to be named in the options.
        compressed: Whether its files may be compressed.
        sides: Whether a corpus has a file for each side.
        named_rows: Whether rows of both sides are matched by name instead of by order.
        columns: Whether rows have columns or fields, one of which may contain links.
        elements: Whether tags are elements of the file instead of characters of its texts.
        inline_tags: Default treatment of tags inside texts.
        inline_syntax: Default syntax of tags inside texts.
        source_lang: Default source language; None if it must be given.
        plugin: The package that it is in; None if it is one of pairweave's own.
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
    plugin: Plugin | None = None
