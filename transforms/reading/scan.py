"""The scan of an input file before the job: the parts that all formats share.

It reads every byte once, in constant memory, and decompresses to the end of the stream, so that
problems with a file as a whole are found before any row is read.
"""

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator

import xxhash

from pairweave.transforms.errors import InputError
from pairweave.transforms.storage.byte_streams import (
    COMPRESSED_CHUNK_BYTES,
    PLAIN_CHUNK_BYTES,
    decompress,
    stored_chunks,
)
from pairweave.transforms.units import Columns, CorpusInput, ReadLimits

ZIP_ADVICE = "give one of OPUS for Moses with input, and unpack any other"
HTML_ADVICE = "extract its text first, a paragraph a line, and give it to bitext"

# First bytes of files other than UTF-8 text, in which every line would be rejected.
NOT_TEXT = (
    (b"\xff\xfe", "unsupported_charset", "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "unsupported_charset", "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"),
    (b"\x1f\x8b\x08", "unsupported_format", "gzip data without the extension .gz"),
    (b"\x28\xb5\x2f\xfd", "unsupported_format", "Zstandard data without the extension .zst"),
    (b"\xfd7zXZ\x00", "unsupported_format", "xz data without the extension .xz"),
    *(
        (b"BZh%d1AY&SY" % level, "unsupported_format", "bzip2 data without the extension .bz2")
        for level in range(1, 10)
    ),
    (b"PK\x03\x04", "unsupported_format", f"a zip archive; {ZIP_ADVICE}"),
    (b"PAR1", "unsupported_format", "Parquet without the extension .parquet"),
    (b"%PDF-", "unsupported_format", "a PDF file; extract its text first"),
    (b"\x89PNG", "unsupported_format", "an image"),
    (b"\xff\xd8\xff", "unsupported_format", "an image"),
    (b"\x7fELF", "unsupported_format", "a program"),
    (b"SQLite format 3\0", "unsupported_format", "a SQLite database; export its rows as TSV"),
    (b"<!DOCTYPE html", "unsupported_format", f"an HTML page; {HTML_ADVICE}"),
    (b"<!doctype html", "unsupported_format", f"an HTML page; {HTML_ADVICE}"),
    (b"<html", "unsupported_format", f"an HTML page; {HTML_ADVICE}"),
)
HEAD_BYTES = max(len(magic) for magic, _, _ in NOT_TEXT)
"""Number of first bytes by which they are recognised."""


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
            no rows.
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
            InputError: Likewise; ``unsupported_charset`` or ``unsupported_format``.
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
    head = b""
    for chunk in text:
        if len(head) < HEAD_BYTES:
            head += chunk[:HEAD_BYTES]
            known = known_content(head)
            if known is not None:
                raise InputError(known[0], name, f"this is {known[1]}")
        yield chunk


def known_content(head: bytes) -> tuple[str, str] | None:
    """Return a code and what a file is, if its first bytes show that it is no UTF-8 text."""
    return next(((code, what) for magic, code, what in NOT_TEXT if head.startswith(magic)), None)


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
