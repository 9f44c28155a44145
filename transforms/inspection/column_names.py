"""Reads the side or the language of texts from the name of their column or field."""

import regex

from pairweave.transforms.text.iso_languages import SHORT

_SIDES = {
    "source": "source",
    "src": "source",
    "original": "source",
    "target": "target",
    "tgt": "target",
    "trg": "target",
    "translation": "target",
}

_ENGLISH_NAMES = """
ar:arabic bg:bulgarian ca:catalan cs:czech da:danish de:german el:greek en:english es:spanish
et:estonian eu:basque fa:persian fi:finnish fr:french ga:irish gl:galician he:hebrew hi:hindi
hr:croatian hu:hungarian hy:armenian id:indonesian is:icelandic it:italian ja:japanese ka:georgian
ko:korean lt:lithuanian lv:latvian mk:macedonian ms:malay mt:maltese nl:dutch no:norwegian pl:polish
pt:portuguese ro:romanian ru:russian sk:slovak sl:slovenian sq:albanian sr:serbian sv:swedish
sw:swahili ta:tamil th:thai tr:turkish uk:ukrainian ur:urdu vi:vietnamese zh:chinese
"""

_LANGUAGES = {
    name: code for code, name in (entry.split(":") for entry in _ENGLISH_NAMES.split())
} | {name: short for name, short in SHORT.items() if name != "id"}
"""Languages by their codes and English names; a column ``id`` is hardly Indonesian."""

_LOCALE = regex.compile(r"([a-z]{2,3})[-_](?:[A-Z][a-z]{3}[-_])?(?:[A-Z]{2}|[0-9]{3})")
_WORDS = frozenset({"text", "texts", "sentence", "sentences", "segment", "string", "lang", "side"})
"""Words that may accompany the word for the side or the language."""


def side_of(name: str) -> str | None:
    """Return ``source``, ``target`` or the code of a language; None for any other name.

    >>> [side_of(name) for name in ("en", "German", "pt-BR", "src_text", "sentence (de)", "id")]
    ['en', 'de', 'pt', 'source', 'de', None]
    >>> [side_of(name) for name in ("", "A house", "text", "en_de", "no_of_words")]
    [None, None, None, None, None]
    """
    locale = _LOCALE.fullmatch(name.strip())
    if locale is not None:
        return SHORT.get(locale[1])
    words = regex.split(r"[\s_.()\-]+", name.lower())
    parts = [word for word in words if word and word not in _WORDS]
    if len(parts) != 1:
        return None
    return _SIDES.get(parts[0]) or _LANGUAGES.get(parts[0])
