"""One pass over an input file: its digest, its rows, and where units begin.

The pass reads every byte once, in constant memory, and decompresses to the end of the stream, so
that what is wrong with a file as a whole is known before any row leaves it.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import xxhash

from pairweave.transforms.errors import InputError
from pairweave.transforms.formats.lxm import parse_lxm
from pairweave.transforms.formats.po import parse_po
from pairweave.transforms.reading.column_lines import line_blocks
from pairweave.transforms.storage.byte_streams import (
    BYTE_ORDER_MARK,
    COMPRESSED_CHUNK_BYTES,
    PLAIN_CHUNK_BYTES,
    decompress,
    stored_chunks,
)
from pairweave.transforms.units import Columns, ReadLimits

_LINE_FEED = 0x0A

# What a file that is no UTF-8 text begins with. Reading it as text would reject its every line.
NOT_TEXT = (
    (b"\xff\xfe", "unsupported_charset", "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "unsupported_charset", "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"),
    (b"\x1f\x8b\x08", "unsupported_format", "gzip data without the extension .gz"),
    (b"\x28\xb5\x2f\xfd", "unsupported_format", "Zstandard data without the extension .zst"),
    (b"\xfd7zXZ\x00", "unsupported_format", "xz data; use .gz or .zst"),
    (b"PK\x03\x04", "unsupported_format", "a zip archive; unpack it"),
    (b"PAR1", "unsupported_format", "Parquet without the extension .parquet"),
)
_MAGIC_BYTES = max(len(magic) for magic, _, _ in NOT_TEXT)


@dataclasses.dataclass(frozen=True, slots=True)
class Cut:
    """Rows of one file that a unit can take.

    Attributes:
        ranges: Half-open byte ranges of the file as stored.
        digest: xxh3-128 of those bytes, hex.
        rows: Rows in them.
        row_group: Parquet's row group, else None.
    """

    ranges: tuple[tuple[int, int], ...]
    digest: str
    rows: int
    row_group: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Scan:
    """What one pass finds.

    Attributes:
        bytes: Size as stored.
        sha256: Of the file as stored, hex.
        rows: Rows in all.
        cuts: The rows in order, without empty cuts.
        digest: xxh3-128 of the whole file, hex.
        text_bytes: Size decompressed; of Parquet, of the wanted columns.
        header_lines: Lines before the first row.
        columns: Where the texts are.
        carriage_returns: Lines that end in a carriage return, which readers drop.
        byte_order_mark: The text begins with one, which readers drop.
        langs: The languages that the file itself says it has, where nobody else did.
        rows_with_tags: Rows with inline tags, of formats that know them.
        names: What tells rows of files that run in parallel which belong together; none where
            their order does.
    """

    bytes: int
    sha256: str
    rows: int
    cuts: tuple[Cut, ...]
    digest: str
    text_bytes: int = 0
    header_lines: int = 0
    columns: Columns | None = None
    carriage_returns: int = 0
    byte_order_mark: bool = False
    langs: tuple[str, str] | None = None
    rows_with_tags: int = 0
    names: tuple[str, ...] = ()

    def whole(self) -> Cut:
        """Return all rows as one cut."""
        return Cut(((0, self.bytes),), self.digest, self.rows)


class Digests:
    """Size and digests of a file that passes, and the size of the text in it."""

    def __init__(self) -> None:
        self.size = 0
        self.text_bytes = 0
        self.sha256 = hashlib.sha256()
        self.whole = xxhash.xxh3_128()

    def pass_on(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Count and digest chunks on their way to someone else."""
        for chunk in chunks:
            self.size += len(chunk)
            self.sha256.update(chunk)
            self.whole.update(chunk)
            yield chunk

    def text_of(
        self, path: str, name: str, compression: str, limits: ReadLimits
    ) -> Iterator[bytes]:
        """Yield the text of a file, decompressed; count and digest what passes.

        Raises:
            InputError: The file as a whole cannot be used.
        """
        stored = self.pass_on(stored_file(path, name, compression))
        for chunk in decompress(stored, compression, name, limits):
            self.text_bytes += len(chunk)
            yield chunk

    def cut(self, rows: int) -> tuple[Cut, ...]:
        """Return the whole file as one cut; none if it has no rows."""
        return (Cut(((0, self.size),), self.whole.hexdigest(), rows),) if rows else ()


