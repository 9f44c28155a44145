"""Brings words into the form in which they are compared: folded, and stemmed if possible."""

import functools
import importlib
import importlib.metadata
import unicodedata
from collections.abc import Callable

from pairweave.transforms.text.iso_languages import primary_tag

# Snowball's algorithm of each language (ISO 639-1; Norwegian has three tags).
_ALGORITHMS = {
    "ar": "arabic",
    "hy": "armenian",
    "eu": "basque",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "nl": "dutch",
    "en": "english",
    "eo": "esperanto",
    "et": "estonian",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "el": "greek",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "ga": "irish",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "no": "norwegian",
    "nb": "norwegian",
    "nn": "norwegian",
    "fa": "persian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "es": "spanish",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}

_DOTLESS = frozenset({"tr", "az"})


def fold_word(word: str) -> str:
    """Return a word without case and compatibility forms.

    >>> fold_word("Straße"), fold_word("İstanbul")
    ('strasse', 'istanbul')
    """
    folded = unicodedata.normalize("NFKC", word).casefold().replace("i\u0307", "i")
    return unicodedata.normalize("NFKC", folded)


def _fold_dotless(word: str) -> str:
    return fold_word(
        unicodedata.normalize("NFKC", word).replace("I", "\N{LATIN SMALL LETTER DOTLESS I}")
    )


def has_stemmer(language: str | None) -> bool:
    """Tell whether there is a stemmer for a language.

    >>> has_stemmer("de-AT"), has_stemmer("und")
    (True, False)
    """
    return primary_tag(language) in _ALGORITHMS


def stemmer_name() -> str:
    """Return the stemmers' package and version, on which matches depend."""
    return f"snowballstemmer-{importlib.metadata.version('snowballstemmer')}"


@functools.lru_cache(maxsize=16)
def word_key(language: str | None, *, stem: bool) -> Callable[[str], str]:
    r"""Return the function that returns a word's form for comparison.

    With ``stem``, words of a language that has a stemmer (Snowball; Porter 2001) are cut to their
    stems. In other languages, and without ``stem``, words are only folded. In Turkish and
    Azerbaijani, the small letter of I has no dot.

    >>> key = word_key("en", stem=True)
    >>> key("Witches") == key("witch")
    True
    >>> word_key("tr", stem=False)("IRAK") == "\N{LATIN SMALL LETTER DOTLESS I}rak"
    True
    """
    fold = _fold_dotless if primary_tag(language) in _DOTLESS else fold_word
    if not (stem and has_stemmer(language)):
        return functools.lru_cache(maxsize=1 << 18)(fold)
    name = _ALGORITHMS[primary_tag(language)]
    # Not `snowballstemmer.stemmer`, which uses another package's stemmers if that is installed.
    module = importlib.import_module(f"snowballstemmer.{name}_stemmer")
    stemmer = getattr(module, f"{name.capitalize()}Stemmer")()

    def key(word: str) -> str:
        return str(stemmer.stemWord(fold(word)))

    return functools.lru_cache(maxsize=1 << 18)(key)
