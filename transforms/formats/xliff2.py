"""Pairs with inline markup as XLIFF 2.1; `transforms.formats.xliff` reads it."""

import re
from collections.abc import Iterable, Iterator

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export_formats import MarkupExport, alone
from pairweave.transforms.export.markup_rows import SIDES, MarkupRow, native_code
from pairweave.transforms.formats.xliff import IDENTIFIED
from pairweave.transforms.markup.markup import Form, Kind
from pairweave.transforms.markup.pair_markup import SideTag
from pairweave.transforms.markup.segments import escape_attribute

_CODE = frozenset({"id", "canCopy", "canDelete", "canReorder", "copyOf", "subType", "type"})
_SHOWN = frozenset({"disp", "equiv"})
_NOTE = frozenset({"id", "translate", "type", "ref", "value"})
_ATTRIBUTES = {
    "pc": _CODE | {"canOverlap", "dir", "dispStart", "dispEnd", "equivStart", "equivEnd"},
    "ph": _CODE | _SHOWN,
    "sc": _CODE | _SHOWN | {"canOverlap", "dir", "isolated"},
    "ec": _CODE | _SHOWN | {"canOverlap", "dir", "isolated", "startRef"},
    "mrk": _NOTE,
    "sm": _NOTE,
    "em": frozenset({"startRef"}),
    "cp": frozenset({"hex"}),
}
"""Attributes of each inline element (XLIFF 2.1, section 4.2.3) whose values are complete in a tag.

Those that name original data or subflows (``dataRef``, ``subFlows`` …) are left out: what they name
is only in the document that was read.
"""

_OWN_TAGS = frozenset(_ATTRIBUTES)
_WITHOUT_ID = frozenset({"ec", "em", "cp"})
_TAG = re.compile(r"<(/?)(\w+)")
_VALUE = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')""")
_NAME = re.compile(r"\s([^\s=]+)\s*=")


def write_xliff2(rows: Iterable[MarkupRow]) -> Iterator[bytes]:
    """Yield a document, unit by unit.

    Tags of XLIFF 2 are written unchanged, if they name no original data of another document. Of
    other tags, nested pairs are written as ``pc``, crossing ones as ``sc`` and ``ec``, empty tags
    as ``ph``; original tags are kept as original data. A document has one pair of languages.

    Args:
        rows: The pairs.

    Raises:
        ConfigError: A text contains characters that XML forbids, or the pairs have several
            languages.
    """
    langs: tuple[str, str] | None = None
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<xliff version="2.1" xmlns="urn:oasis:names:tc:xliff:document:2.0" '
        'srcLang="{}" trgLang="{}">\n<file id="f1">\n'
    )
    for row in rows:
        if langs is None:
            langs = row.langs
            yield head.format(*map(escape_attribute, langs)).encode()
        if row.langs != langs:
            raise ConfigError(
                f"pair {row.id} is {' to '.join(row.langs)}, those before {' to '.join(langs)}; "
                "an XLIFF 2 document has one pair of languages: write XLIFF 1.2 or TMX"
            )
        yield _unit(row).encode()
    if langs is None:
        yield head.format("und", "und").encode()
    yield b"</file>\n</xliff>\n"


def _unit(row: MarkupRow) -> str:
    native = row.is_native(_OWN_TAGS, IDENTIFIED, _is_own)
    nests = row.nests()
    data: dict[str, str] = {}

    def written(tag: SideTag) -> str:
        return tag.raw if native else _tag(row, tag, data, nests=nests)

    source, target = (row.xml(side, written) for side in SIDES)
    lines = [f'<unit id="u{row.name}" xml:space="preserve">']
    if data:
        entries = "".join(f'<data id="{name}">{code}</data>' for code, name in data.items())
        lines.append(f"<originalData>{entries}</originalData>")
    lines.append(f"<segment>\n<source>{source}</source>")
    return "\n".join([*lines, f"<target>{target}</target>\n</segment>\n</unit>\n"])


def _is_own(raw: str) -> bool:
    """Return True if a tag is one of XLIFF 2, and not one of XLIFF 1.2 with the same name.

    >>> _is_own('<ph id="1" disp="x = y"/>'), _is_own('<ph id="1">{0}</ph>')
    (True, False)
    >>> _is_own('<ph id="1" dataRef="d1"/>'), _is_own('<mrk mtype="term" mid="1">')
    (False, False)
    """
    match = _TAG.match(raw)
    if match is None or match[2] not in _ATTRIBUTES:
        return False
    if match[1]:
        return True
    name = match[2]
    given = set(_NAME.findall(_VALUE.sub("= ", raw)))
    is_whole = raw.endswith("/>") or name in ("pc", "mrk")
    has_id = "id" in given or name in _WITHOUT_ID
    return is_whole and has_id and all(":" in each or each in _ATTRIBUTES[name] for each in given)


def _tag(row: MarkupRow, tag: SideTag, data: dict[str, str], *, nests: bool) -> str:
    number = tag.element + 1
    code = native_code(tag)

    def reference(attribute: str, code: str) -> str:
        return f' {attribute}="{data.setdefault(code, f"d{len(data) + 1}")}"' if code else ""

    if tag.kind is Kind.EMPTY:
        return f'<ph id="{number}"{reference("dataRef", code)}/>'
    is_pair = row.markup.elements[tag.element].form is Form.PAIR
    opens = tag.kind is Kind.OPEN
    if not is_pair:
        name = "sc" if opens else "ec"
        return f'<{name} id="{number}" isolated="yes"{reference("dataRef", code)}/>'
    if not nests:
        ties = f'sc id="{number}"' if opens else f'ec startRef="{number}"'
        return f"<{ties}{reference('dataRef', code)}/>"
    if not opens:
        return "</pc>"
    closing = _closing_code(row, tag)
    start, end = reference("dataRefStart", code), reference("dataRefEnd", closing)
    return f'<pc id="{number}"{start}{end}>'


def _closing_code(row: MarkupRow, opening: SideTag) -> str:
    for side in SIDES:
        tags = row.side_tags(side)
        if any(tag is opening for tag in tags):
            return next(
                native_code(tag)
                for tag in tags
                if tag.element == opening.element and tag.kind is Kind.CLOSE
            )
    return ""


EXPORT = MarkupExport("xliff2", (".xlf",), lambda rows, _: alone(write_xliff2(rows)))
