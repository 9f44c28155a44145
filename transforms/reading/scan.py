"""The scan of an input file before the job: the parts that all formats share.

It reads every byte once, in constant memory, and decompresses to the end of the stream, so that
problems with a file as a whole are found before any row is read.
"""

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator

import xxhash

from pairweave.transforms.errors import InputError
from pairweave.transforms.reading.known_content import HEAD_BYTES, known_content
from pairweave.transforms.storage.byte_streams import (
    COMPRESSED_CHUNK_BYTES,
    PLAIN_CHUNK_BYTES,
    decompress,
    stored_chunks,
)
from pairweave.transforms.units import Columns, CorpusInput, ReadLimits


@dataclasses.dataclass(frozen=True, slots=True)
class ScanRequest:
    """A file to scan, with its settings from the plan.

    Attributes:
        path: The file.
        name: Its name, for messages.
        role: Its content, as in `transforms.units.InputFile`.
        compression: ``none``, ``gzip``, ``zstd``, ``xz`` or ``bzip2``.
        corpus: The corpus that it belongs to.
        langs: Source and target language.
        limits: Bounds on expansion, lines and segments.
        unit_rows: Rows in a unit of plain text whose rows are lines.
    """

    path: str
    name: str
    role: str
    compression: str
    corpus: CorpusInput
    langs: tuple[str, str]
    limits: ReadLimits
    unit_rows: int


@dataclasses.dataclass(frozen=True, slots=True)
class Cut:
    """Rows of one file that a unit can consist of.

    Attributes:
        ranges: Half-open byte ranges of the file as stored.
        digest: xxh3-128 of those bytes, hex.
        rows: Number of rows in them.
        row_group: Number of the Parquet row group; None for other formats.
    """

    ranges: tuple[tuple[int, int], ...]
    digest: str
    rows: int
    row_group: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Scan:
    """The result of one pass.

    Attributes:
        bytes: Size as stored.
        sha256: SHA-256 of the file as stored, hex.
        rows: Number of rows.
        cuts: The rows in order, without empty cuts.
        digest: xxh3-128 of the whole file, hex.
        text_bytes: Decompressed size; for Parquet, that of the wanted columns.
        header_lines: Number of lines before the first row.
        columns: Locations of the texts.
        carriage_returns: Number of lines that end in a carriage return, which readers drop.
        byte_order_mark: Whether the text begins with one, which readers drop.
        langs: The languages stated in the file itself, if not given otherwise.
        rows_with_tags: Number of rows with inline tags, in formats that have them.
        untranslatable: Segments without a target that are marked as not to be translated; they are
            not rows.
        outside_segments: Units with text outside of their segments, which is in no row.
        outside_tags: Units with tags but no text outside of their segments.
        names: Names by which rows of parallel files are matched; empty if their order matches
            them.
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
    untranslatable: int = 0
    outside_segments: int = 0
    outside_tags: int = 0
    names: tuple[str, ...] = ()

    def whole(self) -> Cut:
        """Return all rows as one cut."""
        return Cut(((0, self.bytes),), self.digest, self.rows)


class Digests:
    """Size and digests of a file that is read, and the size of its text."""

    def __init__(self) -> None:
        self.size = 0
        self.text_bytes = 0
        self.sha256 = hashlib.sha256()
        self.whole = xxhash.xxh3_128()

    def pass_on(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Count and digest chunks while passing them on."""
        for chunk in chunks:
            self.size += len(chunk)
            self.sha256.update(chunk)
            self.whole.update(chunk)
            yield chunk

    def text_of(self, file: ScanRequest) -> Iterator[bytes]:
        """Yield the text of a file, decompressed; count and digest its bytes.

        Raises:
            InputError: The file as a whole cannot be used.
        """
        stored = self.pass_on(stored_file(file.path, file.name, file.compression))
        for chunk in decompress(stored, file.compression, file.name, file.limits):
            self.text_bytes += len(chunk)
            yield chunk

    def plain_text_of(self, file: ScanRequest) -> Iterator[bytes]:
        """Yield the text of a file like `text_of`, unless its first bytes are not text.

        Raises:
            InputError: As for `text_of`; also ``unsupported_charset`` or ``unsupported_format``.
        """
        return _refuse_non_text(self.text_of(file), file.name)

    def cut(self, rows: int) -> tuple[Cut, ...]:
        """Return the whole file as one cut; none if it has no rows."""
        return (Cut(((0, self.size),), self.whole.hexdigest(), rows),) if rows else ()

    def scan(self, rows: int, cuts: tuple[Cut, ...] | None = None) -> Scan:
        """Return the result of the scan; without cuts the file is a single one."""
        return Scan(
            self.size,
            self.sha256.hexdigest(),
            rows,
            self.cut(rows) if cuts is None else cuts,
            self.whole.hexdigest(),
            text_bytes=self.text_bytes,
        )


def _refuse_non_text(text: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield a text unchanged, unless its first bytes show another format.

    Raises:
        InputError: ``unsupported_charset`` or ``unsupported_format``.
    """
    held: list[bytes] = []
    size = 0
    for chunk in text:
        if size < HEAD_BYTES:
            held.append(chunk)
            size += len(chunk)
            if size < HEAD_BYTES:
                continue
            chunk = _text_alone(held, name)
        yield chunk
    if 0 < size < HEAD_BYTES:
        yield _text_alone(held, name)


def _text_alone(pieces: list[bytes], name: str) -> bytes:
    """Return the beginning of a text.

    Raises:
        InputError: ``unsupported_charset`` or ``unsupported_format``.
    """
    text = b"".join(pieces)
    known = known_content(text[:HEAD_BYTES])
    if known is not None:
        raise InputError(known[0], name, f"this is {known[1]}")
    return text


def stored_file(path: str, name: str, compression: str = "none") -> Iterator[bytes]:
    """Yield a whole file as stored.

    Raises:
        InputError: ``unreadable``.
    """
    chunk_bytes = PLAIN_CHUNK_BYTES if compression == "none" else COMPRESSED_CHUNK_BYTES
    try:
        yield from stored_chunks(path, 0, None, chunk_bytes)
    except OSError as error:
        reason = error.strerror or error
        raise InputError("unreadable", name, f"cannot be read: {reason}") from error
