"""The formats, a line each; each is a module of this room that is imported when it is needed.

A module of a format that is read has an `InputFormat` named ``INPUT``.
"""

import dataclasses
import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pairweave.transforms.errors import ConfigError, WorkerError

if TYPE_CHECKING:
    import pyarrow as pa

    from pairweave.transforms.formats.input_format import InputFormat
    from pairweave.transforms.units import CorpusInput, ReadLimits, Unit


@dataclasses.dataclass(frozen=True)
class Entry:
    """What options need to know of a format before its module is imported.

    Attributes:
        name: The format's name, and its module's.
        reads: Whether jobs read it.
    """

    name: str
    reads: bool = False


ENTRIES = (
    Entry("moses", reads=True),
    Entry("tsv", reads=True),
    Entry("jsonl", reads=True),
    Entry("parquet", reads=True),
    Entry("po", reads=True),
    Entry("tmx", reads=True),
    Entry("xliff", reads=True),
    Entry("lxm", reads=True),
)

LINE_PARALLEL = "moses"
"""The format of a corpus with a file for each side that names none."""


def input_names() -> tuple[str, ...]:
    """Return the names of the formats that are read."""
    return tuple(entry.name for entry in ENTRIES if entry.reads)


def input_format(name: str) -> "InputFormat":
    """Return a format that is read; its name is one of `input_names`."""
    found: InputFormat = importlib.import_module(f"{__package__}.{name}").INPUT
    return found


def input_formats() -> "tuple[InputFormat, ...]":
    """Return all formats that are read."""
    return tuple(map(input_format, input_names()))


def extensions() -> "dict[str, InputFormat]":
    """Return the formats that are told by what their files' names end in."""
    return {ending: found for found in input_formats() for ending in found.extensions}


def check_corpus(corpus: "CorpusInput") -> None:
    """Refuse a corpus whose options do not go with its format.

    Raises:
        ConfigError: Says why.
    """
    name = corpus.format
    if name is None:
        return
    label = corpus.label
    if name not in input_names():
        raise ConfigError(f"{label}: format must be one of {', '.join(input_names())}")
    found = input_format(name)
    if found.sides != bool(corpus.source_input):
        sides = " or ".join(each.name for each in input_formats() if each.sides)
        raise ConfigError(
            f"{label}: format {sides} goes with source_input and target_input, every other with "
            "input"
        )
    if found.named_rows and corpus.translation_input:
        raise ConfigError(f"{label}: the format {name} has no translation_input")
    if found.named_rows:
        corpus.check_no_link_files()


def read_unit(
    unit: "Unit", limits: "ReadLimits", batch_rows: int = 8192
) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a unit in order, in batches of at most ``batch_rows``.

    Exactly ``unit.rows`` rows come out: kept ones, and rejected ones with stage ``read``, a
    reason, a detail, the sides that could be read, and the start of bytes that are no text. That
    the bytes are the planned ones is known only at the end of the iterator: nothing it has
    yielded may be used before.

    Args:
        unit: What to read.
        limits: As for the plan.
        batch_rows: Most rows in a batch.

    Yields:
        Batches of `transforms.schemas.ROWS`.

    Raises:
        WorkerError: The file cannot be read on this machine, or its bytes or number of rows are
            not what was planned.
        InputError: Pages of a Parquet file are damaged.
    """
    found = 0
    for batch in input_format(unit.format).read(unit, limits, batch_rows):
        found += batch.num_rows
        yield batch
    if found != unit.rows:
        raise WorkerError(
            f"{unit.label}: {unit.rows} rows were planned, {found} were read; "
            "was the plan made with other limits?"
        )
