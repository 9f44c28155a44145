"""Pairs with inline markup as texts that hold their tags as characters."""

import html
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.markup_rows import SIDES, MarkupRow
from pairweave.transforms.markup.markup import Marked, Syntax, find_elements, parse_markup
from pairweave.transforms.markup.pair_markup import SideTag

_CODE = re.compile(r"<(bpt|ept|ph|it|ut)\b[^<>]*>([^<]+)</\1>")


def tagged_texts(row: MarkupRow) -> tuple[str, str]:
    """Return both sides with their tags as they were read, or as they were injected.

    Of a tag that TMX or XLIFF holds as a native code, what it holds is the tag.
    """
    source, target = (
        row.markup.write(side, text, _written) for side, text in zip(SIDES, row.texts, strict=True)
    )
    return source, target


def of_one_language_pair(rows: Iterable[MarkupRow], advice: str) -> Iterator[MarkupRow]:
    """Yield rows as long as they are of the first one's languages.

    Args:
        rows: The pairs.
        advice: Why a format asks for that, and what else to write.

    Raises:
        ConfigError: They are of several.
    """
    langs: tuple[str, str] | None = None
    for row in rows:
        if langs is not None and row.langs != langs:
            raise ConfigError(
                f"pair {row.id} is {' to '.join(row.langs)}, those before {' to '.join(langs)}; "
                f"{advice}"
            )
        langs = row.langs
        yield row


def _written(tag: SideTag) -> str:
    """Return a tag as it stands in a text.

    >>> from pairweave.transforms.markup.markup import Kind
    >>> _written(SideTag(0, Kind.OPEN, 0, '<bpt i="1">&lt;b&gt;</bpt>'))
    '<b>'
    """
    code = _CODE.fullmatch(tag.raw)
    return tag.raw if code is None else html.unescape(code[2])


def misread(row: MarkupRow, syntax: Syntax) -> str | None:
    """Return what would be read otherwise than it is meant, or None.

    A text that holds as characters what the syntax calls a tag cannot be told from one that has
    such a tag; and no tag of another syntax is found again.
    """
    for side, text, written in zip(SIDES, row.texts, tagged_texts(row), strict=True):
        again = parse_markup(written, syntax)
        found = [(tag.offset, tag.kind, tag.raw) for tag in again.tags]
        tags = row.side_tags(side)
        meant = [(tag.offset, tag.kind, _written(tag)) for tag in tags]
        if again.text == text and found == meant and _partners(again) == _own_partners(tags):
            continue
        pairs = itertools.zip_longest(meant, found)
        first = next(((one or other) for one, other in pairs if one != other), None)
        what = f"the tag {first[2][:80]!r}" if first else "a pair of tags"
        return f"{what} in the {side} would be read otherwise as {syntax.name}"
    return None


def _partners(marked: Marked) -> set[tuple[int, ...]]:
    """Return the places of the tags of each element."""
    return {
        tuple(place for place in (element.opening, element.closing) if place is not None)
        for element in find_elements(marked.tags)
    }


def _own_partners(tags: Sequence[SideTag]) -> set[tuple[int, ...]]:
    places: dict[int, list[int]] = {}
    for place, tag in enumerate(tags):
        places.setdefault(tag.element, []).append(place)
    return set(map(tuple, places.values()))
