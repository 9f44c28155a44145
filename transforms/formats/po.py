r"""Message catalogues of GNU gettext (PO), read from bytes.

Each message is one row, a message with plural forms two: (msgid, msgstr[0]) and (msgid_plural,
the last msgstr[n]). The header is not a row. Escapes are resolved as in gettext; text that
gettext would refuse makes the whole file invalid.
"""

import dataclasses
import gettext
import importlib.metadata
import re
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.export.export_formats import MarkupExport, alone
from pairweave.transforms.export.markup_rows import MarkupRow
from pairweave.transforms.export.markup_texts import of_one_language_pair, tagged_texts
from pairweave.transforms.formats.registry import FormatOptions
from pairweave.transforms.reading.column_lines import Lines, line_blocks
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.rows import Problem, RowMaker, in_batches, read_text, too_long
from pairweave.transforms.reading.scan import Digests, Scan, ScanRequest
from pairweave.transforms.reading.scan_lines import LineCounter
from pairweave.transforms.rejects import Reject
from pairweave.transforms.storage.byte_streams import part_text
from pairweave.transforms.units import ReadLimits, Unit

_BLANK = b" \t\r\f\v"
_KEYWORD = re.compile(rb"(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)(?=[ \t\"]|$)")
_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"[ \t\r\f\v]*')
_ESCAPE = re.compile(rb"\\(?:([abfnrtv\\\"])|([0-7]{1,3})|x([0-9A-Fa-f]+)|(.?))", re.DOTALL)
_SIMPLE = dict(zip(b'abfnrtv\\"', b'\a\b\f\n\r\t\v\\"', strict=True))
_CHARSET = re.compile(rb"charset=([^\s;\\]+)", re.IGNORECASE)
# ASCII is a subset of UTF-8; CHARSET is the placeholder in templates.
_UTF8_NAMES = frozenset({"utf-8", "utf8", "us-ascii", "ascii", "charset"})

_LETTERS = dict(zip('\\"\n\t\r\a\b\f\v', (f"\\{letter}" for letter in '\\"ntrabfv'), strict=True))
_PLURAL = re.compile(rb"^Plural-Forms:.*?\bplural=([^;\n]+)", re.MULTILINE)
_ESCAPED = re.compile(r'[\\"\n\t\r\a\b\f\v]')

_Row = tuple[int, str | None, str | None, Problem | None]
"""A row's line, its source and target, and the reason to reject it."""


@dataclasses.dataclass(slots=True)
class Text:
    """The value of one keyword.

    Attributes:
        line: Line of the keyword, from 1.
        data: The bytes between the quotes, escapes resolved.
        problem: The problem of the bytes, if a line is not valid text.
        length: Number of bytes, including those dropped over the limit.
    """

    line: int
    data: bytearray = dataclasses.field(default_factory=bytearray)
    problem: Problem | None = None
    length: int = 0


_MANY = 100
"""The number for which a plural is taken. In most languages no smaller number has other forms."""


@dataclasses.dataclass(slots=True)
class Message:
    """One message as written in the file.

    Attributes:
        forms: Indices of the targets for one and for many.
    """

    fuzzy: bool = False
    obsolete: bool = False
    context: Text | None = None
    source: Text | None = None
    plural: Text | None = None
    targets: list[Text] = dataclasses.field(default_factory=list)
    forms: tuple[int, int] = (0, -1)

    def is_header(self) -> bool:
        """Tell whether this is the catalogue's header, which has an empty msgid."""
        empty = self.source is not None and not self.source.length
        return empty and self.context is None and not self.obsolete

    def pairs(self) -> list[tuple[Text, Text]]:
        """Return the (source, target) pairs of the message."""
        assert self.source is not None
        if self.plural is None:
            return [(self.source, self.targets[0])]
        one, many = self.forms if max(self.forms) < len(self.targets) else (0, -1)
        return [(self.source, self.targets[one]), (self.plural, self.targets[many])]


