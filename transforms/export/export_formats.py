"""What ``export`` knows of a format: of one for rows, and of one for pairs with inline markup."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_texts import texts_of
from pairweave.transforms.export.markup_rows import MarkupRow

Alignment = Literal["whitespace", "moses", "none"]

IN_LINE = "[\n\r]"
"""What a text that is a line must not hold (RE2)."""

IN_FIELD = "[\t\n\r]"
"""What a text between tabs must not hold."""


@dataclasses.dataclass(frozen=True)
class LinkedRows:
    """How a format of rows is written with links.

    Attributes:
        words: What links count if nothing else is said.
        endings: One for each file.
        write: Turns rows with a text column ``links`` into the bytes of each file.
    """

    words: Alignment
    endings: tuple[str, ...]
    write: Callable[[pa.RecordBatch], list[bytes]]


@dataclasses.dataclass(frozen=True)
class RowExport:
    """A format that rows of a run are written in.

    Attributes:
        name: What options call it.
        jobs: The jobs whose runs have such rows.
        endings: One for each file.
        texts: Columns written as text, that must not hold `breaks`; all strings if there is none.
        breaks: What a text must not hold (RE2); empty if it may hold anything.
        write: Turns rows into the bytes of each file.
        reserved: What no value escapes: a column and what it must not match (RE2).
        header: What the first file begins with, by the names of the columns.
        linked: How it is written with links, if it can have them.
    """

    name: str
    jobs: tuple[str, ...]
    endings: tuple[str, ...]
    texts: tuple[str, ...]
    breaks: str
    write: Callable[[pa.RecordBatch], list[bytes]]
    reserved: tuple[tuple[str, str], ...] = ()
    header: Callable[[Sequence[str]], bytes] | None = None
    linked: LinkedRows | None = None


@dataclasses.dataclass(frozen=True)
class MarkupExport:
    """A format that pairs with inline markup are written in.

    Attributes:
        name: What options call it.
        endings: One for each file.
        write: Turns rows into pieces of each file; the second argument is the language of all
            sources, or None.
        syntax: What is a tag in its texts, if nothing else is said; None of a format with elements
            for tags.
    """

    name: str
    endings: tuple[str, ...]
    write: Callable[[Iterable[MarkupRow], str | None], Iterator[tuple[bytes, ...]]]
    syntax: str | None = None


def flat_names(schema: pa.Schema) -> list[str]:
    """Return the columns that hold no lists."""
    return [field.name for field in schema if not pa.types.is_list(field.type)]


def joined_lines(*columns: pa.Array, separator: str = "") -> bytes:
    """Return one line for each row: its texts with a separator between them."""
    filled = [pc.fill_null(pc.cast(column, pa.string()), "") for column in columns]
    joined = pc.binary_join_element_wise(*filled, separator)
    data, offsets = texts_of(pc.binary_join_element_wise(joined, "", "\n"))
    return data[offsets[0] : offsets[-1]].tobytes()


def alone(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Yield the pieces of a format that has one file."""
    return ((chunk,) for chunk in chunks)
