"""Finds the languages of a sample of rows, by their scripts and by very frequent words.

No detector is used: the notices of a run must be the same on every machine, regardless of what is
installed.
"""

import collections
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import regex

from pairweave.transforms.filtering.scripts import scripts_of
from pairweave.transforms.findings import Finding
from pairweave.transforms.kernels.text.utf8 import SCRIPT, SCRIPT_SHIFT
from pairweave.transforms.report.exchanged_languages import WORDS
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.iso_languages import UNDETERMINED, primary_tag

MIN_LINES = 20
"""Minimum number of lines with a language for a finding on a side."""

MIN_SHARE = 0.3
"""Minimum share of lines with a language; other lines are lists, titles, menus."""

MAX_SHARE = 0.6
"""Minimum share of these lines in one language for the language of a side."""

JOINED_LINES = (8, 32)
"""Numbers of lines that vote together if too few lines have a language: labels and messages have
few frequent words each."""

MIXED_SHARE = 0.1
"""Minimum share in other languages for a mixed side. A single line may be a quotation, or share its
few frequent words with another language; in most clean corpora, at most 2 lines in 100 do."""

MIN_HITS = 3
"""Minimum number of frequent words that decide the language of a line. There must also be one and a
half times as many of them as of any other language's."""

JAPANESE = "Japanese"
"""The scripts of Japanese together, as ISO 15924 has them (``Jpan``)."""

_SAME = {"nb": "no", "nn": "no", "da": "no", "bs": "hr", "sr": "hr", "ms": "id"}
"""Languages that the frequent words of a line do not distinguish."""

_NO_SINGLE = frozenset({"art", "mis", "mul", "zxx"})
"""Codes of ISO 639-2 for several languages, for invented and other languages, and for none."""

_LIKE_ENGLISH = frozenset({"enm", "pcm", "sco"})
"""Languages with many of the frequent words of English: Middle English, Nigerian Pidgin, Scots."""

_INDEXED = frozenset(_SAME.get(language, language) for language in WORDS)


def _index() -> dict[str, set[str]]:
    """Return the languages in which a word is very frequent, by word."""
    index: dict[str, set[str]] = collections.defaultdict(set)
    for language, words in WORDS.items():
        for word in words:
            index[word].add(_SAME.get(language, language))
    return dict(index)


_INDEX = _index()
_TAG = regex.compile(r"<[^<>]*>")
_WORD = regex.compile(r"\p{L}+")
_SCRIPT, _SCRIPT_SHIFT = int(SCRIPT), int(SCRIPT_SHIFT)
_OF_JAPANESE = [1 + codepoints.SCRIPTS.index(name) for name in ("Han", "Hiragana", "Katakana")]


def language_findings(
    names: tuple[str, str], sample: pa.Table, languages: tuple[str, str]
) -> Iterator[Finding]:
    """Yield findings on the languages of a file.

    Args:
        names: The files of source and target, which may be one.
        sample: A sample of its rows: ``source``, ``target`` and ``line``.
        languages: The languages given for the two sides.
    """
    lines = sample["line"].to_numpy()
    votes = [
        _votes(sample[side].to_pylist(), given)
        for side, given in zip(("source", "target"), languages, strict=True)
    ]
    looks = [
        _language(each) or _language_of_joined(sample[side].to_pylist())
        for each, side in zip(votes, ("source", "target"), strict=True)
    ]
    rows = f"in a sample of {len(lines):,} pairs"
    wrong = [_is_other(look, each) for look, each in zip(looks, languages, strict=True)]
    exchanged = (
        looks[0] is not None
        and looks[1] is not None
        and all(wrong)
        and _fits(looks[0], languages[1])
        and _fits(looks[1], languages[0])
    )
    if exchanged:
        yield Finding(
            "exchanged_languages",
            names[0],
            int(lines[0]),
            int(lines[-1]),
            len(lines),
            f"{rows} the source looks like {looks[0]} and the target like {looks[1]}, but "
            f"{languages[0]} and {languages[1]} are given",
            "exchange the files, or --source_lang and --target_lang",
        )
        return
    for side, name_of_side in enumerate(("source", "target")):
        look = looks[side]
        if wrong[side]:
            option = f"--{name_of_side}_lang {look}" if look in WORDS else "give its language"
            yield Finding(
                "other_language",
                names[side],
                int(lines[0]),
                int(lines[-1]),
                len(lines),
                f"{rows} the {name_of_side} looks like {look}, but {languages[side]} is given",
                option,
            )
            continue
        main = _main_language(votes[side], languages[side])
        other = [
            row
            for row, vote in enumerate(votes[side])
            if vote is not None and main is not None and vote != main
        ]
        voted = sum(vote is not None for vote in votes[side])
        if len(other) >= MIN_LINES and len(other) >= MIXED_SHARE * voted:
            most = collections.Counter(filter(None, votes[side])).most_common(4)
            shown = ", ".join(f"{each} {count / voted:.0%}" for each, count in most)
            yield Finding(
                "mixed_languages",
                names[side],
                int(lines[other[0]]),
                int(lines[other[-1]]),
                len(other),
                f"{rows} the {name_of_side} is in several languages ({shown})",
                "filter --detector cld2 rejects the others",
            )
    same = looks[0] is not None and looks[0] == looks[1]
    differ = _first(languages[0]) != _first(languages[1])
    if same and looks[0] in WORDS and (differ or UNDETERMINED in languages):
        yield Finding(
            "one_language",
            names[0],
            int(lines[0]),
            int(lines[-1]),
            len(lines),
            f"{rows} both sides look like {looks[0]}",
            "give a translation as the target",
        )