class _Parser:
    """Parses a catalogue line by line."""

    def __init__(self, name: str, max_line_bytes: int) -> None:
        self._name = name
        self._limit = max_line_bytes
        self._message = Message()
        self._text: Text | None = None
        self._side = ""
        self._number = 0

    def line(self, lines: Lines, index: int) -> Message | None:
        """Parse a line; return the message before it if this line ends that message."""
        self._number += 1
        raw = lines.line(index)
        body = raw.strip(_BLANK)
        if not body:
            return None
        done = None
        obsolete = False
        if body.startswith(b"#"):
            obsolete = body.startswith(b"#~") and not body.startswith(b"#~|")
            if not obsolete:
                done = self._end()
                if body.startswith(b"#,"):
                    self._message.fuzzy |= b"fuzzy" in re.split(rb"[\s,]+", body[2:])
                return done
            body = body[2:].strip(_BLANK)
            if not body or body.startswith(b"#"):
                return self._end()
        offset = lines.offset + int(lines.starts[index])
        if keyword := _KEYWORD.match(body):
            if keyword[1] in (b"msgctxt", b"msgid"):
                done = self._begin(keyword[1])
            self._keyword(keyword[1])
            body = body[keyword.end() :].lstrip(_BLANK)
        elif not body.startswith(b'"') or self._text is None:
            raise self._syntax("a comment, a keyword or a string that continues one", body)
        self._message.obsolete |= obsolete
        if index in lines.long:
            assert self._text is not None
            self._count(self._text, lines.long[index].length, raw)
        else:
            self._strings(body, raw, offset)
        return done

    def end(self) -> Message | None:
        """Return the last message."""
        done = self._end()
        if self._message.context or self._message.source:
            self._number += 1
            raise self._syntax("msgstr", b"")
        return done

    def _syntax(self, expected: str, actual: bytes) -> InputError:
        what = repr(actual[:40].decode(errors="backslashreplace")) if actual else "the end"
        return InputError(
            "po_syntax", self._name, f"line {self._number}: expected {expected}, found {what}"
        )

    def _begin(self, keyword: bytes) -> Message | None:
        done = self._end()
        message = self._message
        if message.source is not None or (message.context is not None and keyword == b"msgctxt"):
            raise self._syntax("msgstr" if message.source else "msgid", keyword)
        return done

    def _end(self) -> Message | None:
        """Return the message if it is complete, and start the next one."""
        if not self._message.targets:
            return None
        message, self._message, self._text = self._message, Message(), None
        return message

    def _keyword(self, keyword: bytes) -> None:
        message = self._message
        self._text = text = Text(self._number)
        if keyword == b"msgctxt":
            message.context, self._side = text, "context"
        elif keyword == b"msgid":
            message.source, self._side = text, "source"
        elif keyword == b"msgid_plural":
            if message.source is None or message.plural is not None or message.targets:
                raise self._syntax("msgid or msgstr", keyword)
            message.plural, self._side = text, "source"
        else:
            self._check_target(keyword)
            message.targets.append(text)
            self._side = "target"

    def _check_target(self, keyword: bytes) -> None:
        message = self._message
        if message.source is None:
            raise self._syntax("msgid", keyword)
        if message.plural is not None:
            expected = f"msgstr[{len(message.targets)}]"
        else:
            expected = "msgid" if message.targets else "msgstr"
        if keyword != expected.encode():
            raise self._syntax(expected, keyword)

    def _strings(self, body: bytes, raw: bytes, offset: int) -> None:
        position = 0
        while not position or position < len(body):
            string = _STRING.match(body, position)
            if string is None:
                raise self._syntax("a string in double quotes", body[position:])
            self._append(string[1], raw, offset)
            position = string.end()

    def _append(self, escaped: bytes, raw: bytes, offset: int) -> None:
        text = self._text
        assert text is not None
        if text.problem is None:
            # Checked before escapes can join bytes of two lines, while the offset is known.
            checked = read_text(raw, self._side, file_offset=offset, multiline=True)
            text.problem = checked if isinstance(checked, Problem) else None
        data = _ESCAPE.sub(self._unescape, escaped) if b"\\" in escaped else escaped
        self._count(text, len(data), raw)
        if text.length <= self._limit:
            text.data += data

    def _unescape(self, escape: re.Match[bytes]) -> bytes:
        simple, octal, digits, _ = escape.groups()
        if simple:
            return bytes([_SIMPLE[simple[0]]])
        code = int(octal, 8) if octal else int(digits, 16) if digits else 256
        if code > 255:
            raise self._syntax(r"an escape such as \n, \" or \\", escape[0])
        return bytes([code])

    def _count(self, text: Text, length: int, raw: bytes) -> None:
        """Count bytes of a text; those over the limit are counted, but not kept."""
        text.length += length
        if text.length > self._limit:
            head = text.problem.raw if text.problem is not None and text.problem.raw else raw
            text.problem = too_long(self._side, text.length, self._limit, head)
            text.data.clear()


