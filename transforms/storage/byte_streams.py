"""Bytes of a file: ranges, digests, and decompression that requires the end of the stream.

A truncated or damaged file is an error that names it and the offset, never half its text; memory
use is constant, however far a file expands.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import xxhash
import zstandard

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.storage import files
from pairweave.transforms.units import Part, ReadLimits

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bzip2"}
"""Compressions, by file extension."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The byte order mark, which is not part of a UTF-8 text."""

PLAIN_CHUNK_BYTES = 8 << 20
COMPRESSED_CHUNK_BYTES = 1 << 20
_GZIP_SLICE = 1 << 16
# A Zstandard block takes at least 4 bytes and gives at most 128 KiB, and python-zstandard returns
# all that a slice gives at once: 512 bytes bound it to 16 MiB.
_ZSTD_SLICE = 512
_GZIP_MAGIC = b"\x1f\x8b"


def compression_of(path: str) -> str:
    """Return how a file is compressed, by its name: as in `COMPRESSIONS`, or ``none``.

    >>> compression_of("corpus.en.gz"), compression_of("corpus.en")
    ('gzip', 'none')
    """
    return COMPRESSIONS.get(path[path.rfind(".") :], "none")


def without_compression(path: str) -> str:
    """Return a file's name without the ending of its compression.

    >>> [without_compression(path) for path in ("corpus.en.xz", "corpus.en")]
    ['corpus.en', 'corpus.en']
    """
    return path if compression_of(path) == "none" else path[: path.rfind(".")]


def stored_chunks(path: str, start: int, stop: int | None, chunk_bytes: int) -> Iterator[bytes]:
    """Yield a range of a file as stored, in pieces; up to its end if ``stop`` is None.

    Raises:
        OSError: The file cannot be read.
    """
    with files.open_read(path) as file:
        if start:
            file.seek(start)
        left = stop - start if stop is not None else None
        while left is None or left > 0:
            chunk = file.read(chunk_bytes if left is None else min(chunk_bytes, left))
            if not chunk:
                return
            if left is not None:
                left -= len(chunk)
            yield chunk


def decompress(
    chunks: Iterable[bytes], compression: str, name: str, limits: ReadLimits
) -> Iterator[bytes]:
    """Yield the text of a file in pieces of at least 1 MiB (except the last).

    Several gzip members or Zstandard frames are read as one text; zeros after the end of gzip
    data are padding, as for gzip(1).

    Args:
        chunks: The file as stored, from its first byte to its last.
        compression: ``none``, ``gzip``, ``zstd``, ``xz`` or ``bzip2``.
        name: The file's name, for messages.
        limits: Bounds on expansion.

    Raises:
        InputError: The compression's name with ``_truncated`` or ``_corrupt``, ``zstd_window`` or
            ``expansion_limit``.
    """
    if compression == "none":
        yield from chunks
        return
    pieces = _READERS[compression](chunks, name)
    waiting: list[bytes] = []
    waiting_bytes = written = 0
    for piece, consumed in pieces:
        written += len(piece)
        if written > max(limits.expansion_floor_bytes, limits.max_expansion * consumed):
            raise InputError(
                "expansion_limit",
                name,
                f"the first {consumed} bytes hold {written} bytes of text or more, over "
                f"max_expansion {limits.max_expansion}; raise it if the file is not damaged",
            )
        if written > limits.max_file_bytes:
            raise InputError(
                "expansion_limit",
                name,
                f"holds more than max_file_bytes {limits.max_file_bytes} of text; "
                "split the file or raise the limit",
            )
        waiting.append(piece)
        waiting_bytes += len(piece)
        if waiting_bytes >= COMPRESSED_CHUNK_BYTES:
            yield b"".join(waiting)
            waiting, waiting_bytes = [], 0
    if waiting_bytes:
        yield b"".join(waiting)


def _gunzip(chunks: Iterable[bytes], name: str) -> Iterator[tuple[bytes, int]]:
    """Yield (text, stored bytes used so far)."""
    member = None
    head = b""  # the first two bytes of the member
    consumed = members = begun = 0
    for chunk in chunks:
        position = 0
        while position < len(chunk):
            if member is None:
                if members and chunk[position] == 0:
                    rest = chunk[position:].lstrip(b"\0")
                    consumed += len(chunk) - position - len(rest)
                    position = len(chunk) - len(rest)
                    continue
                member, head, begun = zlib.decompressobj(wbits=31), b"", consumed
            piece = chunk[position : position + _GZIP_SLICE]
            head = (head + piece[:2])[:2]
            try:
                text = member.decompress(piece, COMPRESSED_CHUNK_BYTES)
            except zlib.error as error:
                if head != _GZIP_MAGIC:
                    raise _no_gzip(name, begun, members) from error
                raise InputError(
                    "gzip_corrupt",
                    name,
                    f"the gzip data is damaged after byte {consumed} ({error}); "
                    "fetch or compress the file again",
                ) from error
            left = len(member.unused_data if member.eof else member.unconsumed_tail)
            position += len(piece) - left
            consumed += len(piece) - left
            if member.eof:
                member = None
                members += 1
            yield text, consumed
    if not _GZIP_MAGIC.startswith(head):
        raise _no_gzip(name, begun, members)
    if member is not None or not members:
        raise InputError(
            "gzip_truncated",
            name,
            f"the file ends at byte {consumed} inside its gzip data; fetch or compress it again",
        )


