"""Files of sheets for human judges: tab-separated values with a header, one row per tag."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import read_lines

JUDGEMENT = "judgement"
"""The column that a judge fills."""

_OTHER_FORMATS = (".csv", ".ods", ".xls", ".xlsx", ".gz", ".bz2", ".xz", ".zst")
"""Endings of files that do not contain tab-separated values."""


def write_rows(path: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a sheet; fields are quoted if necessary.

    Raises:
        ConfigError: The file exists: it may contain judgements. Or its name is that of another
            format.
    """
    if path.lower().endswith(_OTHER_FORMATS):
        raise ConfigError(f"{path}: a sheet is tab-separated text; give a name that ends in .tsv")
    text = io.StringIO()
    writer = csv.writer(text, "excel-tab", lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    if not files.create(path, text.getvalue().encode()):
        raise ConfigError(f"{path}: already exists and may contain judgements; give another file")


def header_of(path: str) -> list[str]:
    """Return the names of a sheet's columns; nothing for an empty file.

    Raises:
        InputError: The file cannot be read, or is not UTF-8.
    """
    first = next((line.text for line in read_lines(path)), "")
    return next(csv.reader([first], "excel-tab"), [])


def read_judged(
    path: str, columns: Sequence[str], key: Mapping[str, str], scale: Sequence[str]
) -> Iterator[tuple[int, tuple[str, ...], dict[str, str]]]:
    """Yield the rows of a judged sheet, in any order.

    Args:
        path: The file.
        columns: The columns that it must have.
        key: The columns that identify a tag, in order, and their names in messages, which
            leave out columns without one.
        scale: The judgements that are allowed, in lower case.

    Yields:
        The line where the row begins, from 1, its key, and the row with its judgement in lower
        case.

    Raises:
        InputError: The sheet lacks columns or rows, a judgement is missing or unknown, or a tag is
            repeated.
    """
    # Line breaks are not translated: a quoted field may contain some.
    text = "".join(f"{line.text}{line.after.decode()}" for line in read_lines(path))
    reader = csv.DictReader(io.StringIO(text, newline=""), dialect="excel-tab")
    lacking = [name for name in columns if name not in (reader.fieldnames or ())]
    if lacking:
        raise InputError(
            "bad_sheet",
            path,
            f"lacks the columns {', '.join(lacking)}; the sheet must be tab-separated and keep its "
            "header",
            1,
        )
    lines: dict[tuple[str, ...], int] = {}
    last = reader.line_num
    for row in reader:
        line, last = last + 1, reader.line_num
        judgement = (row[JUDGEMENT] or "").strip().lower()
        place = tuple(row[name] for name in key)
        parts = {shown: row[name] for name, shown in key.items() if shown}
        if judgement not in scale:
            given = f"the judgement {judgement!r}" if judgement else "no judgement"
            named = ", ".join(f"{shown} {value}" for shown, value in parts.items())
            raise InputError(
                "bad_judgement",
                path,
                f"expected one of {', '.join(scale)} for {named}, found {given}",
                line,
            )
        if place in lines:
            *outer, inner = (f"{shown} {value}" for shown, value in parts.items())
            raise InputError(
                "tag_twice",
                path,
                f"judges {inner} of {' '.join(outer)} again, after line {lines[place]}",
                line,
            )
        lines[place] = line
        yield line, place, {**row, JUDGEMENT: judgement}
    if not lines:
        raise InputError("empty_sheet", path, "holds no tag")
