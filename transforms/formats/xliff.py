"""XLIFF 1.x and 2.x: each segment is one row.

A segment is a ``trans-unit`` (1.x), or each ``mrk mtype="seg"`` of its ``seg-source`` if its target
is segmented too, or a ``segment`` (2.x). One that only the target has is a row without a source,
which is rejected. One without a target is not a row if it or an enclosing element has
``translate="no"``. Text and tags outside of the segments of a unit (in 2.x, ``ignorable``) are in
no row, but such units are counted. Other content of a segment (``alt-trans``, matches, notes,
skeletons) is ignored.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from pairweave.transforms.export.export_formats import MarkupExport, alone
from pairweave.transforms.export.markup_rows import SIDES, MarkupRow, native_code
from pairweave.transforms.formats.registry import FormatOptions
from pairweave.transforms.markup.markup import Form, Kind, Marked
from pairweave.transforms.markup.pair_markup import SideTag
from pairweave.transforms.markup.segments import Segment, escape_attribute
from pairweave.transforms.problems import Problem
from pairweave.transforms.reading.input_format import InputFormat
from pairweave.transforms.reading.language_tags import ANY, matches, require_languages
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

# XLIFF 1.2, section 2.3.2 (state), and 2.1, section 4.3.1.27; all other states count as done.
_UNTRANSLATED = frozenset({"new", "needs-translation", "initial"})
_DOUBTFUL = frozenset(
    {
        *("needs-adaptation", "needs-l10n", "needs-review-adaptation", "needs-review-l10n"),
        "needs-review-translation",
    }
)
_PARENTS = {"trans-unit", "segment"}
_BETWEEN = "ignorable"
"""The element of XLIFF 2.x that contains the text between two segments."""
_HOLDERS = _PARENTS | {_BETWEEN}
_UNITS = {"trans-unit", "unit"}

_OWN_TAGS = frozenset({"g", "x", "bx", "ex", "bpt", "ept", "ph", "it", "mrk"})
"""Names of XLIFF 1.2's inline elements."""

IDENTIFIED = r"^<[^>]*\s(?:id|rid|mid|startRef|hex)="
"""Matches a tag that identifies its element (RE)."""

_OF_VERSION_2 = re.compile(
    r"<(?:mrk(?![^>]*\smtype=)|"
    r"ph\b[^>]*\s(?:canCopy|canDelete|canReorder|copyOf|dataRef|disp|equiv|subFlows|subType|type)=)"
)
"""Matches a tag of XLIFF 2 whose name XLIFF 1.2 has, too."""

_CODE_POINT = re.compile(r'<[^>]*\shex="0*(?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4}"')
"""Matches a ``cp`` of XLIFF 2 that names a code point."""

_SEGMENT_BYTES = 64
"""Size of a unit's segment in addition to its text."""


