"""Splits a text into lines, many at a time: only at 0x0A, in constant memory."""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from pairweave.transforms.reading.rows import RAW_BYTES, Problem, read_text, too_long
from pairweave.transforms.storage.byte_streams import BYTE_ORDER_MARK

_TAB, _LINE_FEED, _CARRIAGE_RETURN, _SPACE = 0x09, 0x0A, 0x0D, 0x20


@dataclasses.dataclass(frozen=True, slots=True)
class LongLine:
    """A line over the limit: its length in bytes and its start."""

    length: int
    head: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive lines, without line terminators.

    Attributes:
        data: Bytes that contain the lines.
        offset: Offset of ``data`` in the (decompressed) text.
        starts: First byte of each line in ``data``, int64 ``[line]``.
        ends: End of each line, exclusive, int64 ``[line]``; a line feed and one carriage return
            before it are left out.
        controls: Ascending positions of C0 controls inside lines, except tabs, int64.
        tabs: Ascending positions of tabs, int64.
        long: Lines over the limit, by number. Their text may be missing from ``data``.
    """

    data: bytes
    offset: int
    starts: np.ndarray
    ends: np.ndarray
    controls: np.ndarray
    tabs: np.ndarray
    long: Mapping[int, LongLine]

    def __len__(self) -> int:
        return len(self.starts)

    def line(self, index: int) -> bytes:
        """Return the bytes of one line (the start of one over the limit)."""
        if index in self.long:
            return self.long[index].head
        return self.data[self.starts[index] : self.ends[index]]


def line_blocks(chunks: Iterable[bytes], max_line_bytes: int, offset: int = 0) -> Iterator[Lines]:
    """Split a text into lines.

    A byte order mark is skipped only at the text's first byte. An unterminated last line counts.

    Args:
        chunks: The text in pieces of any size.
        max_line_bytes: Maximum length; only the start and length of longer lines are kept.
        offset: Offset of the first piece in the text.
    """
    rest = b""
    unseen_mark = offset == 0
    skipped: _Skipped | None = None
    for chunk in chunks:
        data = rest + chunk if rest else chunk
        if unseen_mark:
            if len(data) < len(BYTE_ORDER_MARK) and BYTE_ORDER_MARK.startswith(data):
                rest = data
                continue
            unseen_mark = False
            if data.startswith(BYTE_ORDER_MARK):
                data = data[len(BYTE_ORDER_MARK) :]
                offset += len(BYTE_ORDER_MARK)
        if skipped is not None:
            data, finished = skipped.take(data)
            rest = b""
            if not finished:
                continue
            yield skipped.lines()
            offset = skipped.offset + skipped.stored
            skipped = None
        end = data.rfind(b"\n") + 1
        if end:
            yield _lines(data, end, offset, max_line_bytes)
            offset += end
        rest = data[end:]
        # The byte after the limit may be a carriage return.
        if len(rest) > max_line_bytes + 1:
            skipped = _Skipped(offset)
            skipped.take(rest)
            rest = b""
    if skipped is not None:
        yield skipped.lines()
    elif rest:
        yield _lines(rest, len(rest), offset, max_line_bytes)


class _Skipped:
    """A line over the limit, of which only the start is kept."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.stored = 0
        self._head = b""
        self._last = b""

    def take(self, data: bytes) -> tuple[bytes, bool]:
        """Consume the line's part of some bytes; return the rest, and whether the line ended."""
        end = data.find(b"\n")
        share = data if end < 0 else data[:end]
        if len(self._head) < RAW_BYTES:
            self._head += share[: RAW_BYTES - len(self._head)]
        self._last = share[-1:] or self._last
        self.stored += len(share) if end < 0 else end + 1
        self._terminator = 0 if end < 0 else 1
        return (b"", False) if end < 0 else (data[end + 1 :], True)

    def lines(self) -> Lines:
        length = self.stored - self._terminator - (self._last == b"\r")
        none = np.zeros(0, dtype=np.int64)
        zero = np.zeros(1, dtype=np.int64)
        return Lines(
            b"", self.offset, zero, zero, none, none, {0: LongLine(length, self._head[:length])}
        )


