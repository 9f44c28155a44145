"""Convert pairs with inline markup to texts that contain their tags as characters."""

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
    """Return both sides with their tags as they were read or injected.

    For a native code of TMX or XLIFF, the content of the element is the tag.
    """
    source, target = (
        row.markup.write(side, text, _written) for side, text in zip(SIDES, row.texts, strict=True)
    )
    return source, target


def of_one_language_pair(rows: Iterable[MarkupRow], advice: str) -> Iterator[MarkupRow]:
    """Yield rows after checking that all have the languages of the first.

    Args:
        rows: The pairs.
        advice: End of the message: why the format needs one language pair, and an alternative.

    Raises:
        ConfigError: A row has other languages.
    """
    langs: tuple[str, str] | None = None
    for row in rows:
        if langs is not None and row.langs != langs:
            raise ConfigError(
                f"pair {row.id} is {' to '.join(row.langs)}, earlier pairs are "
                f"{' to '.join(langs)}; {advice}"
            )
        langs = row.langs
        yield row


def _written(tag: SideTag) -> str:
    """Return a tag as written in a text.

    >>> from pairweave.transforms.markup.markup import Kind
    >>> _written(SideTag(0, Kind.OPEN, 0, '<bpt i="1">&lt;b&gt;</bpt>'))
    '<b>'
    """
    code = _CODE.fullmatch(tag.raw)
    return tag.raw if code is None else html.unescape(code[2])


def misread(row: MarkupRow, syntax: Syntax) -> str | None:
    """Return a description of the first tag that would not survive a round trip, or None.

    Characters of a text that look like a tag of the syntax would be read as a tag, and a tag of
    another syntax would not be found.
    """
    for side, text, written in zip(SIDES, row.texts, tagged_texts(row), strict=True):
        again = parse_markup(written, syntax)
        read = [(tag.offset, tag.kind, tag.raw) for tag in again.tags]
        tags = row.side_tags(side)
        meant = [(tag.offset, tag.kind, _written(tag)) for tag in tags]
        if again.text == text and read == meant and _partners(again) == _own_partners(tags):
            continue
        pairs = itertools.zip_longest(meant, read)
        first = next(((one or other) for one, other in pairs if one != other), None)
        what = f"the tag {first[2][:80]!r}" if first else "a pair of tags"
        return f"{what} in the {side} would be read differently as {syntax.name}"
    return None


def _partners(marked: Marked) -> set[tuple[int, ...]]:
    """Return the indices of the tags of each element."""
    return {
        tuple(place for place in (element.opening, element.closing) if place is not None)
        for element in find_elements(marked.tags)
    }


def _own_partners(tags: Sequence[SideTag]) -> set[tuple[int, ...]]:
    places: dict[int, list[int]] = {}
    for place, tag in enumerate(tags):
        places.setdefault(tag.element, []).append(place)
    return set(map(tuple, places.values()))
