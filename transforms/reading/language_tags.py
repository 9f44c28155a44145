"""Which of a file's languages is the one that was asked for (BCP 47)."""

import functools
from collections.abc import Iterable

ANY = "und"
"""The tag of a language that nobody stated."""


def matches(wanted: str, found: str) -> bool:
    """Tell whether a language is the wanted one or a variety of it (RFC 4647, basic filtering).

    >>> matches("en", "en-GB"), matches("en-GB", "en"), matches("en", "eng")
    (True, False, False)
    """
    wanted, found = normal(wanted), normal(found)
    return found == wanted or found.startswith(f"{wanted}-")


@functools.lru_cache(maxsize=4096)
def normal(language: str) -> str:
    """Return a tag as it is compared: case does not count, and old files write ``en_us``."""
    return language.strip().replace("_", "-").lower()


def select(wanted: str, languages: Iterable[str]) -> list[int]:
    """Return the places of the wanted language: equal tags if there are any, else varieties.

    More than one place is for the caller to refuse: nothing says which is meant.

    >>> select("en", ["de", "en-US", "en-GB"]), select("en", ["en-US", "en"])
    ([1, 2], [1])
    """
    found = list(languages)
    equal = [place for place, name in enumerate(found) if normal(name) == normal(wanted)]
    return equal or [place for place, name in enumerate(found) if matches(wanted, name)]
