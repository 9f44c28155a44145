"""Recognises the content of a file by its first bytes, regardless of the file's name."""

import re
import unicodedata

import numpy as np

from pairweave.transforms.storage.byte_streams import BYTE_ORDER_MARK

HEAD_BYTES = 1 << 16
"""Number of first bytes by which a file's content is recognised."""

ZIP_ADVICE = "give one of OPUS for Moses with input, and unpack any other"
HTML = "an HTML page; extract its text first, one paragraph per line, and give it to bitext"
UTF16 = "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"
UTF32 = "UTF-32 text; convert it with iconv -f UTF-32 -t UTF-8"
ARROW = "an Arrow file; write its rows as Parquet, which is read"
RETURNS = (
    "text whose lines end with a carriage return alone; convert them to line feeds with "
    r"tr '\r' '\n' <OLD >NEW"
)
MO = "a compiled catalogue of gettext; msgunfmt makes a .po file of it, which is read"
PICKLE = "a pickle of Python; write its texts with one sentence per line, or as JSON lines"
_FORMAT, _CHARSET = "unsupported_format", "unsupported_charset"

# First bytes of files other than UTF-8 text, in which every line would be rejected.
NOT_TEXT = (
    (b"\xff\xfe\0\0", _CHARSET, UTF32),
    (b"\0\0\xfe\xff", _CHARSET, UTF32),
    (b"\xff\xfe", _CHARSET, UTF16),
    (b"\xfe\xff", _CHARSET, UTF16),
    (b"\x1f\x8b\x08", _FORMAT, "gzip data without the extension .gz"),
    (b"\x28\xb5\x2f\xfd", _FORMAT, "Zstandard data without the extension .zst"),
    (b"\xfd7zXZ\x00", _FORMAT, "xz data without the extension .xz"),
    *(
        (b"BZh%d1AY&SY" % level, _FORMAT, "bzip2 data without the extension .bz2")
        for level in range(1, 10)
    ),
    (b"PK\x03\x04", _FORMAT, f"a zip archive; {ZIP_ADVICE}"),
    (b"PAR1", _FORMAT, "Parquet without the extension .parquet"),
    (b"%PDF-", _FORMAT, "a PDF file; extract its text first"),
    (b"\x89PNG", _FORMAT, "an image"),
    (b"\xff\xd8\xff", _FORMAT, "an image"),
    (b"\x7fELF", _FORMAT, "a program"),
    (b"SQLite format 3\0", _FORMAT, "a SQLite database; export its rows as TSV"),
    (b"\x93NUMPY", _FORMAT, "an array of NumPy, which has no text lines"),
    (b"\xde\x12\x04\x95", _FORMAT, MO),
    (b"\x95\x04\x12\xde", _FORMAT, MO),
    (b"ARROW1\0\0", _FORMAT, ARROW),
    (b"\xff\xff\xff\xff", _FORMAT, ARROW),
    *((b"\x80" + bytes([protocol]), _FORMAT, PICKLE) for protocol in range(2, 6)),
)

_TAR_MARKS, _TAR_PLACE = (b"ustar\0", b"ustar  \0"), 257
"""Marks of POSIX and of GNU; a text may have the letters there, as in German *Neustart*."""

_WIDE = {
    "utf-32-le": "UTF-32LE",
    "utf-32-be": "UTF-32BE",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
}
"""Encodings whose texts contain bytes of zero, and their names in iconv."""

MIN_CONTROLS = 64
"""Number of control characters from which a file may be binary: some damaged lines of a text are
rejected one by one, and have fewer."""

MIN_SHARE = 0.01
"""Share of control characters in a binary file: text with one in 100 bytes would lose most of its
lines. Random bytes have 11 %, and text in another encoding has none."""

MIN_RETURNS = 2
"""Minimum number of carriage returns before other text for a text without a line feed to have lines
that end in them, as old programs for the Macintosh wrote them; a single one may be stray."""

ONE_ROW = 0.4
"""If all bytes of a text are also valid UTF-8, the text counts as UTF-16 if this share of its
characters has the same first byte, as the letters of one script have. If pairs of letters are read
as characters, a fifth has the same."""

_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\x1b")

