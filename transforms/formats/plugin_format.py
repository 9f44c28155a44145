"""Makes formats of other packages readable by jobs."""

import functools
import io
from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import ConfigError, InputError, PairweaveError
from pairweave.transforms.plugins.corpus_format import FORMAT, CorpusFormat, TextPair
from pairweave.transforms.plugins.entry_points import Plugin, load_plugin, raised
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.rows import (
    RAW_BYTES,
    Problem,
    RowMaker,
    control_problem,
    in_batches,
    too_long,
)
from pairweave.transforms.reading.scan import Digests, Scan, ScanRequest
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.units import ReadLimits, Unit

_SIDES = ("source", "target")
_Row = tuple[str | None, str | None, Problem | None]
_END = object()
"""Marks the end of a file, since a plugin may yield None by mistake."""


def input_format_of(plugin: Plugin) -> InputFormat:
    """Return the format of a plugin; each of its files is one unit.

    No suffix of a file selects it, so that installing a package changes no run.
    """
    return InputFormat(plugin.name, functools.partial(_scan, plugin), read_pairs, plugin=plugin)


def _scan(plugin: Plugin, file: ScanRequest) -> Scan:
    digests = Digests()
    rows = sum(1 for _ in _pairs(plugin, digests.text_of(file), file.name, file.langs))
    return digests.scan(rows)


def read_pairs(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file, in ROWS batches; ``line`` is the number of the pair.

    Raises:
        ConfigError: The format cannot be loaded here, its code is not the planned one, or it yields
            a different number of pairs than when the run was planned.
        InputError: It cannot read the file (``unreadable``).
        WorkerError: The file is not what was planned.
    """
    assert unit.plugin is not None  # the unit's format is that of a plugin
    part, langs = unit.parts[0], (unit.source_lang, unit.target_lang)
    maker, first = RowMaker(unit), unit.first_line
    rows = (
        _row(pair, limits)
        for pair in _pairs(unit.plugin, part_text(part, limits), part.name, langs)
    )
    for batch in in_batches(rows, _characters, batch_rows):
        texts = {
            side: pa.array([row[place] for row in batch], pa.string())
            for place, side in enumerate(_SIDES)
        }
        problems = {number: row[2] for number, row in enumerate(batch) if row[2] is not None}
        yield maker.batch(np.arange(first, first + len(batch), dtype=np.int64), texts, problems)
        first += len(batch)
    read = first - unit.first_line
    if read != unit.rows:  # the file is as planned, or reading it to its end would have failed
        what = f"yielded {read:,} pairs of {part.name}, and {unit.rows:,} when the run was planned"
        raise _failed(unit.plugin, what)


def _pairs(
    plugin: Plugin, text: Iterator[bytes], name: str, langs: tuple[str, str]
) -> Iterator[TextPair]:
    """Yield the pairs that a format reads; then read the rest of the file, for its digest.

    Args:
        plugin: The format.
        text: The bytes of the file, decompressed.
        name: The name of the file, for messages.
        langs: Source and target language.

    Raises:
        ConfigError: The format cannot be loaded, or yields something other than a pair.
        InputError: It cannot read the file (``unreadable``).
    """
    reader = cast("CorpusFormat", load_plugin(plugin, FORMAT))
    source = cast("BinaryIO", io.BufferedReader(_Bytes(text)))
    pairs: Iterator[TextPair] | None = None
    number = 0
    while True:
        try:
            if pairs is None:
                pairs = iter(reader.read(source, *langs))
            pair: object = next(pairs, _END)
        except (PairweaveError, MemoryError, KeyboardInterrupt):
            raise
        except ValueError as error:
            if isinstance(error, io.UnsupportedOperation):  # not of the file, but of its use
                raise _failed(plugin, f"{raised(error)} after pair {number} of {name}") from error
            said = " ".join(str(error).split())
            raise InputError(
                "unreadable",
                name,
                f"{plugin} cannot read it after pair {number}: {said}; mend the file, or give "
                "another --format",
            ) from error
        except BaseException as error:  # a panic of Rust is not an Exception
            raise _failed(plugin, f"{raised(error)} after pair {number} of {name}") from error
        if pair is _END:
            break
        number += 1
        if not _is_pair(pair):
            raise _failed(plugin, f"yielded {str(pair)[:80]!r} as pair {number} of {name}")
        yield cast("TextPair", pair)
    for _ in text:
        pass


def _is_pair(pair: object) -> bool:
    return (
        isinstance(pair, tuple)
        and len(pair) == len(_SIDES)
        and all(side is None or isinstance(side, str) for side in pair)
    )


def _failed(plugin: Plugin, what: str) -> ConfigError:
    return plugin.failed(
        "format",
        "read",
        what,
        "tuples (source, target), each a text or None, the same at each reading, or a ValueError "
        "for a bad file",
        "give another format",
    )


class _Bytes(io.RawIOBase):
    """A readable file over bytes that come in pieces."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces, self._left = iter(pieces), memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Copy the next bytes into a buffer; return their number, 0 at the end."""
        while not len(self._left):
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def _characters(row: _Row) -> int:
    return len(row[0] or "") + len(row[1] or "")


def _row(pair: TextPair, limits: ReadLimits) -> _Row:
    """Return the valid texts of a pair, and its first problem."""
    texts: list[str | None] = []
    problem = None
    for side, text in zip(_SIDES, pair, strict=True):
        side_problem = _problem(side, text, limits)
        texts.append(text if side_problem is None else None)
        problem = problem or side_problem
    return texts[0], texts[1], problem


def _problem(side: str, text: str | None, limits: ReadLimits) -> Problem | None:
    """Return the problem of a text, by the rules of all formats."""
    if text is None:
        return Problem(Reject.MISSING_FIELD, f"{side}: is missing")
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        what = f"lone surrogate U+{ord(text[error.start]):04X} at character {error.start}"
        raw = text.encode(errors="backslashreplace")
        return Problem(Reject.INVALID_UTF8, f"{side}: {what}", raw[:RAW_BYTES])
    if len(raw) > limits.max_line_bytes:
        return too_long(side, len(raw), limits.max_line_bytes, raw)
    return control_problem(text, side, raw, multiline=True)
