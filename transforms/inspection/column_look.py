"""Finds the columns or fields of a file that hold texts, by their names and the first rows."""

import dataclasses
import itertools
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import regex

from pairweave.transforms.errors import InputError
from pairweave.transforms.formats.jsonl import parse_object
from pairweave.transforms.formats.registry import format_of
from pairweave.transforms.inspection.column_names import side_of
from pairweave.transforms.inspection.language_look import language_findings
from pairweave.transforms.reading.column_lines import line_blocks
from pairweave.transforms.reading.parquet.parquet_scan import is_text
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.storage.files import open_read
from pairweave.transforms.text.iso_languages import UNDETERMINED, primary_tag
from pairweave.transforms.units import Columns, ReadLimits, Unit

HEAD_ROWS = 500
"""Number of rows at the beginning of a file by which its columns are judged."""

MAX_COLUMNS = 64
"""Maximum number of columns to look at."""

LETTERED = 0.5
"""Minimum share of cells with a letter for a column of texts."""

CODES = 0.8
"""Minimum share of cells with a single word that contains digits or marks, for a column of ids or
addresses."""

DISTINCT = 0.1
"""Maximum share of distinct cells for a column of labels, such as names of corpora."""

LONGEST_NAME = 30
"""Maximum length of a cell that may be the name of a column, in characters."""

TABLES = ("tsv", "csv")

Languages = tuple[str, str]

Detect = Callable[[Sequence[str]], str | None]
"""Returns the language of some texts, or None."""

_LETTER = regex.compile(r"\p{L}")
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
_CODE = regex.compile(rf"(?=\S*(?:[\p{{N}}_/\\@=#:]|\p{{L}}\.\p{{L}}))[^\s{_UNSPACED}]+")
_NAME = regex.compile(r"[\p{L}_][^.!?,;:\"]*")
_NO_VALUE = frozenset({"nan", "none", "null", "na", "n/a", "inf"})


