"""Files of links in Pharaoh form: ``i-j`` for each link, zero-based, one line for each pair.

Files are read in blocks, so memory does not grow with them; ``.gz`` and ``.zst`` are unpacked.
"""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol, Self

import numpy as np
import pyarrow as pa

from transforms.errors import InputError
from transforms.flat_lists import fields_of
from transforms.kernels import pharaoh as kernel
from transforms.kernels.phrases import extract_phrases
from transforms.kernels.symmetrize import symmetrize
from transforms.phrases import PhraseConfig
from transforms.read.streams import decompress, stored_chunks
from transforms.symmetrize import SymmetrizeConfig
from transforms.units import ReadLimits

BLOCK_BYTES = 4 << 20
"""How much of a file is read at once. A pair's two lines take some 200 bytes."""

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_NO_CUTS = np.zeros(0, np.bool_)


class Lines(Protocol):
    """What some lines of a file hold, in step with the lines of another."""

    def __len__(self) -> int:
        """Return the number of lines."""
        ...

    def __getitem__(self, lines: slice, /) -> Self:
        """Return some of the lines."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Links:
    """The links of some lines as flat arrays.

    Attributes:
        offsets: Where each line's links start, int64 ``[line + 1]``, not always from 0.
        source: Source words, int16 ``[link]``, as written: in any order, perhaps repeated.
        target: Target words, the same.
        possible: Whether a link is written ``ipj``, bool ``[link]``.
    """

    offsets: np.ndarray
    source: np.ndarray
    target: np.ndarray
    possible: np.ndarray

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.offsets) - 1

    def __getitem__(self, lines: slice) -> "Links":
        """Return adjoining lines without a copy."""
        start, stop, _ = lines.indices(len(self))
        return dataclasses.replace(self, offsets=self.offsets[start : stop + 1])


def parse_links(data: bytes, path: Path, first_line: int = 1, *, possible: bool = False) -> Links:
    """Read whole lines of links.

    Links are parted by blanks or tabs; lines end with LF or CR LF and may be empty.

    Args:
        data: Text of whole lines.
        path: The file it is from, for messages.
        first_line: The number of its first line there.
        possible: Whether ``ipj`` is a link too, one that gold data calls possible.

    Raises:
        InputError: ``invalid_link`` or ``link_out_of_range``; names the line and the token.
    """
    text = np.frombuffer(data, np.uint8)
    offsets, source, target, marks, bad = kernel.parse(text, int(possible))
    if bad < 0:
        return Links(offsets, source, target, marks)
    token = data[bad:].split(maxsplit=1)[0]
    shown = token[:40].decode("ascii", "backslashreplace") + ("…" if len(token) > 40 else "")
    numbers = token.replace(b"p", b"-") if possible else token
    if all(number.isdigit() for number in numbers.split(b"-")) and numbers.count(b"-") == 1:
        code, expected = "link_out_of_range", f"word numbers go up to {kernel.MAX_INDEX}"
    else:
        form = "i-j or ipj" if possible else "i-j"
        code, expected = "invalid_link", f"expected {form} with two word numbers, such as 0-2"
    line = first_line + len(offsets) - 2
    raise InputError(code, str(path), f"line {line}: {shown!r} is not a link; {expected}")


def read_links(path: Path, *, possible: bool = False) -> Iterator[Links]:
    """Yield the links of a file, block by block.

    Args:
        path: A file of links.
        possible: Whether ``ipj`` is a link too.

    Raises:
        InputError: The file cannot be read, or holds what is no link.
    """
    line = 1
    for block in read_blocks(path):
        links = parse_links(block, path, line, possible=possible)
        line += len(links)
        yield links


def read_blocks(path: Path) -> Iterator[bytes]:
    """Yield the text of a file in blocks of whole lines, some MiB each.

    Raises:
        InputError: The file cannot be opened or unpacked.
    """
    compression = _COMPRESSIONS.get(path.suffix, "none")
    try:
        stored = stored_chunks(str(path), 0, None, BLOCK_BYTES)
        parts: list[bytes] = []
        for chunk in decompress(stored, compression, str(path), ReadLimits()):
            end = chunk.rfind(b"\n") + 1
            if end:
                yield b"".join([*parts, chunk[:end]])
                parts = []
            parts.append(chunk[end:])
    except OSError as error:
        raise InputError("unreadable", str(path), f"cannot be read: {error.strerror}") from error
    if last := b"".join(parts):
        yield last


def read_lengths(path: Path) -> Iterator[np.ndarray]:
    """Yield how many words the lines of a tokenised file have, int64 ``[line]``.

    Raises:
        InputError: The file cannot be read, or a line has more words than links can name.
    """
    line = 0
    for block in read_blocks(path):
        lines = block.removesuffix(b"\n").split(b"\n")
        lengths = np.array([len(text.split()) for text in lines], np.int64)
        most = int(lengths.argmax())
        if lengths[most] > kernel.MAX_INDEX + 1:
            raise InputError(
                "sentence_too_long",
                str(path),
                f"line {line + most + 1} has {lengths[most]} words, at most "
                f"{kernel.MAX_INDEX + 1} can be numbered",
            )
        line += len(lengths)
        yield lengths


def in_step[T: Lines](paths: Sequence[Path], streams: Sequence[Iterator[T]]) -> Iterator[list[T]]:
    raise NotImplementedError
