"""Translation memories (TMX 1.1 to 1.4b): each translation unit is one row, in any languages.

For each side, the variant in the requested language is used, or else the only one in a variety of
it (``en-GB`` for ``en``).
"""

import dataclasses
import importlib.metadata
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from pairweave.transforms.export.export_formats import MarkupExport, alone
from pairweave.transforms.export.markup_rows import SIDES, MarkupRow, native_code
from pairweave.transforms.markup.markup import Form, Kind, Marked
from pairweave.transforms.markup.pair_markup import SideTag
from pairweave.transforms.markup.segments import Segment, escape_attribute, escape_text
from pairweave.transforms.problems import Problem
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.language_tags import ANY, normal, require_languages, select
from pairweave.transforms.reading.scan import Scan, ScanRequest
from pairweave.transforms.reading.xml_rows import (
    XmlRow,
    content,
    read_xml,
    require_document,
    scan_xml,
)
from pairweave.transforms.rejects import Reject
from pairweave.transforms.units import ReadLimits, Unit

_OWN_TAGS = frozenset({"bpt", "ept", "it", "ph", "hi", "ut"})
"""Names of TMX's inline elements."""

MAX_VARIANTS = 256
"""Maximum number of variants of one unit in memory, each up to the limit of a segment."""


class TmxHandler:
    """Turns each ``tu`` into a row.

    Attributes:
        source_lang: Source language in the header; empty if there is none.
        languages: The languages in the file's first spelling, by their normal form.
        rows_with_tags: Number of units with inline tags in any language.
    """

    def __init__(self, source_lang: str, target_lang: str, limits: ReadLimits) -> None:
        """Prepare to read two of a file's languages."""
        self._wanted = (source_lang, target_lang)
        self._limits = limits
        self._rows: list[XmlRow] = []
        self._variants: list[tuple[str, Segment]] = []
        self._language = ""
        self._segment: Segment | None = None
        self._depth = 0  # of open elements inside the segment
        self._in_unit = False
        self._line = 0
        self._held = 0  # bytes of the unit's variants
        self._most = MAX_VARIANTS * limits.max_line_bytes
        self.is_tmx = False
        self.source_lang = ""
        self.languages: dict[str, str] = {}
        self.rows_with_tags = 0

    def pop_rows(self) -> list[XmlRow]:
        """Return the complete rows, and forget them."""
        rows, self._rows = self._rows, []
        return rows

    def start(self, local: str, name: str, attributes: Mapping[str, str], line: int) -> None:
        """Take an opening tag."""
        if self._segment is not None:
            self._depth += 1
            self._segment.start(local, name, attributes)
        elif local == "seg" and self._in_unit:
            self._segment = Segment(self._limits.max_line_bytes)
        elif local == "tuv":
            language = attributes.get("xml:lang", attributes.get("lang", ""))
            self._language = language
        elif local == "tu":
            self._in_unit, self._line, self._variants, self._held = True, line, [], 0
        elif local == "header":
            language = attributes.get("srclang", "")
            self.source_lang = "" if language == "*all*" else language
        elif local == "tmx":
            self.is_tmx = True

    def end(self, local: str, name: str) -> None:
        """Take a closing tag."""
        if self._segment is not None:
            if self._depth:
                self._depth -= 1
                self._segment.end(local, name)
            else:
                self._held += min(self._segment.bytes, self._limits.max_line_bytes) + 64
                if self._held <= self._most:
                    self._variants.append((self._language, self._segment))
                self._segment = None
        elif local == "tu":
            self._in_unit = False
            self._rows.append(self._row())

    def text(self, data: str) -> None:
        """Take text."""
        if self._segment is not None:
            self._segment.text(data)

    def _row(self) -> XmlRow:
        for language, _ in self._variants:
            self.languages.setdefault(normal(language), language.strip().replace("_", "-"))
        sides: list[Marked | None] = []
        problems: list[Problem] = []
        for side, wanted in zip(("source", "target"), self._wanted, strict=True):
            segment, problem = self._variant(side, wanted)
            marked, long = content(segment, side, self._limits)
            sides.append(marked)
            problems += [each for each in (problem, long) if each is not None]
        source, target = sides
        if not problems and target is not None and not (target.text or target.tags):
            problems.append(Problem(Reject.UNTRANSLATED, f"line {self._line}: the target is empty"))
        if self._held > self._most:
            detail = f"line {self._line}: the unit has more than {self._most} bytes"
            problems.insert(0, Problem(Reject.LINE_TOO_LONG, detail))
        self.rows_with_tags += any(segment.has_tags for _, segment in self._variants)
        return XmlRow(source, target, problems[0] if problems else None)

    def _variant(self, side: str, wanted: str) -> tuple[Segment | None, Problem | None]:
        languages = [language for language, _ in self._variants]
        places = select(wanted, languages)
        if len(places) == 1:
            return self._variants[places[0]][1], None
        names = ", ".join(languages) or "none"
        where = f"line {self._line}: {side}: "
        if places:
            many = ", ".join(languages[place] for place in places)
            detail = f"{where}{wanted} could be any of {many}"
            return None, Problem(Reject.AMBIGUOUS_LANGUAGE, detail)
        reason = Reject.UNTRANSLATED if side == "target" else Reject.OTHER_LANGUAGE
        return None, Problem(reason, f"{where}no variant in {wanted}; found {names}")

    def guess_languages(self) -> tuple[str, str] | None:
        """Return the source and the target language if the file has no others."""
        if len(self.languages) != 2 or not self.source_lang:
            return None
        names = list(self.languages.values())
        places = select(self.source_lang, names)
        if len(places) != 1:
            return None
        return names[places[0]], names[1 - places[0]]