class XliffHandler:
    """Turns each segment into a row.

    Attributes:
        version: Version of XLIFF; empty if the document is not XLIFF.
        languages: The (source, target) languages of the file elements, each once, in order.
        rows_with_tags: Number of rows with inline tags.
        untranslatable: Number of segments that are not rows, since they have no target and are not
            to be translated.
        outside_segments: Number of units with text that is in no segment.
        outside_tags: Number of other units with tags that are in no segment.
    """

    def __init__(
        self, source_lang: str, target_lang: str, limits: ReadLimits, take: tuple[str, ...] = ()
    ) -> None:
        """Prepare to read a pair of languages, or any with `ANY`.

        Args:
            source_lang: BCP 47.
            target_lang: BCP 47.
            limits: ``max_line_bytes`` bounds a segment.
            take: The segments to keep, from `transforms.formats.registry.FormatOptions`.
        """
        self._wanted = (source_lang, target_lang)
        self._limits = limits
        self._take = take
        self._rows: list[XmlRow] = []
        self._path: list[str] = []
        self._translate = ["yes"]
        self._langs = ("", "")
        self._parts: dict[str, _Content] = {}
        self._content: _Content | None = None
        self._depth = 0
        self._state = ""
        self._target_lang = ""
        self._line = 0
        self.version = ""
        self.languages: dict[tuple[str, str], int] = {}
        self.rows_with_tags = 0
        self.untranslatable = 0
        self.outside_segments = 0
        self.outside_tags = 0
        self._has_text_outside = False
        self._has_tags_outside = False

    def pop_rows(self) -> list[XmlRow]:
        """Return the complete rows, and forget them."""
        rows, self._rows = self._rows, []
        return rows

    def start(self, local: str, name: str, attributes: Mapping[str, str], line: int) -> None:
        """Take an opening tag."""
        if self._content is not None:
            self._depth += 1
            self._content.start(local, name, attributes)
            return
        parent = self._path[-1] if self._path else ""
        self._path.append(local)
        self._translate.append(attributes.get("translate", self._translate[-1]))
        if local in _HOLDERS:
            self._parts, self._line = {}, line
            self._state, self._target_lang = attributes.get("state", ""), ""
        elif parent in _HOLDERS and local in ("source", "target", "seg-source"):
            self._content = self._parts[local] = _Content(self._limits.max_line_bytes)
            if local == "target":
                self._state = attributes.get("state", self._state)
                if attributes.get("state-qualifier") == "fuzzy-match":
                    self._state = "needs-review-translation"
                self._target_lang = attributes.get("xml:lang", "")
        elif local == "xliff" and not parent:
            self.version = attributes.get("version", "")
            self._langs = (attributes.get("srcLang", ""), attributes.get("trgLang", ""))
        elif local == "file" and not self.version.startswith("2"):
            source = attributes.get("source-language", "")
            self._langs = (source, attributes.get("target-language", ""))

    def end(self, local: str, name: str) -> None:
        """Take a closing tag."""
        if self._content is not None:
            if self._depth:
                self._depth -= 1
                self._content.end(local, name)
                return
            self._content = None
        self._path.pop()
        if local in _PARENTS:
            self._add_rows()
        elif local == _BETWEEN:
            self._look_outside(*self._parts.values())
        if local in _UNITS:
            self.outside_segments += self._has_text_outside
            self.outside_tags += self._has_tags_outside and not self._has_text_outside
            self._has_text_outside = self._has_tags_outside = False
        self._translate.pop()

    def text(self, data: str) -> None:
        """Take text."""
        if self._content is not None:
            self._content.text(data)

    def _add_rows(self) -> None:
        source, target = self._parts.get("source"), self._parts.get("target")
        cut = self._parts.get("seg-source")
        langs = (self._langs[0], self._target_lang or self._langs[1])
        self.languages[langs] = self.languages.get(langs, 0) + 1
        problem = self._language_problem(langs)
        if cut is not None and cut.segments and (target is None or target.segments):
            self._look_outside(cut, target)
            translated = target.segments if target is not None else {}
            for mid, segment in cut.segments.items():
                self._add_row(segment, translated.get(mid), problem)
            for mid, segment in translated.items():
                if mid not in cut.segments:
                    self._add_row(None, segment, problem)
        else:
            self._add_row(_whole(source), _whole(target), problem)
        self._parts = {}

    def _look_outside(self, *sides: "_Content | None") -> None:
        for side in sides:
            if side is not None:
                self._has_text_outside |= side.has_text_outside
                self._has_tags_outside |= side.has_tags_outside

    def _add_row(
        self, source: Segment | None, target: Segment | None, problem: Problem | None
    ) -> None:
        marked, source_long = content(source, "source", self._limits)
        translated, target_long = content(target, "target", self._limits)
        is_empty = translated is None or not (translated.text or translated.tags)
        if is_empty and not target_long and self._translate[-1] == "no":
            self.untranslatable += 1
            return
        long = source_long or target_long
        problem = problem or long
        if problem is None and marked is None:
            problem = Problem(Reject.MISSING_FIELD, f"line {self._line}: there is no source")
        if problem is None and is_empty:
            state = "missing" if translated is None else "empty"
            problem = Problem(Reject.UNTRANSLATED, f"line {self._line}: the target is {state}")
        if problem is None and self.version.startswith("2"):
            problem = self._code_point_problem(marked, translated)
        row = XmlRow(marked, translated, problem or self._state_problem())
        self.rows_with_tags += row.has_tags
        self._rows.append(row)

    def _language_problem(self, langs: tuple[str, str]) -> Problem | None:
        for side, wanted, stated in zip(("source", "target"), self._wanted, langs, strict=True):
            if wanted != ANY and stated and not matches(wanted, stated):
                detail = f"line {self._line}: {side}: {stated}, wanted {wanted}"
                return Problem(Reject.OTHER_LANGUAGE, detail)
        return None

    def _code_point_problem(self, *sides: Marked | None) -> Problem | None:
        for side, marked in zip(("source", "target"), sides, strict=True):
            for tag in marked.tags if marked is not None else ():
                if (
                    tag.name == "cp"
                    and tag.kind is not Kind.CLOSE
                    and not _CODE_POINT.match(tag.raw)
                ):
                    detail = f"line {self._line}: {side}: {tag.raw} names no code point"
                    return Problem(Reject.WRONG_TYPE, f'{detail}; expected such as hex="001A"')
        return None

    def _state_problem(self) -> Problem | None:
        detail = f"line {self._line}: the state is {self._state}"
        if self._state in _UNTRANSLATED and "untranslated" not in self._take:
            return Problem(Reject.UNTRANSLATED, detail)
        if self._state in _DOUBTFUL and "doubtful" not in self._take:
            return Problem(Reject.FUZZY, detail)
        return None

    def guess_languages(self) -> tuple[str, str] | None:
        """Return the source and the target language if the file has one of each."""
        stated = [langs for langs in self.languages if all(langs)]
        return stated[0] if len(stated) == 1 == len(self.languages) else None


