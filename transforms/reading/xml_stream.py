"""Streaming XML: events of an untrusted document that is parsed in pieces.

A document may have a DOCTYPE that names a DTD, as in TMX; the DTD is not loaded, and the document
cannot define entities or attributes. An entity other than XML's five is an error; parsers that only
skip the DTD drop such entities silently. Memory is constant: the nesting of elements and the length
of tags and comments are limited.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn, Protocol
from xml.parsers import expat

from pairweave.transforms.errors import InputError
from pairweave.transforms.units import ReadLimits

MAX_DEPTH = 64
"""Maximum depth of elements; the document element has depth 1."""

_HEAD_BYTES = 1024
_MAX_NAMES = 4096
_SLICE_BYTES = 1 << 18
"""Bytes decoded and parsed at a time, independent of the chunks in which a file is read."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# XML 1.0, appendix F: UTF-16 without a byte order mark.
_WIDE = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_CODECS = re.compile(
    r"utf-8|ascii|utf-16(-le|-be)?|iso8859-\d+|cp125\d|cp(437|850|852|866|874|932|936|949|950)"
    r"|koi8-[ru]|mac-[a-z]+|shift_jis\w*|euc_(jp|kr|jis_2004)|gb(2312|k|18030)|big5\w*"
)
_DECLARATION = re.compile(r"<\?xml([ \t\r\n][^<>]*?)\?>")
_SETTING = re.compile(
    r"""[ \t\r\n]+(version|encoding|standalone)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')"""
)
# A standalone document must declare all entities that it uses.
_OWN_DECLARATION = '<?xml version="1.0" standalone="yes"?>'
_NO_XML = (
    (b"\x1f\x8b\x08", "gzip data without the extension .gz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data without the extension .zst"),
    (b"PK\x03\x04", "a zip archive; unpack it"),
)
_TRUNCATED = frozenset(
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
_NO_DTD = "no DTD is loaded, so write its character or the number of it, such as &#160; for &nbsp;"
_UNDEFINED = expat.errors.codes[expat.errors.XML_ERROR_UNDEFINED_ENTITY]


class Handler(Protocol):
    """Handler of a document's events."""

    def start(self, local: str, name: str, attributes: Mapping[str, str], line: int) -> None:
        """Take an opening tag.

        Args:
            local: The element's name without a prefix if it is in the document element's
                namespace, else empty.
            name: Its name as written.
            attributes: Its attributes as written, in order.
            line: Its line, from 1.
        """

    def end(self, local: str, name: str) -> None:
        """Take a closing tag, including that of an empty element."""

    def text(self, data: str) -> None:
        """Take text with resolved entities; one text may come in several pieces."""


def parse_xml(
    chunks: Iterable[bytes], name: str, limits: ReadLimits, handler: Handler
) -> Iterator[None]:
    """Pass the events of a document to a handler, and yield after every piece.

    Args:
        chunks: The document as stored, decompressed.
        name: The file's name, for messages.
        limits: ``max_line_bytes`` bounds tags, comments and processing instructions.
        handler: Takes the events.

    Raises:
        InputError: ``empty_file``, ``unsupported_format``, ``unsupported_charset``,
            ``wrong_encoding``, ``invalid_encoding``, ``xml_truncated``, ``xml_syntax``,
            ``entities_forbidden``, ``internal_subset``, ``undefined_entity``, ``xml_too_deep`` or
            ``xml_token_too_long``; with the line. The events before it are then invalid.
    """
    document = _Document(name, handler)
    longest = 2 * (limits.max_line_bytes + _SLICE_BYTES)
    fed = 0
    for text in utf8_document(chunks, name):
        document.feed(text)
        fed += len(text)
        if fed - max(0, document.parser.CurrentByteIndex) > longest:
            document.fail(
                "xml_token_too_long",
                f"a tag, comment or instruction goes on for over {longest} bytes",
            )
        yield
    document.feed(b"", final=True)
    yield


class _Document:
    """Expat, without the features that a corpus does not need."""

    def __init__(self, name: str, handler: Handler) -> None:
        self._name = name
        self._handler = handler
        self._depth = 0
        # Namespaces by prefix: of each element that declares any, with its depth.
        self._scopes: list[tuple[int, dict[str, str]]] = [(0, {"": ""})]
        self._core: str | None = None
        self._locals: dict[str, str] = {}  # by name, in the scope that is open
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = handler.text
        parser.EntityDeclHandler = self._entity
        for kind in ("ElementDecl", "AttlistDecl", "NotationDecl", "UnparsedEntityDecl"):
            setattr(parser, f"{kind}Handler", self._subset)
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EndDoctypeDeclHandler = self._end_doctype
        parser.SkippedEntityHandler = self._skipped
        self._has_subset = False

    def feed(self, piece: bytes, *, final: bool = False) -> None:
        """Parse a piece.

        Raises:
            InputError: The document has a fault.
        """
        try:
            self.parser.Parse(piece, final)
        except expat.ExpatError as error:
            code = "xml_truncated" if final and error.code in _TRUNCATED else "xml_syntax"
            code = "undefined_entity" if error.code == _UNDEFINED else code
            what = expat.ErrorString(error.code)
            if code == "xml_truncated":
                what = f"the document ends before its document element does ({what})"
            elif code == "undefined_entity":
                what = f"an entity that XML itself does not define; {_NO_DTD}"
            raise InputError(code, self._name, f"line {error.lineno}: {what}") from error

    def fail(self, code: str, what: str) -> NoReturn:
        """Refuse the document.

        Raises:
            InputError: With the code, the line and the fault.
        """
        raise InputError(code, self._name, f"line {self.parser.CurrentLineNumber}: {what}")

    def _doctype(self, _name: str, _system: object, _public: object, has_subset: int) -> None:
        self._has_subset = bool(has_subset)

    def _end_doctype(self) -> None:
        if self._has_subset:
            self._subset()

    def _subset(self, *_: object) -> None:
        self.fail(
            "internal_subset", "the DOCTYPE contains declarations; only one without them is read"
        )

    def _entity(self, entity: str, *_: object) -> None:
        self.fail(
            "entities_forbidden",
            f"the document declares the entity {entity!r}; leave the declaration out, and write "
            "the entity's text where it is used",
        )

    def _skipped(self, entity: str, *_: object) -> None:
        self.fail("undefined_entity", f"the entity {entity!r} is not defined; {_NO_DTD}")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.fail("xml_too_deep", f"elements nest more than {MAX_DEPTH} deep")
        for key in attributes:
            if key.startswith("xmlns"):
                self._declare(attributes)
                break
        local = self._locals.get(name)
        if local is None:
            local = self._local(name)
        self._handler.start(local, name, attributes, self.parser.CurrentLineNumber)

    def _declare(self, attributes: Mapping[str, str]) -> None:
        declared = {
            key[6:]: value
            for key, value in attributes.items()
            if key == "xmlns" or key.startswith("xmlns:")
        }
        self._scopes.append((self._depth, {**self._scopes[-1][1], **declared}))
        self._locals.clear()

    def _local(self, name: str) -> str:
        prefix, _, local = name.rpartition(":")
        namespace = self._scopes[-1][1].get(prefix)
        if self._core is None:
            self._core = namespace or ""
        self._locals[name] = own = local if namespace == self._core else ""
        if len(self._locals) > _MAX_NAMES:
            self._locals.clear()
        return own

    def _end(self, name: str) -> None:
        local = self._locals.get(name)
        self._handler.end(self._local(name) if local is None else local, name)
        if self._scopes[-1][0] == self._depth:
            self._scopes.pop()
            self._locals.clear()
        self._depth -= 1


def utf8_document(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield a document in UTF-8, in small pieces, with its XML declaration replaced.

    The encoding is that of the byte order mark, or the declared one, or UTF-8; a contradiction
    between the first two is an error. Line numbers do not change.

    Raises:
        InputError: ``empty_file``, ``unsupported_format``, ``unsupported_charset``,
            ``wrong_encoding`` or ``invalid_encoding``.
    """
    source = _pieces(chunks)
    head = b""
    while len(head) < _HEAD_BYTES and (chunk := next(source, None)) is not None:
        head += chunk
    if not head:
        raise InputError("empty_file", name, "has zero bytes; an XML file has at least one element")
    for magic, what in _NO_XML:
        if head.startswith(magic):
            raise InputError("unsupported_format", name, f"this is {what}")
    mark, codec = _sniff(head)
    shown = head[:_HEAD_BYTES].decode(codec or "latin-1", "replace").removeprefix("\ufeff")
    declaration = _DECLARATION.match(shown)
    codec = _codec(declaration[1] if declaration else "", codec, name)
    decoder = _Decoder(codec, len(mark), name)
    text = decoder.decode(head[len(mark) :])
    first = _OWN_DECLARATION
    if declaration:
        first += "\n" * _line_breaks(declaration[0])
        text = text[len(declaration[0]) :]
    yield (first + text).encode()
    for chunk in source:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), _SLICE_BYTES):
            yield chunk[start : start + _SLICE_BYTES]


def _sniff(head: bytes) -> tuple[bytes, str | None]:
    """Return the byte order mark and the encoding that the first bytes show."""
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return mark, codec
    return b"", next((codec for start, codec in _WIDE if head.startswith(start)), None)


def _line_breaks(text: str) -> int:
    return len(re.findall(r"\r\n|\r|\n", text))


def _codec(settings: str, shown: str | None, name: str) -> str:
    declaration = {match[1]: match[2] or match[3] or "" for match in _SETTING.finditer(settings)}
    if settings and (_SETTING.sub("", settings).strip() or "version" not in declaration):
        raise InputError("xml_syntax", name, "line 1: the XML declaration is not well-formed")
    if declaration.get("version", "1.0") != "1.0":
        raise InputError(
            "unsupported_format",
            name,
            f"line 1: XML {declaration['version']}; only XML 1.0 is read",
        )
    declared = declaration.get("encoding")
    try:
        codec = codecs.lookup(declared or shown or "utf-8").name
    except LookupError:
        codec = ""
    if not _CODECS.fullmatch(codec):
        raise InputError(
            "unsupported_charset",
            name,
            f"line 1: the encoding {declared or shown} is not read; convert the file to UTF-8",
        )
    wide = codec.startswith("utf-16")
    if (
        shown is not None and codec not in (shown, shown.removesuffix("-le").removesuffix("-be"))
    ) or (wide and shown is None):
        raise InputError(
            "wrong_encoding",
            name,
            f"line 1: the declaration says {declared}, the first bytes are "
            f"{shown or 'not those of UTF-16 text'}; correct the declaration",
        )
    return shown or codec


class _Decoder:
    """Decodes pieces of a text and tracks their offsets in the file."""

    def __init__(self, codec: str, offset: int, name: str) -> None:
        self._codec = codec
        self._decoder = codecs.getincrementaldecoder(codec)("strict")
        self._offset = offset
        self._name = name

    def decode(self, chunk: bytes, *, final: bool = False) -> str:
        """Decode a piece.

        Raises:
            InputError: ``invalid_encoding`` with the byte's place in the file.
        """
        waiting = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            offset = self._offset - waiting + error.start
            raise InputError(
                "invalid_encoding",
                self._name,
                f"byte {offset} of the text is not {self._codec} ({error.reason})",
            ) from error
        self._offset += len(chunk)
        return text
