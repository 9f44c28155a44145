"""JSON Lines: one object per line, with validated texts."""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from pairweave.transforms.errors import InputError
from pairweave.transforms.export.export_formats import RowExport
from pairweave.transforms.reading.column_lines import Lines, line_blocks
from pairweave.transforms.reading.given_scores import SCORE
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.links_of_rows import LINKS, written_links
from pairweave.transforms.reading.rows import (
    RAW_BYTES,
    SIDES,
    Problem,
    RowMaker,
    control_problem,
    read_text,
    too_long,
)
from pairweave.transforms.reading.scan import Scan, ScanRequest
from pairweave.transforms.reading.scan_lines import scan_lines
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.units import Columns, ReadLimits, Unit

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKET = re.compile(rb"[][{}]")


def read_jsonl(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a JSONL unit, in ROWS batches.

    Raises:
        WorkerError: The file is not what was planned.
    """
    part, columns = unit.parts[0], unit.columns
    assert columns is not None
    maker = RowMaker(unit)
    sides = [*SIDES]
    sides += [SCORE] if columns.score is not None else []
    sides += [LINKS] if columns.links is not None else []
    offset = part.ranges[0][0] if part.compression == "none" else 0
    first_line = unit.first_line
    for lines in line_blocks(part_text(part, limits), limits.max_line_bytes, offset):
        for first in range(0, len(lines), batch_rows):
            stop = min(first + batch_rows, len(lines))
            problems: dict[int, Problem] = {}
            texts: dict[str, list[str | None]] = {side: [] for side in sides}
            for line in range(first, stop):
                line_texts, problem = _read_line(lines, line, columns, unit, limits)
                for side, column in texts.items():
                    column.append(line_texts.get(side))
                if problem is not None:
                    problems[line - first] = problem
            numbers = np.arange(first_line, first_line + stop - first, dtype=np.int64)
            arrays = {side: pa.array(column, pa.string()) for side, column in texts.items()}
            yield maker.batch(numbers, arrays, problems)
            first_line += stop - first


Texts = dict[str, str | None]


def _read_line(
    lines: Lines, line: int, columns: Columns, unit: Unit, limits: ReadLimits
) -> tuple[Texts, Problem | None]:
    if line in lines.long:
        long = lines.long[line]
        return {}, too_long("line", long.length, limits.max_line_bytes, long.head)
    raw = lines.line(line)
    value = parse_object(raw, limits.max_json_depth, lines.offset + int(lines.starts[line]))
    if isinstance(value, Problem):
        return {}, value
    return take_texts(value, raw, columns, unit.source_lang, unit.target_lang)


def parse_object(raw: bytes, max_depth: int, file_offset: int = 0) -> dict[str, Any] | Problem:
    """Parse one line, or return its problem if it is not a valid JSON object.

    NaN, lone surrogates, repeated keys (at any depth) and nesting beyond the limit are refused.
    """
    if raw.count(b"{") + raw.count(b"[") > max_depth:
        depth = _depth(raw)
        if depth > max_depth:
            return _problem(
                Reject.JSON_TOO_DEEP, f"nested {depth} deep, max_json_depth is {max_depth}", raw
            )
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        # Invalid UTF-8 is the more precise reason. Control characters are not: JSON allows some as
        # blanks between tokens, and forbids them in strings.
        text = read_text(raw, "line", file_offset=file_offset, multiline=True)
        if isinstance(text, Problem) and text.reason is Reject.INVALID_UTF8:
            return text
        return _problem(Reject.INVALID_JSON, f"{error.msg} at character {error.pos}", raw)
    # After removing escaped backslashes, each unescaped quote begins or ends a string.
    if b"\\\\" in raw or raw.count(b'"') - raw.count(b'\\"') != 2 * _strings(value):
        key = _repeated_key(raw)
        if key is not None:
            return _problem(Reject.DUPLICATE_KEY, f"key {key!r} occurs twice", raw)
    if not isinstance(value, dict):
        return _problem(Reject.WRONG_TYPE, f"expected an object, found {type(value).__name__}", raw)
    return value


def _problem(reason: Reject, detail: str, raw: bytes) -> Problem:
    return Problem(reason, detail, raw[:RAW_BYTES])


def _depth(raw: bytes) -> int:
    depth = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", raw)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _strings(value: Any) -> int:  # noqa: ANN401 - any JSON value
    """Count the strings of a parsed value, keys included."""
    if isinstance(value, str):
        return 1
    if isinstance(value, dict):
        count = len(value)
        for item in value.values():
            count += 1 if isinstance(item, str) else _strings(item)
        return count
    if isinstance(value, list):
        return sum(map(_strings, value))
    return 0


class _RepeatedKeyError(Exception):
    pass


def _repeated_key(raw: bytes) -> str | None:
    def check(pairs: list[tuple[str, Any]]) -> None:
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKeyError(key)
            seen.add(key)

    try:
        json.loads(raw, object_pairs_hook=check, parse_int=len, parse_float=len)
    except _RepeatedKeyError as error:
        return str(error.args[0])
    return None


def take_texts(
    value: dict[str, Any], raw: bytes, columns: Columns, source_lang: str, target_lang: str
) -> tuple[Texts, Problem | None]:
    """Extract source, target, translation, score and links from an object.

    Returns:
        The texts by side, with score and links as text, without missing and invalid ones; and the
        first problem.
    """
    texts: Texts = {}
    if columns.score is not None and value.get(columns.score) is not None:
        texts[SCORE] = str(value[columns.score])
    problem: Problem | None = None
    if columns.links is not None:
        links = written_links(value.get(columns.links))
        if links is None:
            problem = _links_problem(value, columns.links, raw)
        texts[LINKS] = links
    names = {"source": columns.source, "target": columns.target}
    languages = value.get(columns.languages_in) if columns.languages_in else None
    if isinstance(languages, dict) and not value.keys() & set(names.values()):
        value = languages
        names = {"source": source_lang, "target": target_lang}
    elif columns.translation is not None:
        names["translation"] = columns.translation
    for side, name in names.items():
        text = value.get(name)
        if columns.paragraphs and side == "translation":
            text = str(text) if type(text) is int else text  # the id of a document
        elif columns.paragraphs and type(text) is list:
            text = joined_paragraphs(text)
        if type(text) is str:
            side_problem = (
                control_problem(text, side, raw, multiline=True) if b"\\" in raw else None
            )
            texts[side] = text if side_problem is None else None
        elif text is None and side == "translation" and not columns.translation_required:
            side_problem = None
        elif text is None:
            state = "null" if name in value else "missing"
            side_problem = _problem(Reject.MISSING_FIELD, f"{side}: field {name!r} is {state}", raw)
        else:
            side_problem = _problem(
                Reject.WRONG_TYPE,
                f"{_called(side, columns)}: field {name!r} should be {_expected(side, columns)}, "
                f"is {type(text).__name__}",
                raw,
            )
        problem = problem or side_problem
    return texts, problem


def _called(side: str, columns: Columns) -> str:
    return "document id" if columns.paragraphs and side == "translation" else side


def _expected(side: str, columns: Columns) -> str:
    if not columns.paragraphs:
        return "a string"
    if side == "translation":
        return "a string or a whole number"
    return "a string, or a list of paragraphs, each a string or a list of strings"


def joined_paragraphs(value: list[Any]) -> str | list[Any]:
    r"""Return paragraphs as one text, with blank lines between them.

    A list that contains anything but paragraphs is returned as it is.

    >>> joined_paragraphs(["One. Two.", ["Three.", "Four."]])
    'One. Two.\n\nThree.\nFour.'
    """
    parts = [item if isinstance(item, list) else [item] for item in value]
    if not all(isinstance(line, str) for part in parts for line in part):
        return value
    return "\n\n".join("\n".join(part) for part in parts)


def _links_problem(value: dict[str, Any], field: str, raw: bytes) -> Problem:
    """Return the problem of a field without valid links."""
    if value.get(field) is None:
        state = "null" if field in value else "missing"
        return _problem(Reject.MISSING_FIELD, f"links: field {field!r} is {state}", raw)
    detail = f"links: field {field!r} should be '0-0 1-2' or [[0, 0], [1, 2]]"
    return _problem(Reject.WRONG_TYPE, detail, raw)


class _KeySearch:
    """Looks for a key anywhere in a text, without parsing the text."""

    def __init__(self, name: str) -> None:
        self.seen = False
        self._forms = {json.dumps(name, ensure_ascii=ascii).encode() for ascii in (True, False)}
        self._last = b""

    def see(self, chunk: bytes) -> None:
        """Take the next piece of the text."""
        if not self.seen:
            text = self._last + chunk
            self.seen = any(form in text for form in self._forms)
            self._last = text[1 - max(map(len, self._forms)) :]


def _scan(file: ScanRequest) -> Scan:
    """Scan a file; refuse it if no line has the field with scores.

    A single row may lack a score, so a misspelt field name would otherwise go unnoticed.
    """
    field = file.corpus.score_field
    if field is None:
        return scan_lines(file, _find_columns)
    search, first = _KeySearch(field), b""

    def find_columns(line: bytes, request: ScanRequest) -> tuple[Columns, int]:
        nonlocal first
        first = line
        return _find_columns(line, request)

    scan = scan_lines(file, find_columns, search.see)
    if scan.rows and not search.seen:
        value = parse_object(first, file.limits.max_json_depth)
        keys = [] if isinstance(value, Problem) else list(value)
        has = f"; the first line has {', '.join(map(str, keys))}" if keys else ""
        raise InputError(
            "missing_column", file.name, f"score_field {field}: no line has this field{has}"
        )
    return scan


def _find_columns(_first_line: bytes, file: ScanRequest) -> tuple[Columns, int]:
    """Return the fields to read; a missing one is a problem of its row."""
    corpus = file.corpus
    default = corpus.source_field is None and corpus.target_field is None
    columns = Columns(
        corpus.source_field or "source",
        corpus.target_field or "target",
        corpus.third_field or (None if corpus.documents else "translation"),
        translation_required=corpus.third_required,
        score=corpus.score_field,
        links=corpus.links_field,
        languages_in="translation" if default and corpus.third_field is None else None,
        paragraphs=corpus.documents,
    )
    return columns, 0


def _write(rows: pa.RecordBatch) -> list[bytes]:
    option = orjson.OPT_APPEND_NEWLINE
    return [b"".join(orjson.dumps(row, option=option) for row in rows.to_pylist())]


INPUT = InputFormat("jsonl", _scan, read_jsonl, (".jsonl",), columns=True)
EXPORT = RowExport("jsonl", ("suggest", "augment", "filter"), (".jsonl",), (), "", _write)
