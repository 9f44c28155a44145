"""Localization XML-MT (LXM) JSON: one file per side, with texts by identifier.

``{"lang": "en", "type": "source", "text": {ID: TEXT, ...}}`` (Hashimoto et al. 2019). The texts
contain XML tags and entities as characters. Each identifier of the source gives a row, in order,
followed by those that only the target has. The files are read whole, as their format requires.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import orjson
import pyarrow as pa

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.export.export_formats import MarkupExport
from pairweave.transforms.export.markup_rows import SIDES, MarkupRow
from pairweave.transforms.export.markup_texts import of_one_language_pair, tagged_texts
from pairweave.transforms.formats.jsonl import parse_object
from pairweave.transforms.problems import Problem
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.language_tags import ANY, matches
from pairweave.transforms.reading.rows import RowMaker, control_problem, in_batches, too_long
from pairweave.transforms.reading.scan import Digests, Scan, ScanRequest
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage.byte_streams import BYTE_ORDER_MARK, part_text
from pairweave.transforms.units import ReadLimits, Unit

MAX_BYTES = 1 << 30
"""Maximum size of a file; the published corpus has files of 30 MB."""

_Row = tuple[str | None, str | None, Problem | None]
"""A row's source and target, and the reason to reject it."""


class LxmFile(NamedTuple):
    """The content of a file.

    Attributes:
        language: Its ``lang``, not checked; None if it has none.
        texts: Its texts by identifier, in order, not checked.
    """

    language: object
    texts: Mapping[str, object]


def parse_lxm(
    chunks: Iterable[bytes], name: str, wanted: str, limits: ReadLimits
) -> Mapping[str, object]:
    """Return the texts of a file by identifier, in its order.

    Raises:
        InputError: ``file_too_large``, ``language_not_found``, or an error of
            `parse_file`.
    """
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MAX_BYTES:
            raise InputError(
                "file_too_large", name, f"over {MAX_BYTES} bytes; LXM is read whole, split the file"
            )
    language, texts = parse_file(bytes(data), name, limits)
    if isinstance(language, str) and wanted != ANY and not matches(wanted, language):
        raise InputError("language_not_found", name, f"the file is {language}, wanted {wanted}")
    return texts


def parse_file(data: bytes, name: str, limits: ReadLimits) -> LxmFile:
    """Parse a whole file.

    Raises:
        InputError: ``invalid_json``, ``invalid_utf8``, ``duplicate_key``, ``json_too_deep``,
            ``wrong_type`` or ``missing_field``.
    """
    value = parse_object(data.removeprefix(BYTE_ORDER_MARK), limits.max_json_depth)
    if isinstance(value, Problem):
        raise InputError(str(value.reason), name, value.detail)
    texts = value.get("text")
    if not isinstance(texts, dict):
        raise InputError("missing_field", name, 'expected {"lang": ..., "text": {ID: TEXT, ...}}')
    return LxmFile(value.get("lang"), texts)


def _scan(file: ScanRequest) -> Scan:
    digests = Digests()
    language = file.langs[file.role == "target"]
    names = tuple(parse_lxm(digests.plain_text_of(file), file.name, language, file.limits))
    return dataclasses.replace(digests.scan(len(names)), names=names)


def read_lxm(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a pair of LXM files, in ROWS batches; ``line`` is the row's number.

    Raises:
        WorkerError: A file is not what was planned.
    """
    try:
        source, target = (
            parse_lxm(part_text(part, limits), part.name, language, limits)
            for part, language in zip(unit.parts, (unit.source_lang, unit.target_lang), strict=True)
        )
    except InputError as error:
        raise WorkerError(f"{error}; it could be read when the plan was made") from error
    maker = RowMaker(unit)
    names = list(dict.fromkeys((*source, *target)))
    first = 1
    every = (_row(name, source, target, limits) for name in names)
    for rows in in_batches(every, _characters, batch_rows):
        texts = {
            side: pa.array([row[place] for row in rows], pa.string())
            for place, side in enumerate(("source", "target"))
        }
        problems = {number: row[2] for number, row in enumerate(rows) if row[2] is not None}
        lines = np.arange(first, first + len(rows), dtype=np.int64)
        yield maker.batch(lines, texts, problems)
        first += len(rows)


def _characters(row: _Row) -> int:
    return len(row[0] or "") + len(row[1] or "")


def _row(
    name: str, source: Mapping[str, object], target: Mapping[str, object], limits: ReadLimits
) -> _Row:
    texts: list[str | None] = []
    problem = None
    for side, file in (("source", source), ("target", target)):
        text, text_problem = _text(name, side, file, limits)
        texts.append(text)
        problem = problem or text_problem
    return texts[0], texts[1], problem


def _text(
    name: str, side: str, file: Mapping[str, object], limits: ReadLimits
) -> tuple[str | None, Problem | None]:
    if name not in file:
        reason = Reject.UNTRANSLATED if side == "target" else Reject.MISSING_FIELD
        return None, Problem(reason, f"{side}: there is no {name}")
    text = file[name]
    if not isinstance(text, str):
        kind = type(text).__name__
        return None, Problem(Reject.WRONG_TYPE, f"{side}: {name} should be a string, is {kind}")
    raw = text.encode()
    if len(raw) > limits.max_line_bytes:
        return None, too_long(side, len(raw), limits.max_line_bytes, raw)
    problem = control_problem(text, side, raw, multiline=True)
    return (None, problem) if problem is not None else (text, None)


def write_lxm(rows: Iterable[MarkupRow]) -> Iterator[tuple[bytes, bytes]]:
    """Yield both files, text by text; texts have their tags as characters.

    Args:
        rows: The pairs, of one pair of languages.

    Raises:
        ConfigError: They have several pairs of languages.
    """
    langs: tuple[str, str] | None = None
    advice = "an LXM file has one language: write TMX, XLIFF 1.2 or html"
    for row in of_one_language_pair(rows, advice):
        head = _heads(row.langs) if langs is None else (b",\n", b",\n")
        langs = row.langs
        name = orjson.dumps(row.name)
        source, target = (
            before + name + b": " + orjson.dumps(text)
            for before, text in zip(head, tagged_texts(row), strict=True)
        )
        yield source, target
    if langs is None:
        yield _heads(("", ""))
    yield b"\n}}\n", b"\n}}\n"


def _heads(langs: tuple[str, str]) -> tuple[bytes, bytes]:
    """Return the start of each file, before its first text; without rows there is no language."""
    source, target = (
        b"{"
        + (f'"lang": "{lang}", ' if lang else "").encode()
        + f'"type": "{side}", "text": {{\n'.encode()
        for lang, side in zip(langs, SIDES, strict=True)
    )
    return source, target


INPUT = InputFormat("lxm", _scan, read_lxm, sides=True, named_rows=True, inline_tags="strip")
EXPORT = MarkupExport(
    "lxm", (".source.json", ".target.json"), lambda rows, _: write_lxm(rows), "xml"
)