def _scan(file: ScanRequest) -> Scan:
    handler = TmxHandler(*file.langs, file.limits)
    scan = scan_xml(file, handler)
    require_document(handler.is_tmx, file.name, "a tmx element", "TMX")
    guessed = handler.guess_languages() if file.langs == (ANY, ANY) else None
    if guessed is None:
        require_languages(list(handler.languages.values()), file.langs, file.name)
    return dataclasses.replace(scan, langs=guessed)


def read_tmx(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a translation memory.

    Raises:
        WorkerError: The file is not what was planned.
    """
    langs = unit.source_lang, unit.target_lang
    yield from read_xml(unit, limits, batch_rows, TmxHandler(*langs, limits))


def write_tmx(rows: Iterable[MarkupRow], source_lang: str) -> Iterator[bytes]:
    """Yield a document, unit by unit.

    Tags of TMX are written unchanged. Among other tags, a pair becomes ``bpt`` and ``ept``, an
    empty tag ``ph``, and half a pair ``it``, each with the original tag as its content; ``x``
    matches the sides. Even crossing pairs can therefore be written, and everything can be read
    back.

    Args:
        rows: The pairs.
        source_lang: Source language of the header; ``*all*`` if the rows differ.

    Raises:
        ConfigError: A text contains characters that XML forbids.
    """
    version = escape_attribute(importlib.metadata.version("pairweave"))
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
        '<tmx version="1.4">\n'
        f'<header creationtool="pairweave" creationtoolversion="{version}" segtype="sentence" '
        'o-tmf="pairweave" adminlang="en" '
        f'srclang="{escape_attribute(source_lang)}" datatype="plaintext"/>\n'
        "<body>\n"
    ).encode()
    for row in rows:
        yield _unit(row).encode()
    yield b"</body>\n</tmx>\n"


def _unit(row: MarkupRow) -> str:
    lines = [f'<tu tuid="{row.name}">']
    lines.append(f'<prop type="x-corpus">{escape_text(row.corpus)}</prop>')
    native = row.is_native(_OWN_TAGS, r"^<(?!\w+[^>]*\s(?:id|rid)=)")

    def written(tag: SideTag) -> str:
        return tag.raw if native else _tag(row, tag)

    for side, lang in zip(SIDES, row.langs, strict=True):
        content = row.xml(side, written)
        lines.append(f'<tuv xml:lang="{escape_attribute(lang)}"><seg>{content}</seg></tuv>')
    return "\n".join([*lines, "</tu>\n"])


def _tag(row: MarkupRow, tag: SideTag) -> str:
    number = tag.element + 1
    code = native_code(tag)
    if tag.kind is Kind.EMPTY:
        name, attributes = "ph", f'x="{number}"'
    elif row.markup.elements[tag.element].form is not Form.PAIR:
        end = "begin" if tag.kind is Kind.OPEN else "end"
        name, attributes = "it", f'pos="{end}" x="{number}"'
    elif tag.kind is Kind.OPEN:
        name, attributes = "bpt", f'i="{number}" x="{number}"'
    else:
        name, attributes = "ept", f'i="{number}"'
    return f"<{name} {attributes}>{code}</{name}>" if code else f"<{name} {attributes}/>"


INPUT = InputFormat("tmx", _scan, read_tmx, (".tmx",), elements=True, inline_tags="strip")
EXPORT = MarkupExport(
    "tmx", (".tmx",), lambda rows, source: alone(write_tmx(rows, source or "*all*"))
)
