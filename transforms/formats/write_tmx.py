"""Pairs with inline markup as a translation memory (TMX 1.4b)."""

import importlib.metadata
from collections.abc import Iterable, Iterator

from pairweave.transforms.formats.markup_rows import SIDES, MarkupRow, native_code
from pairweave.transforms.markup.markup import Form, Kind
from pairweave.transforms.markup.pair_markup import SideTag
from pairweave.transforms.markup.segments import escape_attribute, escape_text

_NAMES = frozenset({"bpt", "ept", "it", "ph", "hi", "ut"})


def write_tmx(rows: Iterable[MarkupRow], source_lang: str) -> Iterator[bytes]:
    """Yield a document, unit by unit.

    Tags that are TMX's own are written as they were. Of others, a pair is ``bpt`` and ``ept``, an
    empty tag ``ph``, half a pair ``it``, around what stood there in its own format; ``x`` ties the
    sides together. So crossing pairs can be written, and everything can be read again.

    Args:
        rows: The pairs.
        source_lang: What the header says; ``*all*`` if the rows differ.

    Raises:
        ConfigError: A text holds what XML cannot carry.
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
    native = row.is_native(_NAMES, r"^<(?!\w+[^>]*\s(?:id|rid)=)")

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