def _lines(data: bytes, stop: int, offset: int, max_line_bytes: int) -> Lines:
    view = np.frombuffer(data, dtype=np.uint8, count=stop)
    low = np.flatnonzero(view < _SPACE)
    values = view[low]
    newlines = values == _LINE_FEED
    ends = low[newlines]
    if not len(ends) or ends[-1] != stop - 1:
        ends = np.append(ends, stop)
    starts = np.empty_like(ends)
    starts[0] = 0
    starts[1:] = ends[:-1] + 1
    tabs = low[values == _TAB]
    controls = low[~newlines & (values != _TAB)]
    if len(controls):
        returns = (ends > starts) & (view[ends - 1] == _CARRIAGE_RETURN)
        ends = ends - returns
        controls = np.setdiff1d(controls, ends[returns], assume_unique=True)
    long = {
        line: LongLine(int(ends[line] - starts[line]), data[starts[line] : ends[line]][:RAW_BYTES])
        for line in np.flatnonzero(ends - starts > max_line_bytes).tolist()
    }
    return Lines(data, offset, starts, ends, controls, tabs, long)


@dataclasses.dataclass(frozen=True, slots=True)
class Stretch:
    """The location of one side in lines of a block.

    Attributes:
        lines: The block.
        first: First line.
        stop: Line after the last.
        starts: First byte of the side in each line, int64 ``[line - first]``.
        ends: End of the side in each line, exclusive.
    """

    lines: Lines
    first: int
    stop: int
    starts: np.ndarray
    ends: np.ndarray


def whole_lines(lines: Lines, first: int, stop: int) -> Stretch:
    """Return the stretch whose side is the whole line."""
    return Stretch(lines, first, stop, lines.starts[first:stop], lines.ends[first:stop])


def decode(
    stretch: Stretch,
    side: str,
    max_line_bytes: int,
    problems: dict[int, Problem],
    absent: Collection[int] = (),
) -> pa.StringArray:
    """Return the texts of one side; null if the line cannot be read.

    Args:
        stretch: The location of the side.
        side: ``source``, ``target`` or ``translation``.
        max_line_bytes: The limit of the block's lines, for the message.
        problems: By row of the stretch, from 0; rows that cannot be read are added; a row
            keeps its first problem.
        absent: Rows of the stretch that do not have this side.
    """
    lines = stretch.lines
    long = any(stretch.first <= line < stretch.stop for line in lines.long)
    if not absent and not long and not _has_controls(stretch):
        try:
            return _texts(lines.data, stretch.starts, stretch.ends)
        except pa.ArrowInvalid:
            pass  # a line is not UTF-8: decode each line
    texts: list[str | None] = []
    bounds = zip(stretch.starts.tolist(), stretch.ends.tolist(), strict=True)
    for row, (start, end) in enumerate(bounds):
        if row in absent:
            texts.append(None)
            continue
        text = _decode_one(lines, stretch.first + row, start, end, side, max_line_bytes)
        if isinstance(text, Problem):
            problems.setdefault(row, text)
            texts.append(None)
        else:
            texts.append(text)
    return pa.array(texts, pa.string())


def _decode_one(
    lines: Lines, line: int, start: int, end: int, side: str, max_line_bytes: int
) -> str | Problem:
    if line in lines.long:
        return too_long(side, lines.long[line].length, max_line_bytes, lines.long[line].head)
    line_start = int(lines.starts[line])
    return read_text(
        lines.line(line),
        side,
        start=start - line_start,
        stop=end - line_start,
        file_offset=lines.offset + line_start,
    )


def _has_controls(stretch: Stretch) -> bool:
    if not len(stretch.starts):
        return False
    low, high = np.searchsorted(stretch.lines.controls, (stretch.starts[0], stretch.ends[-1]))
    return bool(low < high)


def _texts(data: bytes, starts: np.ndarray, ends: np.ndarray) -> pa.StringArray:
    """Copy ascending, disjoint ranges of bytes to an array; raise if one is not UTF-8."""
    count = len(starts)
    # With all starts and ends as offsets, every second string is a wanted one.
    borders = np.empty(2 * count, dtype=np.int32)
    borders[0::2] = starts
    borders[1::2] = ends
    if not count:
        return pa.array([], pa.string())
    every = pa.Array.from_buffers(
        pa.binary(), 2 * count - 1, [None, pa.py_buffer(borders), pa.py_buffer(data)]
    )
    return every.take(pa.array(np.arange(0, 2 * count, 2))).cast(pa.string())