class _LineCounter:
    """Counts the lines of a text that comes in pieces."""

    def __init__(self) -> None:
        self.lines = 0
        self.carriage_returns = 0
        self.byte_order_mark = False
        self._size = 0
        self._head = b""
        self._last = b""
        self._open = 0  # bytes since the last line feed

    def take(self, chunk: bytes) -> np.ndarray:
        """Take a piece and return the positions of its line feeds, int64."""
        if self._size < len(BYTE_ORDER_MARK):
            self._head += chunk[: len(BYTE_ORDER_MARK) - self._size]
        self._size += len(chunk)
        positions = np.flatnonzero(np.frombuffer(chunk, dtype=np.uint8) == _LINE_FEED)
        self.lines += len(positions)
        if b"\r" in chunk:
            self.carriage_returns += chunk.count(b"\r\n")
        if self._last == b"\r" and chunk.startswith(b"\n"):
            self.carriage_returns += 1
        self._last = chunk[-1:] or self._last
        if len(positions):
            self._open = len(chunk) - int(positions[-1]) - 1
        else:
            self._open += len(chunk)
        return positions

    def finish(self) -> None:
        """Count an unterminated last line."""
        self.byte_order_mark = self._head == BYTE_ORDER_MARK
        only_mark = self.byte_order_mark and self._size == len(BYTE_ORDER_MARK)
        if self._open and not only_mark:
            self.lines += 1
            self.carriage_returns += self._last == b"\r"


