"""Pairs with inline markup as a message catalogue (GNU gettext's PO)."""

import importlib.metadata
import re
from collections.abc import Iterable, Iterator

from pairweave.transforms.formats.markup_rows import MarkupRow
from pairweave.transforms.formats.markup_texts import of_one_language_pair, tagged_texts

_ESCAPES = dict(zip('\\"\n\t\r\a\b\f\v', (f"\\{letter}" for letter in '\\"ntrabfv'), strict=True))
_ESCAPED = re.compile(r'[\\"\n\t\r\a\b\f\v]')


def write_po(rows: Iterable[MarkupRow]) -> Iterator[bytes]:
    """Yield a catalogue, message by message.

    Texts hold their tags as characters. What tells a row from all others is its context, for a
    catalogue must not hold a message twice.

    Args:
        rows: The pairs, of one pair of languages.

    Raises:
        ConfigError: They are of several.
    """
    langs: tuple[str, str] | None = None
    advice = "a catalogue has one pair of languages: write TMX, XLIFF 1.2 or html"
    for row in of_one_language_pair(rows, advice):
        if langs is None:
            langs = row.langs
            yield _header(*langs)
        yield _message(row)
    if langs is None:
        yield _header("und", "und")


def _header(source_lang: str, target_lang: str) -> bytes:
    version = importlib.metadata.version("pairweave")
    fields = (
        f"Project-Id-Version: pairweave {version}\n",
        f"Language: {target_lang}\n",
        f"X-Source-Language: {source_lang}\n",
        "MIME-Version: 1.0\n",
        "Content-Type: text/plain; charset=UTF-8\n",
        "Content-Transfer-Encoding: 8bit\n",
    )
    return f"{_keyword('msgid', '')}{_keyword('msgstr', ''.join(fields))}".encode()


def _message(row: MarkupRow) -> bytes:
    source, target = tagged_texts(row)
    corpus = " ".join(row.corpus.split())
    return (
        f"\n#. {corpus}\n{_keyword('msgctxt', row.name)}{_keyword('msgid', source)}"
        f"{_keyword('msgstr', target)}"
    ).encode()


def _keyword(name: str, text: str) -> str:
    r"""Return a keyword with its text, in lines as the text has lines.

    >>> print(_keyword("msgid", 'a "b"'), end="")
    msgid "a \"b\""
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    first = [] if len(lines) == 1 else [""]
    return f"{name} " + "\n".join(map(_quoted, [*first, *lines])) + "\n"


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)}"'