def parse_po(blocks: Iterable[Lines], name: str, max_line_bytes: int) -> Iterator[Message]:
    """Yield the messages of a catalogue, without the header.

    Args:
        blocks: Its lines.
        name: The file's name, for messages.
        max_line_bytes: Maximum length of a line, and of a text of a message.

    Raises:
        InputError: ``po_syntax`` with the line and the expected syntax, or ``unsupported_charset``.
    """
    parser = _Parser(name, max_line_bytes)
    forms = None
    for message in _messages(parser, blocks):
        if forms is None and message.is_header():
            _check_charset(message, name)
            forms = _forms(bytes(message.targets[0].data))
        else:
            message.forms = forms or message.forms
            yield message


def _messages(parser: _Parser, blocks: Iterable[Lines]) -> Iterator[Message]:
    for lines in blocks:
        for index in range(len(lines)):
            if message := parser.line(lines, index):
                yield message
    if message := parser.end():
        yield message


def _forms(header: bytes) -> tuple[int, int]:
    """Return the indices of the forms for one and for many that a header gives.

    Without a rule, they are the first and the last.

    >>> _forms(b"Plural-Forms: nplurals=2; plural=(n != 1);")
    (0, 1)
    """
    rule = _PLURAL.search(header)
    try:
        plural = gettext.c2py(rule[1].decode("ascii")) if rule else None
        forms = (plural(1), plural(_MANY)) if plural else (0, -1)
    except (ValueError, ArithmeticError):  # no rule in the syntax of C, or one for other numbers
        return 0, -1
    return forms if min(forms) >= 0 else (0, -1)


def _check_charset(header: Message, name: str) -> None:
    match = _CHARSET.search(bytes(header.targets[0].data))
    charset = match[1].decode(errors="backslashreplace") if match else "utf-8"
    if charset.lower() not in _UTF8_NAMES:
        raise InputError(
            "unsupported_charset",
            name,
            f"the header says charset={charset}, only UTF-8 is read; "
            "convert the file with msgconv --to-code=UTF-8",
        )


def _scan(file: ScanRequest) -> Scan:
    digests, counter = Digests(), LineCounter()
    limit = file.limits.max_line_bytes
    blocks = line_blocks(counter.pass_on(digests.plain_text_of(file)), limit)
    rows = sum(len(message.pairs()) for message in parse_po(blocks, file.name, limit))
    return counter.scan(digests, rows)