def _refuse_what_is_no_text(text: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Pass a text on, unless its first bytes show that it is something else.

    Raises:
        InputError: ``unsupported_charset`` or ``unsupported_format``.
    """
    head = b""
    for chunk in text:
        if len(head) < _MAGIC_BYTES:
            head += chunk[:_MAGIC_BYTES]
            for magic, code, what in NOT_TEXT:
                if head.startswith(magic):
                    raise InputError(code, name, f"this is {what}")
        yield chunk


def stored_file(path: str, name: str, compression: str = "none") -> Iterator[bytes]:
    """Yield a whole file as stored.

    Raises:
        InputError: ``unreadable``.
    """
    chunk_bytes = PLAIN_CHUNK_BYTES if compression == "none" else COMPRESSED_CHUNK_BYTES
    try:
        yield from stored_chunks(path, 0, None, chunk_bytes)
    except OSError as error:
        raise InputError("unreadable", name, f"cannot be read: {error}") from error


def scan_lines(
    path: str,
    name: str,
    compression: str,
    limits: ReadLimits,
    unit_rows: int,
    find_columns: Callable[[bytes], tuple[Columns | None, int]],
) -> Scan:
    """Pass over a text whose rows are lines.

    Args:
        path: The file.
        name: Its name, for messages.
        compression: ``none``, ``gzip`` or ``zstd``.
        limits: Bounds on expansion.
        unit_rows: Lines in a unit; a compressed file is one unit whatever its size.
        find_columns: Finds, in the first line, where the texts are and how many header lines
            there are; not called for an empty file.

    Raises:
        InputError: The file as a whole cannot be used.
    """
    digests = Digests()
    counter = _LineCounter()
    plain = compression == "none"
    text = digests.text_of(path, name, compression, limits)
    text = _refuse_what_is_no_text(text, name)
    columns: Columns | None = None
    header = 0
    first_line, text = _first_line(text, limits.max_line_bytes)
    if first_line is not None:
        columns, header = find_columns(first_line)
    cutter = _Cutter(unit_rows, header)
    for chunk in text:
        feeds = counter.take(chunk)
        if plain:
            cutter.take(chunk, feeds)
    counter.finish()
    rows = max(0, counter.lines - header)
    cuts = cutter.finish(counter.lines) if plain else digests.cut(rows)
    return Scan(
        digests.size,
        digests.sha256.hexdigest(),
        rows,
        cuts,
        digests.whole.hexdigest(),
        text_bytes=digests.text_bytes,
        header_lines=header,
        columns=columns,
        carriage_returns=counter.carriage_returns,
        byte_order_mark=counter.byte_order_mark,
    )


def _first_line(text: Iterator[bytes], max_line_bytes: int) -> tuple[bytes | None, Iterator[bytes]]:
    """Return the start of a text up to its first line's end, and the text again.

    The line is None for an empty text, and cut off beyond the limit.
    """
    held: list[bytes] = []
    size = 0
    for chunk in text:
        held.append(chunk)
        size += len(chunk)
        if b"\n" in chunk or size > max_line_bytes + len(BYTE_ORDER_MARK):
            break
    data = b"".join(held)

    def again() -> Iterator[bytes]:
        if data:
            yield data
        yield from text

    line = data.removeprefix(BYTE_ORDER_MARK)
    if not line:
        return None, again()
    return line.split(b"\n", 1)[0].removesuffix(b"\r"), again()


class _Cutter:
    """Cuts a plain text after every so many lines."""

    def __init__(self, unit_rows: int, header_lines: int) -> None:
        self._unit_rows = unit_rows
        self._header_lines = header_lines
        self._next = header_lines or unit_rows  # lines before the next cut
        self._digest = xxhash.xxh3_128()
        self._begin = self._begin_line = 0
        self._position = self._lines = 0
        self._cuts: list[Cut] = []

    def take(self, chunk: bytes, feeds: np.ndarray) -> None:
        """Take a piece of the text, and where its line feeds are."""
        view = memoryview(chunk)
        done = 0
        while self._next <= self._lines + len(feeds):
            end = int(feeds[self._next - self._lines - 1]) + 1
            self._digest.update(view[done:end])
            self._cut(self._position + end, self._next)
            done = end
            self._next += self._unit_rows
        self._digest.update(view[done:])
        self._lines += len(feeds)
        self._position += len(chunk)

    def finish(self, lines: int) -> tuple[Cut, ...]:
        """Return the cuts, given how many lines there are in all."""
        self._cut(self._position, lines)
        return tuple(self._cuts)

    def _cut(self, stop: int, line: int) -> None:
        if line > max(self._begin_line, self._header_lines):
            rows = line - self._begin_line
            self._cuts.append(Cut(((self._begin, stop),), self._digest.hexdigest(), rows))
        self._digest = xxhash.xxh3_128()
        self._begin, self._begin_line = stop, line


def scan_po(path: str, name: str, compression: str, limits: ReadLimits) -> Scan:
    """Pass over a message catalogue.

    Raises:
        InputError: The file as a whole cannot be used.
    """
    digests = Digests()
    counter = _LineCounter()
    text = _refuse_what_is_no_text(digests.text_of(path, name, compression, limits), name)

    def counted() -> Iterator[bytes]:
        for chunk in text:
            counter.take(chunk)
            yield chunk
        counter.finish()

    blocks = line_blocks(counted(), limits.max_line_bytes)
    rows = sum(len(message.pairs()) for message in parse_po(blocks, name, limits.max_line_bytes))
    return Scan(
        digests.size,
        digests.sha256.hexdigest(),
        rows,
        digests.cut(rows),
        digests.whole.hexdigest(),
        text_bytes=digests.text_bytes,
        carriage_returns=counter.carriage_returns,
        byte_order_mark=counter.byte_order_mark,
    )


def scan_lxm(path: str, name: str, compression: str, language: str, limits: ReadLimits) -> Scan:
    """Pass over one side of an LXM corpus.

    Raises:
        InputError: The file as a whole cannot be used.
    """
    digests = Digests()
    text = _refuse_what_is_no_text(digests.text_of(path, name, compression, limits), name)
    names = tuple(parse_lxm(text, name, language, limits))
    return Scan(
        digests.size,
        digests.sha256.hexdigest(),
        len(names),
        digests.cut(len(names)),
        digests.whole.hexdigest(),
        text_bytes=digests.text_bytes,
        names=names,
    )
