"""Pairs with inline markup as XLIFF 1.2 or 2.1."""

from collections.abc import Iterable, Iterator

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats.markup_rows import SIDES, MarkupRow, native_code
from pairweave.transforms.markup.markup import Form, Kind
from pairweave.transforms.markup.pair_markup import SideTag
from pairweave.transforms.markup.segments import escape_attribute
from pairweave.transforms.option_values import require_choice

VERSIONS = ("1.2", "2.1")

_NAMES = frozenset({"g", "x", "bx", "ex", "bpt", "ept", "ph", "it", "mrk"})
_NAMES_2 = frozenset({"pc", "ph", "sc", "ec", "mrk", "sm", "em", "cp"})
_IDENTIFIED = r"^<[^>]*\s(?:id|rid|mid|startRef|hex)="


def write_xliff(rows: Iterable[MarkupRow], version: str = "1.2") -> Iterator[bytes]:
    """Yield a document, unit by unit.

    Tags that are the version's own are written as they were. Of others, pairs that nest are ``g``
    (``pc`` in 2.1), those that cross ``bx`` and ``ex`` (``sc`` and ``ec``), empty tags ``x``
    (``ph``); what stood there in its own format is kept inside ``bpt``, ``ept``, ``ph`` or ``it``
    (in 2.1 as original data). A file element holds adjoining rows of the same languages; XLIFF 2
    has one pair of languages a document.

    Args:
        rows: The pairs.
        version: One of `VERSIONS`.

    Raises:
        ConfigError: A text holds what XML cannot carry, or 2.1 is asked for several pairs of
            languages.
    """
    require_choice("version", version, VERSIONS)
    yield from _write_1(rows) if version == "1.2" else _write_2(rows)


def _write_1(rows: Iterable[MarkupRow]) -> Iterator[bytes]:
    yield (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
    )
    group: tuple[tuple[str, str], str] | None = None
    for row in rows:
        if group != (row.langs, row.corpus):
            source, target = map(escape_attribute, row.langs)
            original = escape_attribute(row.corpus)
            yield (
                ("</body>\n</file>\n" if group is not None else "")
                + f'<file original="{original}" source-language="{source}" '
                f'target-language="{target}" datatype="plaintext">\n<body>\n'
            ).encode()
            group = (row.langs, row.corpus)
        yield _unit_1(row).encode()
    yield (b"</body>\n</file>\n" if group is not None else b"") + b"</xliff>\n"


def _unit_1(row: MarkupRow) -> str:
    native = row.is_native(_NAMES, _IDENTIFIED)
    nests = row.nests()

    def written(tag: SideTag) -> str:
        return tag.raw if native else _tag_1(row, tag, nests=nests)

    source, target = (row.xml(side, written) for side in SIDES)
    return (
        f'<trans-unit id="{row.name}" xml:space="preserve">\n'
        f"<source>{source}</source>\n<target>{target}</target>\n</trans-unit>\n"
    )


def _tag_1(row: MarkupRow, tag: SideTag, *, nests: bool) -> str:
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


def _write_2(rows: Iterable[MarkupRow]) -> Iterator[bytes]:
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
        yield _unit_2(row).encode()
    if langs is None:
        yield head.format("und", "und").encode()
    yield b"</file>\n</xliff>\n"


def _unit_2(row: MarkupRow) -> str:
    native = row.is_native(_NAMES_2, _IDENTIFIED)
    nests = row.nests()
    data: dict[str, str] = {}

    def written(tag: SideTag) -> str:
        return tag.raw if native else _tag_2(row, tag, data, nests=nests)

    source, target = (row.xml(side, written) for side in SIDES)
    lines = [f'<unit id="u{row.name}">']
    if data:
        entries = "".join(f'<data id="{name}">{code}</data>' for code, name in data.items())
        lines.append(f"<originalData>{entries}</originalData>")
    lines.append(f'<segment xml:space="preserve">\n<source>{source}</source>')
    return "\n".join([*lines, f"<target>{target}</target>\n</segment>\n</unit>\n"])


def _tag_2(row: MarkupRow, tag: SideTag, data: dict[str, str], *, nests: bool) -> str:
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
