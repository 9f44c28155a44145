"""Lines of a text file with what ends them, so that a file can be written with the same lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pairweave.transforms.errors import InputError
from pairweave.transforms.pharaoh import read_blocks
from pairweave.transforms.text_lines import decode_line
from pairweave.transforms.units import ReadLimits

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# Tables of tags repeat themselves without end, and are read line by line.
_LIMITS = ReadLimits(max_expansion=1 << 20)


class Line(NamedTuple):
    """A line and the bytes round it.

    Attributes:
        text: The line without its end.
        before: A byte order mark, before the first line alone.
        after: What ends it: LF, CR LF, or nothing at the end of the file.
    """

    text: str
    before: bytes = b""
    after: bytes = b"\n"

    def with_text(self, text: str) -> bytes:
        """Return the bytes of this line with another text."""
        return self.before + text.encode() + self.after


def read_lines(path: str) -> Iterator[Line]:
    """Yield the lines of a UTF-8 file, plain, ``.gz`` or ``.zst``, split at LF and nowhere else.

    Raises:
        InputError: The file cannot be read, or a line is not UTF-8; names the line.
    """
    number = 0
    for block in read_blocks(Path(path), _LIMITS):
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
            yield Line(decode_line(data, path, number), before, end)


def read_in_step(*paths: str) -> Iterator[tuple[Line, ...]]:
    """Yield the same lines of several files together.

    Raises:
        InputError: As `read_lines`, or the files have different numbers of lines.
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
                f"ends after line {number}, but {paths[lines.index(present[0])]} goes on; each "
                "must have one line for each sentence pair",
            )
        number += 1
        yield present