class _Content:
    """A ``source``, ``target`` or ``seg-source``: as a whole, and by its ``mrk`` segments.

    Attributes:
        whole: All of it.
        has_text_outside: Whether text other than white space is in none of the segments.
        has_tags_outside: Whether a tag is in none of them.
    """

    def __init__(self, max_bytes: int) -> None:
        self._limit = max_bytes
        self._segments: list[tuple[str, Segment]] = []
        self._open: Segment | None = None
        self._inside = 0
        self.whole = Segment(max_bytes)
        self.has_text_outside = False
        self.has_tags_outside = False

    @property
    def segments(self) -> dict[str, Segment]:
        """Return the segments by number; none if a number is repeated or the text is too long."""
        by_number = {} if self.whole.is_too_long else dict(self._segments)
        return by_number if len(by_number) == len(self._segments) else {}

    def start(self, local: str, name: str, attributes: Mapping[str, str]) -> None:
        if self._open is not None:
            self._inside += 1
            self._open.start(local, name, attributes)
        elif local == "mrk" and attributes.get("mtype") == "seg" and not self.whole.in_code:
            # This ``mrk`` divides the text and is not markup, but the size of all segments is
            # limited.
            self.whole.count(_SEGMENT_BYTES)
            self._open, self._inside = Segment(self._limit), 0
            if not self.whole.is_too_long:
                self._segments.append((attributes.get("mid", ""), self._open))
            return
        else:
            self.has_tags_outside = True
        self.whole.start(local, name, attributes)

    def end(self, local: str, name: str) -> None:
        if self._open is not None:
            if not self._inside:
                self._open = None
                return
            self._inside -= 1
            self._open.end(local, name)
        self.whole.end(local, name)

    def text(self, data: str) -> None:
        self.whole.text(data)
        if self._open is not None:
            self._open.text(data)
        elif not (self.has_text_outside or self.whole.in_code):
            self.has_text_outside = bool(data.strip())


def _whole(part: _Content | None) -> Segment | None:
    return None if part is None else part.whole


