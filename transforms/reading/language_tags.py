"""Select the requested language among those of a file (BCP 47)."""

import functools
from collections.abc import Iterable, Sequence

from pairweave.transforms.errors import InputError

ANY = "und"
"""The tag of an undetermined language."""


def matches(wanted: str, tag: str) -> bool:
    """Tell whether a language is the wanted one or a variety of it (RFC 4647, basic filtering).

    >>> matches("en", "en-GB"), matches("en-GB", "en"), matches("en", "eng")
    (True, False, False)
    """
    wanted, tag = normal(wanted), normal(tag)
    return tag == wanted or tag.startswith(f"{wanted}-")


@functools.lru_cache(maxsize=4096)
def normal(language: str) -> str:
    """Return a tag in the form used for comparison: ``en_US`` becomes ``en-us``."""
    return language.strip().replace("_", "-").lower()


def select(wanted: str, languages: Iterable[str]) -> list[int]:
    """Return the indices of the wanted language: equal tags if there are any, else varieties.

    If there are several, the language is ambiguous, and the caller must refuse it.

    >>> select("en", ["de", "en-US", "en-GB"]), select("en", ["en-US", "en"])
    ([1, 2], [1])
    """
    names = list(languages)
    equal = [place for place, name in enumerate(names) if normal(name) == normal(wanted)]
    return equal or [place for place, name in enumerate(names) if matches(wanted, name)]


def require_languages(languages: Sequence[str], wanted: Sequence[str], name: str) -> None:
    """Refuse a file without the wanted languages, or one with an ambiguous choice.

    Args:
        languages: The file's languages; empty if it states none.
        wanted: The requested language; `ANY` if none is given.
        name: The file's name.

    Raises:
        InputError: ``language_not_found``.
    """
    listed = ", ".join(sorted({language or "(none)" for language in languages}))
    for language in wanted:
        if language == ANY and len(wanted) > 1 and languages:
            raise InputError(
                "language_not_found",
                name,
                f"its texts are in {listed}; give --source_lang and --target_lang",
            )
        if (
            language != ANY
            and languages
            and not any(matches(language, other) for other in languages)
        ):
            raise InputError(
                "language_not_found", name, f"nothing is in {language}; the file has {listed}"
            )
