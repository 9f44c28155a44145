"""Pairs with inline markup as Localization XML-MT JSON: a file a side (Hashimoto et al. 2019)."""

from collections.abc import Iterable, Iterator

import orjson

from pairweave.transforms.formats.markup_rows import SIDES, MarkupRow
from pairweave.transforms.formats.markup_texts import of_one_language_pair, tagged_texts


def write_lxm(rows: Iterable[MarkupRow]) -> Iterator[tuple[bytes, bytes]]:
    """Yield both files, text by text; texts hold their tags as characters.

    Args:
        rows: The pairs, of one pair of languages.

    Raises:
        ConfigError: They are of several.
    """
    langs: tuple[str, str] | None = None
    advice = "an LXM file has one language: write TMX, XLIFF 1.2 or html"
    for row in of_one_language_pair(rows, advice):
        head = _heads(row.langs) if langs is None else (b",\n", b",\n")
        langs = row.langs
        name = orjson.dumps(row.name)
        source, target = (
            before + name + b": " + orjson.dumps(text)
            for before, text in zip(head, tagged_texts(row), strict=True)
        )
        yield source, target
    if langs is None:
        yield _heads(("", ""))
    yield b"\n}}\n", b"\n}}\n"


def _heads(langs: tuple[str, str]) -> tuple[bytes, bytes]:
    """Return what comes before the first text of each file; no rows have no language."""
    source, target = (
        b"{"
        + (f'"lang": "{lang}", ' if lang else "").encode()
        + f'"type": "{side}", "text": {{\n'.encode()
        for lang, side in zip(langs, SIDES, strict=True)
    )
    return source, target
