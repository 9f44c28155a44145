"""Read text files by lines, plain or compressed; corpora have their own readers.

Lines are UTF-8 and end with LF or CR LF; the last one may lack its end. A byte order mark before
the first line is not text. Files are read in blocks, so memory does not grow with them; ``.gz`` and
``.zst`` are unpacked.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pairweave.transforms.counted import counted
from pairweave.transforms.errors import InputError
from pairweave.transforms.storage import files
from pairweave.transforms.storage.byte_streams import (
    BYTE_ORDER_MARK,
    compression_of,
    decompress,
    stored_chunks,
)
from pairweave.transforms.units import ReadLimits

BLOCK_BYTES = 4 << 20
"""Number of bytes of a file to read at once. A pair's two lines take about 200 bytes."""

# Reading line by line is harmless however far a file expands, and tables of tags are highly
# repetitive.
_ONE_BY_ONE = ReadLimits(max_expansion=1 << 20)


class Line(NamedTuple):
    """A line and the bytes around it, so that a file can be written with the same line ends.

    Attributes:
        text: The line without its end.
        before: A byte order mark, only before the first line.
        after: The line end: LF, CR LF, or nothing at the end of the file.
    """

    text: str
    before: bytes = b""
    after: bytes = b"\n"

    def with_text(self, text: str) -> bytes:
        """Return the bytes of this line with another text."""
        return self.before + text.encode() + self.after


def read_blocks(path: str, limits: ReadLimits | None = None) -> Iterator[bytes]:
    """Yield the text of a file in blocks of whole lines, some MiB each.

    Args:
        path: The file.
        limits: Bounds on expansion, if not the usual ones.

    Raises:
        InputError: The file does not exist (``no_match``), cannot be opened (``unreadable``) or
            unpacked (see `transforms.storage.byte_streams.decompress`).
    """
    if files.is_uri(path) and not files.exists(path):
        raise _missing(path)
    try:
        stored = stored_chunks(path, 0, None, BLOCK_BYTES)
        parts: list[bytes] = []
        for chunk in decompress(stored, compression_of(path), path, limits or ReadLimits()):
            end = chunk.rfind(b"\n") + 1
            if end:
                yield b"".join([*parts, chunk[:end]])
                parts = []
            parts.append(chunk[end:])
    except FileNotFoundError as error:
        raise _missing(path) from error
    except OSError as error:
        raise InputError("unreadable", path, f"cannot be read: {error.strerror}") from error
    if last := b"".join(parts):
        yield last


def _missing(path: str) -> InputError:
    return InputError("no_match", path, "cannot be read: no such file")


def read_lines(path: str, limits: ReadLimits = _ONE_BY_ONE) -> Iterator[Line]:
    """Yield the lines of a file, split at LF and nowhere else.

    Args:
        path: The file.
        limits: Bounds on expansion; the default suits a caller that does not keep lines.

    Raises:
        InputError: As `read_blocks`, or a line is not UTF-8 (``invalid_utf8``); names the line.
    """
    number = 0
    for block in read_blocks(path, limits):
        lines = block.split(b"\n")
        ends = [b"\n"] * (len(lines) - 1) + [b""]
        if not lines[-1]:
            lines.pop()
        for data, end in zip(lines, ends, strict=False):
            before = b""
            if not number and data.startswith(BYTE_ORDER_MARK):
                before, data = BYTE_ORDER_MARK, data.removeprefix(BYTE_ORDER_MARK)
            if data.endswith(b"\r"):
                data, end = data[:-1], b"\r" + end
            number += 1
            yield Line(_decode(data, path, number), before, end)


def _decode(data: bytes, path: str, line: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        place = error.start
        message = (
            f"expected UTF-8, found 0x{data[place]:02X} as byte {place + 1} of the line; convert a "
            "file in another encoding with iconv -f ENCODING -t UTF-8"
        )
        raise InputError("invalid_utf8", path, message, line) from error


def read_text_lines(path: str, *, keep_returns: bool = False) -> list[str]:
    """Return the lines of a file without their ends.

    Args:
        path: The file.
        keep_returns: Whether only LF ends a line, so that a carriage return before it is text.

    Raises:
        InputError: As `read_lines`.
    """
    lines = read_lines(path, ReadLimits())
    if keep_returns:
        return [line.text + "\r" * line.after.startswith(b"\r") for line in lines]
    return [line.text for line in lines]


def count_lines(path: str) -> int:
    """Return the number of lines of a file.

    Raises:
        InputError: As `read_blocks`.
    """
    blocks = read_blocks(path, _ONE_BY_ONE)
    return sum(block.count(b"\n") + (not block.endswith(b"\n")) for block in blocks)


def read_in_step(*paths: str) -> Iterator[tuple[Line, ...]]:
    """Yield the same lines of several files together.

    Raises:
        InputError: As `read_lines`, or the files have different numbers of lines
            (``line_count_mismatch``).
    """
    streams = [read_lines(path) for path in paths]
    number = 0
    while True:
        lines = [next(stream, None) for stream in streams]
        present = tuple(line for line in lines if line is not None)
        if not present:
            return
        if len(present) < len(paths):
            short = paths[lines.index(None)]
            raise InputError(
                "line_count_mismatch",
                short,
                f"ends after line {number}, but {paths[lines.index(present[0])]} continues; "
                "each must have one line for each sentence pair",
            )
        number += 1
        yield present


def require_equal_lines(paths: Sequence[str], counts: Sequence[int]) -> None:
    """Check that files have the same number of lines.

    Args:
        paths: The files. If two numbers of lines are equally frequent, that of the last file, such
            as the reference, is taken as correct.
        counts: The number of lines of each file.

    Raises:
        InputError: A file has more or fewer lines (``line_count_mismatch``); names it.
    """
    last = odd_count(counts[::-1])
    if last is None:
        return
    odd = len(counts) - 1 - last
    other = next(place for place, count in enumerate(counts) if count != counts[odd])
    raise InputError(
        "line_count_mismatch",
        paths[odd],
        f"has {counted(counts[odd], 'line')}, but {paths[other]} has {counts[other]:,}; each must "
        "have one line for each sentence pair",
    )


def odd_count(counts: Sequence[int]) -> int | None:
    """Return the place of the first count that differs from most others; None if all are equal.

    If two counts are equally frequent, the first is taken as correct.

    >>> odd_count([3, 3, 2]), odd_count([2, 3, 3]), odd_count([3, 2]), odd_count([3, 3])
    (2, 0, 1, None)
    """
    expected = max(counts, key=counts.count, default=0)
    return next((place for place, count in enumerate(counts) if count != expected), None)