def _votes(texts: Sequence[str], given: str) -> list[str | None]:
    """Return the language or the script of each text; None if a text does not show it.

    A short text in Japanese may have no kana. Texts only in Han count as Japanese if a tenth of
    these texts have kana and the side is given as Japanese, or else if half of them have.
    """
    votes = [_vote(text) for text in texts]
    kana, han = votes.count(JAPANESE), votes.count("Han")
    if kana >= (MIXED_SHARE if _first(given) == "ja" else 0.5) * (kana + han):
        return [JAPANESE if vote == "Han" else vote for vote in votes]
    return votes


def _vote(text: str) -> str | None:
    if not text.isascii():  # otherwise all letters are Latin
        points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        scripts = (codepoints.all_properties()[points] & _SCRIPT) >> _SCRIPT_SHIFT
        counts = np.bincount(scripts[scripts > 0], minlength=len(codepoints.SCRIPTS) + 1)
        total = counts.sum()
        if total < MIN_HITS:
            return None
        kana = counts[_OF_JAPANESE[1:]].sum()
        if kana and 2 * counts[_OF_JAPANESE].sum() > total:
            return JAPANESE
        most = int(counts.argmax())
        script = codepoints.SCRIPTS[most - 1]
        if script != "Latin":
            return script if 2 * counts[most] > total else None
    hits: dict[str, int] = {}
    for word in set(_WORD.findall(_TAG.sub(" ", text).lower())):
        for language in _INDEX.get(word, ()):
            hits[language] = hits.get(language, 0) + 1
    ranked = sorted(hits.items(), key=lambda each: (-each[1], each[0]))
    if not ranked or ranked[0][1] < MIN_HITS:
        return None
    if len(ranked) > 1 and 2 * ranked[0][1] < 3 * ranked[1][1]:
        return None
    return ranked[0][0]


def _language(votes: Sequence[str | None]) -> str | None:
    """Return the language or script of most texts; None if they do not show one."""
    look, share = _most_frequent(votes)
    return look if share >= MAX_SHARE else None


def _language_of_joined(texts: Sequence[str]) -> str | None:
    """Return the language of most groups of texts that are judged as one; None if it is unclear.

    Only frequent words decide here: a script shows in each text by itself.
    """
    for lines in JOINED_LINES:
        starts = range(0, len(texts), lines)
        votes = [_vote(" ".join(texts[start : start + lines])) for start in starts]
        look = _language(votes)
        if look is not None:
            return look if look in _INDEXED else None
    return None


def _main_language(votes: Sequence[str | None], given: str) -> str | None:
    """Return the main language or script of a side, from which others are distinguished.

    It is the language of most texts, or else the most frequent one. A language that is not in
    `WORDS` shares its frequent words with several others, so for it the result is None.
    """
    look, share = _most_frequent(votes)
    return look if share >= MAX_SHARE or _first(given) in _INDEXED else None


def _most_frequent(votes: Sequence[str | None]) -> tuple[str | None, float]:
    """Return the most frequent language or script, and its share of the texts that show any.

    If too few texts show one, return None and 0.
    """
    counts = collections.Counter(filter(None, votes))
    total = counts.total()
    if total < MIN_LINES or total < MIN_SHARE * len(votes):
        return None, 0.0
    look, most = min(counts.items(), key=lambda each: (-each[1], each[0]))
    return look, most / total


def _first(tag: str) -> str:
    code = primary_tag(tag)
    return _SAME.get(code, code)


def _fits(look: str, language: str) -> bool:
    """Tell whether a text may be in a language."""
    scripts = scripts_of(language)
    if look == JAPANESE:
        return not scripts or "Hiragana" in scripts
    if look in codepoints.SCRIPTS:
        return not scripts or look in scripts
    first = _first(language)
    if look == "en" and (first in _LIKE_ENGLISH | _NO_SINGLE or "qaa" <= first <= "qtz"):
        return True
    if look == "en" or first in _INDEXED:
        return look == first
    return not scripts or "Latin" in scripts


def _is_other(look: str | None, language: str) -> bool:
    """Tell whether a side is certainly not in its given language."""
    return look is not None and language != UNDETERMINED and not _fits(look, language)
