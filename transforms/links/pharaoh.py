"""Files of links in Pharaoh form: ``i-j`` for each link, zero-based, one line for each pair.

Files are read in blocks (`transforms.storage.text_lines`), so memory does not grow with them.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import fields_of
from pairweave.transforms.errors import InputError
from pairweave.transforms.kernels.links import pharaoh as kernel
from pairweave.transforms.kernels.links.links import Links, least_lengths
from pairweave.transforms.kernels.links.phrase_extraction import extract_phrases
from pairweave.transforms.kernels.links.symmetrize import HEURISTICS, symmetrize
from pairweave.transforms.links.link_options import Heuristic, SymmetrizeConfig, UnalignedWords
from pairweave.transforms.links.phrase_extraction import PhraseConfig
from pairweave.transforms.storage.byte_streams import BYTE_ORDER_MARK
from pairweave.transforms.storage.text_lines import count_lines, read_blocks, require_equal_lines

_NO_CUTS = np.zeros(0, np.bool_)


@dataclasses.dataclass(frozen=True, slots=True)
class PharaohLinks:
    """The links of some lines as they are written, as flat arrays.

    Attributes:
        offsets: Where each line's links start, int64 ``[line + 1]``, not always from 0.
        sources: Source words, int16 ``[link]``, as written: in any order, perhaps repeated.
        targets: Target words, the same.
        possible: Whether a link is written ``ipj``, bool ``[link]``.
    """

    offsets: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    possible: np.ndarray

    def __post_init__(self) -> None:
        # Read-only like views of Arrow columns, because kernels are compiled for each kind of
        # array.
        self.sources.setflags(write=False)
        self.targets.setflags(write=False)

    @property
    def links(self) -> Links:
        """Return only the links, in the form for kernels."""
        return Links(self.offsets, self.sources, self.targets)

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.offsets) - 1

    def __getitem__(self, lines: slice) -> "PharaohLinks":
        """Return adjacent lines without copying them."""
        start, stop, _ = lines.indices(len(self))
        return dataclasses.replace(self, offsets=self.offsets[start : stop + 1])


def parse_links(
    data: bytes, path: Path, first_line: int = 1, *, possible: bool = False
) -> PharaohLinks:
    """Read whole lines of links.

    Links are separated by blanks or tabs; lines end with LF or CR LF and may be empty.

    Args:
        data: Text of whole lines.
        path: The file it is from, for messages.
        first_line: The number of its first line there.
        possible: Whether ``ipj`` is also a link, a possible link of gold data.

    Raises:
        InputError: ``invalid_link`` or ``link_out_of_range``; names the line and the token.
    """
    text = np.frombuffer(data, np.uint8)
    offsets, source, target, marks, bad = kernel.parse(text, int(possible))
    if bad < 0:
        return PharaohLinks(offsets, source, target, marks)
    token = data[bad:].split(maxsplit=1)[0]
    shown = token[:200].decode("utf-8", "replace")
    if len(shown) > 40:
        shown = f"{shown[:40]}…"
    numbers = token.replace(b"p", b"-") if possible else token
    if all(number.isdigit() for number in numbers.split(b"-")) and numbers.count(b"-") == 1:
        code, expected = "link_out_of_range", f"word numbers go up to {kernel.MAX_INDEX}"
    else:
        form = "i-j or ipj" if possible else "i-j"
        code, expected = "invalid_link", f"expected {form} with two word numbers, such as 0-2"
    line = first_line + len(offsets) - 2
    raise InputError(code, str(path), f"{shown!r} is not a link; {expected}", line)


def read_links(path: Path, *, possible: bool = False) -> Iterator[PharaohLinks]:
    """Yield the links of a file, block by block.

    Args:
        path: A file of links.
        possible: Whether ``ipj`` is also a link.

    Raises:
        InputError: The file cannot be read, or contains an invalid link.
    """
    line = 1
    for block in _text_blocks(path):
        links = parse_links(block, path, line, possible=possible)
        line += len(links)
        yield links


def read_lengths(path: Path) -> Iterator[np.ndarray]:
    """Yield the numbers of words in the lines of a tokenised file, int64 ``[line]``.

    Raises:
        InputError: The file cannot be read, or a line has more words than links can name.
    """
    line = 0
    for block in _text_blocks(path):
        lines = block.removesuffix(b"\n").split(b"\n")
        lengths = np.array([len(text.split()) for text in lines], np.int64)
        most = int(lengths.argmax())
        if lengths[most] > kernel.MAX_INDEX + 1:
            raise InputError(
                "sentence_too_long",
                str(path),
                f"expected at most {kernel.MAX_INDEX + 1} words, which can be numbered, found "
                f"{lengths[most]}",
                line + most + 1,
            )
        line += len(lengths)
        yield lengths


def _text_blocks(path: Path) -> Iterator[bytes]:
    """Yield the blocks of a file; a byte order mark before its first line is not text."""
    mark = BYTE_ORDER_MARK
    for block in read_blocks(str(path)):
        yield block.removeprefix(mark)
        mark = b""


def in_step(paths: Sequence[Path], streams: Sequence[Iterator[Any]]) -> Iterator[list[Any]]:
    """Yield the same lines of several files together, block by block.

    Args:
        paths: The files.
        streams: The data read from each file: `PharaohLinks` or arrays, of any number of lines at
            a time.

    Raises:
        InputError: ``line_count_mismatch``; names all counts. It is raised before anything is
            yielded, unless a file is a pipe, whose lines can be counted only by reading it.
    """
    names = [str(path) for path in paths]
    if all(path.is_file() for path in paths):
        require_equal_lines(names, [count_lines(name) for name in names])
    held: list[Any] = [() for _ in streams]
    done = 0
    while True:
        for place, stream in enumerate(streams):
            while not len(held[place]) and (block := next(stream, None)) is not None:
                held[place] = block
        lines = min(len(block) for block in held)
        if not lines:
            break
        yield [block[:lines] for block in held]
        held = [block[lines:] for block in held]
        done += lines
    counts = [
        done + len(block) + sum(len(rest) for rest in stream)
        for block, stream in zip(held, streams, strict=True)
    ]
    require_equal_lines(names, counts)


def symmetrize_files(forward: Path, reverse: Path, heuristic: Heuristic, out: BinaryIO) -> None:
    """Combine two files of directed links into Pharaoh lines with sorted links.

    Args:
        forward: Links of one direction, as source-target.
        reverse: Links of the other direction, also as source-target.
        heuristic: As in `transforms.links.link_options.SymmetrizeConfig`.
        out: Gets one line for each pair.

    Raises:
        ConfigError: The heuristic is unknown.
        InputError: A file cannot be read or contains an invalid link, or the files have different
            numbers of lines.
    """
    code = HEURISTICS[SymmetrizeConfig(heuristic=heuristic).heuristic]
    streams = [read_links(forward), read_links(reverse)]
    for one, other in in_step([forward, reverse], streams):
        joined = symmetrize(one.links, other.links, code)
        text, _ = kernel.format_links(*joined, 1)
        out.write(text.data)


def phrase_files(
    links: Path,
    max_words: int,
    unaligned_words: UnalignedWords,
    out: BinaryIO,
    source_text: Path | None = None,
    target_text: Path | None = None,
) -> None:
    """List the phrase pairs of each line of links as ``i1-i2:j1-j2``, ends included, sorted.

    Args:
        links: A file of links.
        max_words: As in `transforms.links.phrase_extraction.PhraseConfig`.
        unaligned_words: As in `PhraseConfig`. The words after the last link of a side matter only
            for ``allow``, and are known only from the side's text.
        out: Gets one line for each pair.
        source_text: The source sentences, with words separated by spaces; without it a sentence
            ends with its last linked word.
        target_text: The target sentences, the same.

    Raises:
        ConfigError: A setting is out of range.
        InputError: A file cannot be read or contains an invalid link, a link is outside its
            sentence, or the files have different numbers of lines.
    """
    config = PhraseConfig(max_words=max_words, unaligned_words=unaligned_words)
    texts = [text for text in (source_text, target_text) if text is not None]
    streams: list[Iterator[Any]] = [read_links(links), *(read_lengths(text) for text in texts)]
    first_line = 1
    for block, *lengths in in_step([links, *texts], streams):
        sides = [least_lengths(block.offsets, words) for words in (block.sources, block.targets)]
        for side, text in enumerate((source_text, target_text)):
            if text is not None:
                sides[side] = _checked_lengths(sides[side], lengths.pop(0), links, text, first_line)
        phrases = extract_phrases(
            block.links,
            sides[0],
            sides[1],
            _NO_CUTS,
            _NO_CUTS,
            config.max_words,
            1 if config.unaligned_words == "allow" else None,
        )
        out.write(kernel.format_phrases(*phrases).data)
        first_line += len(block)


def format_links(links: pa.ChunkedArray | pa.Array) -> pa.StringArray:
    """Return a column of links as Pharaoh lines without their ends."""
    offsets, fields = fields_of(links)
    text, starts = kernel.format_links(offsets, fields["source"], fields["target"], 0)
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(starts.astype(np.int32)), pa.py_buffer(text)
    )


def _checked_lengths(
    least: np.ndarray, lengths: np.ndarray, links: Path, text: Path, first_line: int
) -> np.ndarray:
    """Return the lengths of sentences, which must reach to the last linked word."""
    outside = np.flatnonzero(least > lengths)
    if len(outside):
        line = int(outside[0])
        raise InputError(
            "link_out_of_range",
            str(links),
            f"links word {least[line] - 1}, but that line of {text} has {lengths[line]} words, "
            "numbered from 0",
            first_line + line,
        )
    return lengths
