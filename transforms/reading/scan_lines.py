"""The scan of a text: its lines, and the starts of units of texts whose rows are lines."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import xxhash

from pairweave.transforms.reading.scan import Cut, Digests, Scan, ScanRequest
from pairweave.transforms.storage.byte_streams import BYTE_ORDER_MARK
from pairweave.transforms.units import Columns

_LINE_FEED = 0x0A

FindColumns = Callable[[bytes, ScanRequest], tuple[Columns | None, int]]
"""Returns the locations of the texts and the number of header lines, by a file's first line."""


class LineCounter:
    """Counts the lines of a text that is read in pieces."""

    def __init__(self) -> None:
        self.lines = 0
        self.carriage_returns = 0
        self.byte_order_mark = False
        self._size = 0
        self._head = b""
        self._last = b""
        self._open = 0  # bytes since the last line feed

    def scan_chunk(self, chunk: bytes) -> np.ndarray:
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

    def pass_on(self, text: Iterable[bytes]) -> Iterator[bytes]:
        """Count the lines of a text while passing it on."""
        for chunk in text:
            self.scan_chunk(chunk)
            yield chunk
        self.finish()

    def scan(self, digests: Digests, rows: int, cuts: tuple[Cut, ...] | None = None) -> Scan:
        """Return the result of the scan, like `Digests.scan`."""
        return dataclasses.replace(
            digests.scan(rows, cuts),
            carriage_returns=self.carriage_returns,
            byte_order_mark=self.byte_order_mark,
        )


def scan_lines(
    file: ScanRequest,
    find_columns: FindColumns | None = None,
    see: Callable[[bytes], object] | None = None,
) -> Scan:
    """Scan a text whose rows are lines; a compressed one is a single unit of any size.

    Args:
        file: The file.
        find_columns: Not called for an empty file. Without it there are no columns and no header.
        see: Called with each piece of the text.

    Raises:
        InputError: The file as a whole cannot be used.
    """
    digests = Digests()
    counter = LineCounter()
    plain = file.compression == "none"
    columns: Columns | None = None
    header = 0
    first_line, text = _first_line(digests.plain_text_of(file), file.limits.max_line_bytes)
    if first_line is not None and find_columns is not None:
        columns, header = find_columns(first_line, file)
    cutter = _Cutter(file.unit_rows, header)
    for chunk in text:
        feeds = counter.scan_chunk(chunk)
        if see is not None:
            see(chunk)
        if plain:
            cutter.scan_chunk(chunk, feeds)
    counter.finish()
    rows = max(0, counter.lines - header)
    cuts = cutter.finish(counter.lines) if plain else None
    return dataclasses.replace(
        counter.scan(digests, rows, cuts), header_lines=header, columns=columns
    )


def _first_line(text: Iterator[bytes], max_line_bytes: int) -> tuple[bytes | None, Iterator[bytes]]:
    """Return the first line of a text, and the whole text.

    The line is None for an empty text, and truncated at the limit.
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
    """Cuts a plain text after a fixed number of lines."""

    def __init__(self, unit_rows: int, header_lines: int) -> None:
        self._unit_rows = unit_rows
        self._header_lines = header_lines
        self._next = header_lines or unit_rows  # lines before the next cut
        self._digest = xxhash.xxh3_128()
        self._begin = self._begin_line = 0
        self._position = self._lines = 0
        self._cuts: list[Cut] = []

    def scan_chunk(self, chunk: bytes, feeds: np.ndarray) -> None:
        """Take a piece of the text, and the positions of its line feeds."""
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
        """Return the cuts, given the total number of lines."""
        self._cut(self._position, lines)
        return tuple(self._cuts)

    def _cut(self, stop: int, line: int) -> None:
        if line > max(self._begin_line, self._header_lines):
            rows = line - self._begin_line
            self._cuts.append(Cut(((self._begin, stop),), self._digest.hexdigest(), rows))
        self._digest = xxhash.xxh3_128()
        self._begin, self._begin_line = stop, line