def _no_gzip(name: str, offset: int, members: int) -> InputError:
    if not members:
        return InputError("gzip_corrupt", name, "is not gzip data, though its name says so")
    return InputError(
        "gzip_corrupt", name, f"something other than gzip data follows its end at byte {offset}"
    )


def _unxz(chunks: Iterable[bytes], name: str) -> Iterator[tuple[bytes, int]]:
    """Yield (text, stored bytes used so far)."""
    return _streams(chunks, name, "xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY))


def _unbzip2(chunks: Iterable[bytes], name: str) -> Iterator[tuple[bytes, int]]:
    """Yield (text, stored bytes used so far)."""
    return _streams(chunks, name, "bzip2", bz2.BZ2Decompressor)


def _streams(
    chunks: Iterable[bytes], name: str, kind: str, begin: Callable[[], Any]
) -> Iterator[tuple[bytes, int]]:
    """Yield the text of streams one after the other, as xz(1) and bzip2(1) read them."""
    stream: Any = None
    consumed = streams = 0
    for chunk in chunks:
        rest = chunk
        while rest or (stream is not None and not stream.needs_input and not stream.eof):
            if stream is None:
                if streams and not (rest := rest.lstrip(b"\0")):  # padding, as gzip may have
                    break
                stream = begin()
            before = len(rest)
            try:
                text = stream.decompress(rest, COMPRESSED_CHUNK_BYTES)
            except (lzma.LZMAError, OSError, EOFError) as error:
                raise InputError(
                    f"{kind}_corrupt",
                    name,
                    f"the {kind} data is damaged after byte {consumed} ({error}); fetch or "
                    "compress the file again",
                ) from error
            rest = stream.unused_data if stream.eof else b""
            consumed += before - len(rest)
            yield text, consumed
            if stream.eof:
                stream, streams = None, streams + 1
    if stream is not None or not streams:
        raise InputError(
            f"{kind}_truncated",
            name,
            f"the {kind} data ends after byte {consumed}, before its end; fetch the file again",
        )


_XZ_MEMORY = 256 << 20
"""Memory for the dictionary of an xz stream; `xz -9` needs 65 MiB."""


def _unzstd(chunks: Iterable[bytes], name: str) -> Iterator[tuple[bytes, int]]:
    """Yield (text, stored bytes used so far)."""
    decompressor = zstandard.ZstdDecompressor()
    frame = decompressor.decompressobj()
    fresh = True  # no byte of this frame has been read
    frames = consumed = 0
    for chunk in chunks:
        position = 0
        while position < len(chunk):
            piece = chunk[position : position + _ZSTD_SLICE]
            try:
                text = frame.decompress(piece)
            except zstandard.ZstdError as error:
                raise _bad_zstd(name, consumed, str(error)) from error
            fresh = False
            used = len(piece) - len(frame.unused_data) if frame.eof else len(piece)
            position += used
            consumed += used
            if frame.eof:
                frame = decompressor.decompressobj()
                fresh = True
                frames += 1
            yield text, consumed
    if not fresh or not frames:
        raise InputError(
            "zstd_truncated",
            name,
            f"the file ends at byte {consumed} inside its Zstandard data; "
            "fetch or compress it again",
        )


def _bad_zstd(name: str, offset: int, error: str) -> InputError:
    if "too much memory" in error:
        return InputError(
            "zstd_window", name, "needs over 128 MiB to unpack; compress it without --long"
        )
    reason = error.removeprefix("zstd decompressor error: ")
    return InputError(
        "zstd_corrupt", name, f"the Zstandard data is damaged after byte {offset} ({reason})"
    )


def part_bytes(part: Part, chunk_bytes: int = PLAIN_CHUNK_BYTES) -> Iterator[bytes]:
    """Yield the stored bytes of a unit's part, and check the planned digest at the end.

    Raises:
        WorkerError: The file cannot be read here, or is not what was planned.
    """
    digest = xxhash.xxh3_128()
    size = 0
    try:
        for start, stop in part.ranges:
            for chunk in stored_chunks(part.path, start, stop, chunk_bytes):
                digest.update(chunk)
                size += len(chunk)
                yield chunk
    except OSError as error:
        raise WorkerError(
            f"{part.name}: cannot read {part.path} on this worker: {error}"
        ) from error
    planned = sum(stop - start for start, stop in part.ranges)
    if size != planned:
        raise WorkerError(
            f"{part.name}: {planned} bytes were planned, {size} are there ({part.path}); "
            "the file has changed since the plan was made"
        )
    if digest.hexdigest() != part.digest:
        raise WorkerError(
            f"{part.name}: bytes {part.ranges[0][0]} to {part.ranges[-1][1]} have digest "
            f"{digest.hexdigest()}, planned {part.digest} ({part.path}); "
            "the file has changed since the plan was made"
        )


def part_text(part: Part, limits: ReadLimits) -> Iterator[bytes]:
    """Yield the text of a unit's part, decompressed.

    Raises:
        WorkerError: As `part_bytes`, and if the file no longer decompresses as it did.
    """
    plain = part.compression == "none"
    stored = part_bytes(part, PLAIN_CHUNK_BYTES if plain else COMPRESSED_CHUNK_BYTES)
    try:
        yield from decompress(stored, part.compression, part.name, limits)
    except InputError as error:
        raise WorkerError(f"{error}; it was valid when the plan was made") from error


_READERS: dict[str, Callable[[Iterable[bytes], str], Iterator[tuple[bytes, int]]]] = {
    "gzip": _gunzip,
    "zstd": _unzstd,
    "xz": _unxz,
    "bzip2": _unbzip2,
}
"""The reader of each compression."""