@dataclasses.dataclass(frozen=True, slots=True)
class TextColumns:
    """The contents of the columns or fields of a file.

    Attributes:
        held: The columns that hold text, or all fields, as a clause.
        options: The options that read the pairs, if it is clear which columns hold them and the
            given options do not read these.
        several: Whether there are more than two columns or fields, among which options choose.
        misread: Whether columns other than those in `options` are read. Otherwise only the first
            row is misread, which names the columns.
    """

    held: str
    options: Mapping[str, str]
    several: bool
    misread: bool

    @property
    def option(self) -> str:
        """Return the options to give, in words."""
        given = (f"--{name} {_shell_word(value)}" for name, value in self.options.items())
        return " ".join(given) or (
            "--source_field and --target_field name those with the texts" if self.several else ""
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """A column or field.

    Attributes:
        field: The number of the column from 1, or its key.
        name: The name of the column, if it has one; in a table, the cell in the first row.
        texts: The other cells; empty where a cell is missing.
    """

    field: str
    name: str
    texts: Sequence[str]

    @property
    def holds_text(self) -> bool:
        """Tell whether the column holds texts, and not numbers, ids or labels."""
        filled = [text for text in self.texts if text.strip()]
        if not filled or 2 * len(filled) < len(self.texts):
            return False
        lettered = sum(_LETTER.search(text) is not None for text in filled)
        codes = sum(_CODE.fullmatch(text) is not None for text in filled)
        labels = len(set(filled)) <= max(1, DISTINCT * len(filled)) and len(filled) > 1
        return lettered >= LETTERED * len(filled) and codes < CODES * len(filled) and not labels


def text_columns_of(
    unit: Unit,
    limits: ReadLimits,
    languages: Languages = (UNDETERMINED, UNDETERMINED),
    detect: Detect | None = None,
) -> TextColumns | None:
    """Return the contents of a file's columns; None if it has none, or its header names them.

    Args:
        unit: The first unit of the file.
        limits: Limits of the readers.
        languages: The languages given for the two sides.
        detect: Distinguishes languages where more than two columns hold text.
    """
    if unit.columns is None or not unit.rows:
        return None
    if unit.format in TABLES and unit.first_line == 1:
        return _of_table(unit, unit.columns, limits, languages, detect)
    if unit.format == "jsonl":
        return _of_objects(_objects(unit, limits), unit.columns, languages, detect)
    return None


def text_columns_of_parquet(path: str, detect: Detect | None = None) -> TextColumns | None:
    """Return the contents of a Parquet file's columns, without whose names it cannot be planned.

    Args:
        path: The file.
        detect: As in `text_columns_of`.

    Raises:
        InputError: ``parquet_corrupt``: its first rows cannot be read.
    """
    columns = Columns("source", "target", languages_in="translation")
    with open_read(path) as file:
        try:
            rows = _first_parquet_rows(pq.ParquetFile(file))
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            said = " ".join(str(error).split())
            raise InputError(
                "parquet_corrupt",
                path,
                f"its first rows cannot be read ({said}); fetch or write the file again",
            ) from error
    return _of_objects(rows, columns, (UNDETERMINED, UNDETERMINED), detect)


def _first_parquet_rows(stored: pq.ParquetFile) -> list[dict[str, Any]]:
    """Return the first rows, with the texts of columns that have some and None for all others."""
    every = {field.name: None for field in stored.schema_arrow}
    texts = [field.name for field in stored.schema_arrow if _has_text(field.type)]
    groups = range(min(1, stored.num_row_groups))
    batches = stored.iter_batches(HEAD_ROWS, row_groups=groups, columns=texts)
    return [{**every, **row} for batch in itertools.islice(batches, 1) for row in batch.to_pylist()]


def _has_text(kind: pa.DataType) -> bool:
    """Tell whether the cells of a column are texts, or texts by language.

    Other cells are not read: they may be large, or times that Python cannot represent.
    """
    if pa.types.is_struct(kind):
        return all(is_text(field.type) for field in kind)
    return is_text(kind)


def _of_table(
    unit: Unit,
    columns: Columns,
    limits: ReadLimits,
    languages: Languages,
    detect: Detect | None,
) -> TextColumns:
    taken = {columns.translation, columns.score, columns.links}
    cells = _cells(unit, columns, limits)
    read = cells[columns.source], cells[columns.target]
    table = [each for field, each in cells.items() if field not in taken]
    texts = [column for column in table if column.holds_text]
    # Two columns that are read keep their order, unless names or languages give another.
    inverted = all(column in texts for column in read) and int(read[0].field) > int(read[1].field)
    pair = _pair(texts[::-1] if inverted else texts, languages, detect)
    named = pair is not None and _has_header(table, pair, languages)
    if pair is None or (not named and all(column in texts for column in read)):
        pair = read
        named = _has_header(table, pair, languages)
        clear = named
    else:
        clear = named or (columns.source, columns.target) != (pair[0].field, pair[1].field)
    values = [column.name if named else column.field for column in pair]
    shown = {each.field: " ".join(each.name.split()) for each in texts}
    held = [f"{each.field} ({shown[each.field]})" if named else each.field for each in texts]
    return TextColumns(
        f"column{'s' * (len(held) != 1)} {_listed(held)} hold{'s' * (len(held) == 1)} text"
        if held
        else "no column holds text",
        dict(zip(("source_field", "target_field"), values, strict=True)) if clear else {},
        several=columns.field_count > 2,
        misread=(columns.source, columns.target) != (pair[0].field, pair[1].field),
    )


def _shell_word(value: str) -> str:
    r"""Return a value as one word for a shell, without line breaks and other such characters.

    >>> print(_shell_word(" de"), _shell_word("the\ntext"))
    ' de' $'the\ntext'
    """
    if value.isprintable():
        return shlex.quote(value)
    quoted = value.replace("\\", r"\\").replace("'", r"\'")
    codes = {ord(sign): f"\\U{ord(sign):08x}" for sign in quoted if not sign.isprintable()}
    codes[0x0A] = r"\n"
    return f"$'{quoted.translate(codes)}'"


def _cells(unit: Unit, columns: Columns, limits: ReadLimits) -> dict[str, Column]:
    """Return the first columns of a table, and the columns to read, with their first cells."""
    numbers = {*range(1, min(columns.field_count, MAX_COLUMNS) + 1)}
    fields = [*map(str, sorted(numbers | {int(columns.source), int(columns.target)}))]
    cells = {}
    for first in range(0, len(fields), 2):
        two = fields[first], fields[min(first + 1, len(fields) - 1)]
        both = Columns(*two, field_count=columns.field_count)
        of_both = dataclasses.replace(unit, columns=both, inline_tags="raw", attention=None)
        batch = next(iter(format_of(of_both).read(of_both, limits, HEAD_ROWS)))
        for field, side in zip(two, ("source", "target"), strict=True):
            texts = [text or "" for text in batch.column(side).to_pylist()]
            cells[field] = Column(field, texts[0], texts[1:] or texts)
    return cells


def _has_header(table: Sequence[Column], pair: tuple[Column, Column], languages: Languages) -> bool:
    """Tell whether the first row names the columns of a pair.

    It does in two cases. Both cells name a side or a language (a short word may be a language
    code), and the next cells do not; or a column of numbers begins with a word.
    """
    names = [column.name.strip() for column in table]
    of_pair = [column.name.strip() for column in pair]
    usable = all(
        names.count(name) == 1 and len(name) <= LONGEST_NAME and _NAME.fullmatch(name)
        for name in of_pair
    )
    if not usable:
        return False
    sides = [side_of(name) for name in of_pair]
    known = {"source", "target", *map(primary_tag, languages)}
    if (
        all(sides)
        and sides[0] != sides[1]
        and (UNDETERMINED in languages or known.issuperset(sides))
    ):
        return not all(side_of(column.texts[0]) for column in pair)
    return any(_begins_with_a_name(column) for column in table)


def _begins_with_a_name(column: Column) -> bool:
    name, filled = column.name.strip(), [text for text in column.texts if text.strip()]
    return (
        name[:1].isalpha()
        and len(name) <= LONGEST_NAME
        and name.lower() not in _NO_VALUE
        and len(filled) > 1
        and not any(map(_LETTER.search, filled))
    )


def _of_objects(
    rows: Sequence[dict[str, Any]], columns: Columns, languages: Languages, detect: Detect | None
) -> TextColumns | None:
    if not rows:
        return None
    inside = columns.languages_in
    names = {columns.source, columns.target}
    nested = [row[inside] for row in rows if inside and isinstance(row.get(inside), dict)]
    if 2 * len(nested) > len(rows) and not any(row.keys() & names for row in rows):
        rows, prefix, kind, read = nested, f"{inside}.", "lang", languages
    else:
        prefix, kind, read = "", "field", (columns.source, columns.target)
    keys = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
    fields = [Column(key, key, [_text(row.get(key)) for row in rows]) for key in keys]
    held = ", ".join(f"{prefix}{key}" for key in keys[:MAX_COLUMNS]) or "none"
    texts = [field for field in fields if field.holds_text]
    pair = None if all(key in keys for key in read) else _pair(texts, languages, detect)
    options = {}
    if pair is not None:
        options = {f"source_{kind}": pair[0].field, f"target_{kind}": pair[1].field}
    return TextColumns(f"the fields are {held}", options, several=True, misread=True)


def _objects(unit: Unit, limits: ReadLimits) -> list[dict[str, Any]]:
    """Return the first objects of a file of JSON lines."""
    blocks = line_blocks(part_text(unit.parts[0], limits), limits.max_line_bytes)
    lines = (block.line(line) for block in blocks for line in range(len(block)))
    first = itertools.islice(lines, HEAD_ROWS)
    values = (parse_object(line, limits.max_json_depth) for line in first)
    return [value for value in values if isinstance(value, dict)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _pair(
    texts: Sequence[Column], languages: Languages, detect: Detect | None
) -> tuple[Column, Column] | None:
    """Return the columns of source and target; None if they are not clear."""
    by_name = _of_sides(texts, [side_of(column.name) for column in texts], languages)
    if by_name is not None:
        return by_name
    if len(texts) == 2:
        return _in_order(texts[0], texts[1], languages)
    if len(texts) > 2 and detect is not None:
        return _of_sides(texts, [detect(column.texts) for column in texts], languages)
    return None


def _of_sides(
    texts: Sequence[Column], sides: Sequence[str | None], languages: Languages
) -> tuple[Column, Column] | None:
    """Choose columns by their sides or languages; without given languages, in their order."""
    given = [primary_tag(language) for language in languages]
    for wanted in (("source", "target"), given):
        if all(sides.count(side) == 1 for side in wanted):
            source, target = (texts[sides.index(side)] for side in wanted)
            return source, target
    known = [place for place, side in enumerate(sides) if side not in (None, "source", "target")]
    if UNDETERMINED in given and len(known) == 2 and sides[known[0]] != sides[known[1]]:
        first, second = (texts[place] for place in known)
        exchanged = sides[known[0]] == given[1] or sides[known[1]] == given[0]
        return (second, first) if exchanged else (first, second)
    return None


def _in_order(first: Column, second: Column, languages: Languages) -> tuple[Column, Column] | None:
    """Return two columns as source and target; None if they are in the same language."""
    both = zip(first.texts, second.texts, strict=True)
    rows = [(one, other) for one, other in both if one and other]
    if not rows:
        return None
    source, target = zip(*rows, strict=True)
    sample = pa.table({"source": source, "target": target, "line": range(1, len(rows) + 1)})
    kinds = {each.kind for each in language_findings(("", ""), sample, languages)}
    if "one_language" in kinds:
        return None
    return (second, first) if "exchanged_languages" in kinds else (first, second)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
