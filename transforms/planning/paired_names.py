"""Pairs the files of two sides by their names.

``en/a/b.txt`` and ``fr/a/b.txt``, matched by ``en/**/*.txt`` and ``fr/**/*.txt``, are a pair,
because both have the same name below the pattern's fixed directory. So are ``a/b.en.txt`` and
``a/b.fr.txt``, whose names differ only in the language.
"""

import posixpath
import re
from collections.abc import Sequence

from pairweave.transforms.errors import InputError
from pairweave.transforms.storage.byte_streams import COMPRESSIONS

_GLOB = re.compile(r"[*?[]")


def pair_names(
    sources: Sequence[str], targets: Sequence[str], languages: tuple[str, str]
) -> list[tuple[int | None, int | None]]:
    """Return the pairs of files that belong together, by their places in both lists.

    Files with the same name come first, then files whose names become the same when the last
    mention of its own language is removed from each.

    Args:
        sources: Names of the source files, below the fixed directories of their patterns.
        targets: Names of the target files.
        languages: Source and target language.

    Returns:
        Places of a source and its target, in the order of the sources; then sources without a
        target, and targets without a source, whose place on the other side is None.

    Raises:
        InputError: Two files of a side have the same name (``ambiguous_name``).
    """
    partners: dict[int, int] = {}
    for language in (None, languages):
        keys = [
            _by_key(side, used, None if language is None else language[place])
            for place, (side, used) in enumerate(
                ((sources, set(partners)), (targets, set(partners.values())))
            )
        ]
        partners |= {at: keys[1][key] for key, at in keys[0].items() if key in keys[1]}
    paired: list[tuple[int | None, int | None]] = [(at, partners[at]) for at in sorted(partners)]
    taken = set(partners.values())
    alone = [(at, None) for at in range(len(sources)) if at not in partners]
    return [*paired, *alone, *((None, at) for at in range(len(targets)) if at not in taken)]


def below_pattern(path: str, pattern: str) -> str:
    """Return a path below the fixed directory of the pattern that matches it.

    >>> below_pattern("data/en/a/b.txt", "data/en/**/*.txt"), below_pattern("x/a.txt", "x/a.txt")
    ('a/b.txt', 'a.txt')
    """
    fixed = posixpath.dirname(_GLOB.split(pattern, maxsplit=1)[0] if path != pattern else pattern)
    return path.removeprefix(f"{fixed}/") if fixed else path


def _by_key(names: Sequence[str], used: set[int], language: str | None) -> dict[str, int]:
    """Return the place of each unused file, by the part of its name that its partner shares."""
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        if place in used:
            continue
        key = _key(name, language)
        if key in places:
            raise InputError(
                "ambiguous_name",
                name,
                f"differs from {names[places[key]]} only by its language or compression; documents "
                "of one side need different names",
            )
        places[key] = place
    return places


def _key(name: str, language: str | None) -> str:
    stem, extension = posixpath.splitext(name)
    if extension.lower() in COMPRESSIONS:
        name = stem
    for tag in () if language is None else (language, language.partition("-")[0]):
        spelled = re.escape(tag).replace(r"\-", "[-_]")
        mentions = [*re.finditer(rf"(?<![^\W_]){spelled}(?![^\W_])", name, re.IGNORECASE)]
        if mentions:
            return f"{name[: mentions[-1].start()]}*{name[mentions[-1].end() :]}"
    return name
