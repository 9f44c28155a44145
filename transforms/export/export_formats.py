"""Descriptions of export formats: for rows, and for pairs with inline markup."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.export.markup_rows import MarkupRow

Alignment = Literal["whitespace", "moses", "none"]

RowWriter: TypeAlias = Callable[[pa.RecordBatch], None]

IN_LINE = "[\n\r]"
"""Matches characters that a text on a line must not contain (RE2)."""

IN_FIELD = "[\t\n\r]"
"""Matches characters that a text between tabs must not contain (RE2)."""

BREAKS = {IN_LINE: "a line break", IN_FIELD: "a tab or a line break"}
"""These characters in words."""


@dataclasses.dataclass(frozen=True)
class LinkedRows:
    """The variant of a row format that is written with links.

    Attributes:
        words: The words that links refer to by default.
        endings: One per file.
        write: Turns rows with a text column ``links`` into the bytes of each file.
    """

    words: Alignment
    endings: tuple[str, ...]
    write: Callable[[pa.RecordBatch], list[bytes]]


@dataclasses.dataclass(frozen=True)
class Templates:
    """Texts in which names of columns in braces stand for the values of a row.

    Attributes:
        instruction: The user's message about a row; None for the format's own message.
        system: The system message before the instruction, or None.
    """

    instruction: str | None = None
    system: str | None = None


@dataclasses.dataclass(frozen=True)
class RowExport:
    """A format for the rows of a run.

    Attributes:
        name: Its name in options.
        jobs: The jobs whose rows it can represent.
        endings: One per file.
        texts: Text columns that must not contain `breaks`; if empty, all strings.
        breaks: Matches text that is not allowed (RE2); empty if any text is allowed.
        write: Turns rows into the bytes of each file.
        reserved: Columns with a pattern (RE2) that they must not match even when escaped.
        header: Makes the header of the first file from the names of the columns.
        linked: The variant with links, if there is one.
        templated: Makes `write` from a job and templates, for a format that has them.
        rows_writer: Instead of `write`: opens a writer of rows, for a format whose files are more
            than a sequence of rows.
        card: Makes a ``README.md`` next to the files, from the run's manifest and the SHA-256 of
            each file by its name.
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
    templated: Callable[[str, Templates], Callable[[pa.RecordBatch], list[bytes]]] | None = None
    rows_writer: Callable[[Sequence[BinaryIO]], AbstractContextManager[RowWriter]] | None = None
    card: Callable[[Mapping[str, Any], Mapping[str, str]], str] | None = None


@dataclasses.dataclass(frozen=True)
class MarkupExport:
    """A format for pairs with inline markup.

    Attributes:
        name: Its name in options.
        endings: One per file.
        write: Turns rows into pieces of each file; the second argument is the language of all
            sources, or None.
        syntax: Default syntax of tags in its texts; None for a format with elements for tags.
    """

    name: str
    endings: tuple[str, ...]
    write: Callable[[Iterable[MarkupRow], str | None], Iterator[tuple[bytes, ...]]]
    syntax: str | None = None


def flat_names(schema: pa.Schema) -> list[str]:
    """Return the names of the columns that are not lists."""
    return [field.name for field in schema if not pa.types.is_list(field.type)]


def joined_lines(*columns: pa.Array, separator: str = "") -> bytes:
    """Return one line per row: its texts, joined by a separator."""
    filled = [pc.fill_null(pc.cast(column, pa.string()), "") for column in columns]
    joined = pc.binary_join_element_wise(*filled, separator)
    data, offsets = texts_of(pc.binary_join_element_wise(joined, "", "\n"))
    return data[offsets[0] : offsets[-1]].tobytes()


def alone(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Yield the pieces of a format with a single file."""
    return ((chunk,) for chunk in chunks)