def _scan(file: ScanRequest) -> Scan:
    handler = XliffHandler(*file.langs, file.limits)
    scan = scan_xml(file, handler)
    require_document(handler.version, file.name, "an xliff element with a version", "XLIFF")
    guessed = handler.guess_languages() if file.langs == (ANY, ANY) else None
    for side in (0, 1):
        stated = [pair[side] for pair in handler.languages]
        if all(stated):
            require_languages(stated, (file.langs[side],), file.name)
    return dataclasses.replace(
        scan,
        langs=guessed,
        untranslatable=handler.untranslatable,
        outside_segments=handler.outside_segments,
        outside_tags=handler.outside_tags,
    )


def read_xliff(unit: Unit, limits: ReadLimits, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an XLIFF file.

    Raises:
        WorkerError: The file is not what was planned.
    """
    langs = unit.source_lang, unit.target_lang
    handler = XliffHandler(*langs, limits, unit.options(FormatOptions).xliff_take)
    yield from read_xml(unit, limits, batch_rows, handler)


def write_xliff(rows: Iterable[MarkupRow]) -> Iterator[bytes]:
    """Yield a document of XLIFF 1.2, unit by unit.

    Tags of XLIFF are written unchanged. Of other tags, nested pairs are written as ``g``, crossing
    ones as ``bx`` and ``ex``, empty tags as ``x``; original tags are the content of ``bpt``,
    ``ept``, ``ph`` or ``it``. A file element contains consecutive rows of the same languages.

    Args:
        rows: The pairs.

    Raises:
        ConfigError: A text contains characters that XML forbids.
    """
    yield (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
    )
    group: tuple[tuple[str, str], str] | None = None
    for row in rows:
        if group != (row.langs, row.corpus):
            if group is not None:
                yield b"</body>\n</file>\n"
            group = (row.langs, row.corpus)
            yield _opening(*group).encode()
        yield _unit(row).encode()
    if group is None:  # the standard requires a file element
        yield _opening(("und", "und"), "").encode()
    yield b"</body>\n</file>\n</xliff>\n"


def _opening(langs: tuple[str, str], corpus: str) -> str:
    source, target = map(escape_attribute, langs)
    return (
        f'<file original="{escape_attribute(corpus)}" source-language="{source}" '
        f'target-language="{target}" datatype="plaintext">\n<body>\n'
    )


def _is_own(raw: str) -> bool:
    """Return True if a tag is not one of XLIFF 2 with the same name."""
    return _OF_VERSION_2.match(raw) is None


def _unit(row: MarkupRow) -> str:
    native = row.is_native(_OWN_TAGS, IDENTIFIED, _is_own)
    nests = row.nests()

    def written(tag: SideTag) -> str:
        return tag.raw if native else _tag(row, tag, nests=nests)

    source, target = (row.xml(side, written) for side in SIDES)
    return (
        f'<trans-unit id="{row.name}" xml:space="preserve">\n'
        f"<source>{source}</source>\n<target>{target}</target>\n</trans-unit>\n"
    )


def _tag(row: MarkupRow, tag: SideTag, *, nests: bool) -> str:
    number = f'id="{tag.element + 1}"'
    code = native_code(tag)
    is_pair = row.markup.elements[tag.element].form is Form.PAIR
    opens = tag.kind is Kind.OPEN
    if tag.kind is Kind.EMPTY:
        return f"<ph {number}>{code}</ph>" if code else f"<x {number}/>"
    if code and is_pair:
        name = "bpt" if opens else "ept"
        return f"<{name} {number}>{code}</{name}>"
    if code:
        return f'<it {number} pos="{"open" if opens else "close"}">{code}</it>'
    if is_pair and nests:
        return f"<g {number}>" if opens else "</g>"
    return f"<{'bx' if opens else 'ex'} {number}/>"


INPUT = InputFormat(
    "xliff", _scan, read_xliff, (".xlf", ".xliff"), elements=True, inline_tags="strip"
)
EXPORT = MarkupExport("xliff", (".xlf",), lambda rows, _: alone(write_xliff(rows)))