_DECLARATION = re.compile(rb"<\?xml[\s?]|<!DOCTYPE\s", re.IGNORECASE)
_BEFORE_ROOT = re.compile(
    rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*(?:\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL
)
_HTML = re.compile(rb"<(?:!DOCTYPE\s+)?html[\s>]", re.IGNORECASE)
_ROOT = re.compile(rb"<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)(?=[\s/>])")
_BY_FORMAT = (
    "{}, which has both sides; give it as input with --format {}, or under a name ending in {}"
)
_TEST_SET = "a test set in XML or SGML; write the text of each <seg> as a line"
_ROOTS = {
    b"tmx": _BY_FORMAT.format("a TMX file", "tmx", ".tmx"),
    b"xliff": _BY_FORMAT.format("an XLIFF file", "xliff", ".xlf"),
    b"srcset": _TEST_SET,
    b"refset": _TEST_SET,
    b"tstset": _TEST_SET,
    b"mteval": _TEST_SET,
}
"""Root elements of documents of a known kind, which may lack a declaration."""


def known_content(head: bytes) -> tuple[str, str] | None:
    """Return a code and the kind of a file, if its first bytes show that it is not UTF-8 text.

    Args:
        head: Its first `HEAD_BYTES` bytes, or all of a smaller file.
    """
    for magic, code, what in NOT_TEXT:
        if head.startswith(magic):
            document = _document(_from_utf16(head)) if what is UTF16 else None
            return (_FORMAT, document) if document is not None else (code, what)
    if head.startswith(_TAR_MARKS, _TAR_PLACE):
        return _FORMAT, "a tar archive; unpack it, and give its files"
    document = _document(head)
    if document is not None:
        return _FORMAT, document
    if b"\n" not in head and head.rstrip(b"\r").count(b"\r") >= MIN_RETURNS:
        return _binary(head) or (_FORMAT, RETURNS)
    return _binary(head)


def _from_utf16(head: bytes) -> bytes:
    return head.decode("utf-16", "replace").encode()


def _document(head: bytes) -> str | None:
    """Return the kind of markup document that a text begins with, if any."""
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not text.startswith(b"<"):
        return None
    if _HTML.match(text):
        return HTML
    declared = _DECLARATION.match(text) is not None
    place = 0
    while found := _BEFORE_ROOT.match(text, place):
        place = found.end()
    if _HTML.match(text, place):
        return HTML
    # A line of text may quote a declaration, but then no element follows.
    root = _ROOT.match(text, place)
    if root is None:
        return None
    known = _ROOTS.get(root[2].lower())
    if known is None and declared:
        name = root[0][1:].decode(errors="replace")
        return f"an XML document of <{name}>; extract its text first, one sentence per line"
    return known


def _binary(head: bytes) -> tuple[str, str] | None:
    """Return the kind of a file with many control characters."""
    controls = len(head) - len(head.translate(None, _CONTROL))
    if controls < max(MIN_CONTROLS, MIN_SHARE * len(head)):
        return None
    if b"\0" in head:
        for encoding, name in _WIDE.items():
            if _reads_as(head, encoding):
                return _CHARSET, (
                    f"{name[:6]} text without a byte order mark; convert it with iconv -f {name} "
                    "-t UTF-8"
                )
    elif not _is_damaged(head):
        return None
    place = next(place for place, byte in enumerate(head) if byte in _CONTROL)
    return _FORMAT, (
        f"a binary file, not text: {controls:,} of its first {len(head):,} bytes are control "
        f"characters, such as 0x{head[place]:02X} at byte {place}"
    )


def _reads_as(head: bytes, encoding: str) -> bool:
    """Tell whether bytes are text in an encoding with units of two or four bytes."""
    try:
        text = head[: len(head) // 4 * 4 - 4].decode(encoding)
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return False
        text = head[: error.start].decode(encoding)
    rows = np.frombuffer(text.encode("utf-32-le"), np.uint32) >> 8
    # In such an encoding, letters of one byte each look like characters of many scripts.
    if not _is_damaged(head) and np.bincount(rows).max(initial=0) < ONE_ROW * len(rows):
        return False
    unusual = sum(
        unicodedata.category(character) in ("Cc", "Cn", "Co") and character not in "\t\n\r\f"
        for character in text
    )
    return unusual <= MIN_SHARE * len(text)


def _is_damaged(head: bytes) -> bool:
    """Tell whether a large part of some bytes is not UTF-8."""
    lost = head.decode(errors="replace").count("\ufffd") - head.count(b"\xef\xbf\xbd")
    return lost >= MIN_SHARE * len(head)