def read_po(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a catalogue, in ROWS batches; ``line`` is the line of the msgid.

    Raises:
        WorkerError: The file is not what was planned.
    """
    part = unit.parts[0]
    maker = RowMaker(unit)
    take = unit.options(FormatOptions).po_take
    blocks = line_blocks(part_text(part, limits), limits.max_line_bytes)
    every = (
        row
        for message in parse_po(blocks, part.name, limits.max_line_bytes)
        for row in _message_rows(message, take)
    )
    try:
        for rows in in_batches(every, _characters, batch_rows):
            yield _batch(maker, rows)
    except InputError as error:
        raise WorkerError(f"{error}; it could be read when the plan was made") from error


def _characters(row: _Row) -> int:
    return len(row[1] or "") + len(row[2] or "")


def _batch(maker: RowMaker, rows: list[_Row]) -> pa.RecordBatch:
    lines, sources, targets, problems = zip(*rows, strict=True)
    return maker.batch(
        np.array(lines, dtype=np.int64),
        {"source": pa.array(sources, pa.string()), "target": pa.array(targets, pa.string())},
        {row: problem for row, problem in enumerate(problems) if problem is not None},
    )


def _message_rows(message: Message, take: tuple[str, ...]) -> Iterator[_Row]:
    state: Problem | None = None
    if message.obsolete and "obsolete" not in take:
        state = Problem(Reject.OBSOLETE, "the message is no longer in the program")
    elif message.fuzzy and "fuzzy" not in take:
        state = Problem(Reject.FUZZY, "the translation is marked as doubtful")
    for source, target in message.pairs():
        source_text, source_problem = _value(source, "source")
        target_text, target_problem = _value(target, "target")
        problem = source_problem or target_problem or state
        if problem is None and not target.length:
            problem = Problem(Reject.UNTRANSLATED, "msgstr is empty")
        yield source.line, source_text, target_text, problem


def _value(text: Text, side: str) -> tuple[str | None, Problem | None]:
    if text.problem is not None:
        return None, text.problem
    value = read_text(bytes(text.data), side, multiline=True)
    if isinstance(value, Problem):
        return None, value
    return value, None


def write_po(rows: Iterable[MarkupRow]) -> Iterator[bytes]:
    """Yield a catalogue, message by message.

    Texts have their tags as characters. The context of a message identifies its row, since a
    catalogue must not contain a message twice.

    Args:
        rows: The pairs, of one pair of languages.

    Raises:
        ConfigError: They have several pairs of languages.
    """
    langs: tuple[str, str] | None = None
    advice = "a catalogue has one pair of languages: write TMX, XLIFF 1.2 or html"
    for row in of_one_language_pair(rows, advice):
        if langs is None:
            langs = row.langs
            yield _written_header(*langs)
        yield _written(row)
    if langs is None:
        yield _written_header("und", "und")


def _written_header(source_lang: str, target_lang: str) -> bytes:
    version = importlib.metadata.version("pairweave")
    fields = (
        f"Project-Id-Version: pairweave {version}\n",
        f"Language: {target_lang}\n",
        f"X-Source-Language: {source_lang}\n",
        "MIME-Version: 1.0\n",
        "Content-Type: text/plain; charset=UTF-8\n",
        "Content-Transfer-Encoding: 8bit\n",
    )
    return f"{_written_keyword('msgid', '')}{_written_keyword('msgstr', ''.join(fields))}".encode()


def _written(row: MarkupRow) -> bytes:
    source, target = tagged_texts(row)
    corpus = " ".join(row.corpus.split())
    return (
        f"\n#. {corpus}\n{_written_keyword('msgctxt', row.name)}{_written_keyword('msgid', source)}"
        f"{_written_keyword('msgstr', target)}"
    ).encode()


def _written_keyword(name: str, text: str) -> str:
    r"""Return a keyword with its text, a string for each line of the text.

    >>> print(_written_keyword("msgid", 'a "b"'), end="")
    msgid "a \"b\""
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    first = [] if len(lines) == 1 else [""]
    return f"{name} " + "\n".join(map(_quoted, [*first, *lines])) + "\n"


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(lambda match: _LETTERS[match[0]], text)}"'


INPUT = InputFormat("po", _scan, read_po, (".po",), inline_syntax="html", source_lang="en")
EXPORT = MarkupExport("po", (".po",), lambda rows, _: alone(write_po(rows)), "html")
