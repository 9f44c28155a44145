"""Words as the Moses tokenizer splits them, for scores that can be compared with others' scores.

This is the default behaviour of ``tokenizer.perl`` (Moses, version 1.1 of the script) with two
exceptions: special characters are not escaped, which changes no comparison of words, and its
exceptions for Catalan, Somali and Tetum are left out. Its lists of abbreviations come from
sacremoses, whose own port splits some last words differently (``.csv.``).
"""

import dataclasses
import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from pairweave.transforms.errors import ConfigError

_NUMERIC_ONLY = "#NUMERIC_ONLY#"
_ELIDES_LEFT = frozenset({"fr", "it", "ga", "ca"})
_COLON_IN_WORDS = frozenset({"fi", "sv"})
_BYTE_BLANKS = " \t\n\v\f\r"

Rewrite = tuple[Any, str]


@dataclasses.dataclass(frozen=True)
class MosesWords:
    """The tokenizer of a language; called with a text, it returns the words between blanks.

    Attributes:
        language: ISO 639 code; one without a list of abbreviations gets the English list.

    Raises:
        ConfigError: sacremoses is not installed.
    """

    language: str

    def __post_init__(self) -> None:
        _prefixes(self.language)

    def __call__(self, text: str) -> str:
        """Return the words, separated by single spaces.

        A text that contains only spaces has a word only if some are not ASCII spaces: the script
        prints these unchanged, and readers of its output take them for a word.
        """
        rules = _rules(self.language)
        if rules.blanks.fullmatch(text):
            return _blank_words(text)
        cleaned = rules.junk.sub("", rules.blanks.sub(" ", text)).strip(" ")
        for pattern, new in rules.always:
            cleaned = pattern.sub(new, cleaned)
        if "," in cleaned:
            for pattern, new in rules.commas:
                cleaned = pattern.sub(new, cleaned)
        if "'" in cleaned:
            for pattern, new in rules.apostrophes:
                cleaned = pattern.sub(new, cleaned)
        words = cleaned.split()
        if "." in cleaned:
            words = _part_dots(words, _prefixes(self.language), rules)
        joined = " ".join(words)
        # The script checks the end of the line once more, after everything else.
        return f"{joined[:-2]} . '" if joined.endswith(".'") else joined


@dataclasses.dataclass(frozen=True, slots=True)
class _Rules:
    blanks: Any
    junk: Any
    always: tuple[Rewrite, ...]
    commas: tuple[Rewrite, ...]
    apostrophes: tuple[Rewrite, ...]
    lower: Callable[[str], object]
    letter: Callable[[str], object]


@functools.cache
def _rules(language: str) -> _Rules:
    """Compile the script's substitutions; Perl's classes are Unicode properties."""
    regex = _optional("regex")
    letter, number = r"\p{Alphabetic}", r"\p{N}"
    colon = ":" if language in _COLON_IN_WORDS else ""
    always = [(regex.compile(rf"[^{letter}\p{{Nd}}\s.'`,\-{colon}]"), r" \g<0> ")]
    if colon:
        always.append((regex.compile(r":(?=\Z|\P{Ll})"), " : "))
    always.append((regex.compile(r"\.{2,}"), r" \g<0> "))
    commas = [(rf"([^{number}]),", r"\1 , "), (rf",([^{number}])", r" , \1")]
    commas.append((rf"({number}),\Z", r"\1 ,"))
    return _Rules(
        blanks=regex.compile(r"\p{White_Space}+"),
        junk=regex.compile(r"[\x00-\x1f]"),
        always=tuple(always),
        commas=tuple((regex.compile(old), new) for old, new in commas),
        apostrophes=tuple((regex.compile(old), new) for old, new in _apostrophes(language)),
        lower=regex.compile(r"\p{Lowercase}").match,
        letter=regex.compile(letter).search,
    )


def _apostrophes(language: str) -> list[tuple[str, str]]:
    letter, other = r"(\p{Alphabetic})", r"(\P{Alphabetic})"
    apart = r"\1 ' \2"
    if language == "en":
        lone = r"([^\p{Alphabetic}\p{N}])"
        return [
            (f"{other}'{other}", apart),
            (f"{lone}'{letter}", apart),
            (f"{letter}'{other}", apart),
            (f"{letter}'{letter}", r"\1 '\2"),
            (r"(\p{N})'s", r"\1 's"),
        ]
    if language in _ELIDES_LEFT:
        return [
            (f"{other}'{other}", apart),
            (f"{other}'{letter}", apart),
            (f"{letter}'{other}", apart),
            (f"{letter}'{letter}", r"\1' \2"),
        ]
    return [("'", " ' ")]


def _part_dots(words: list[str], prefixes: Mapping[str, bool], rules: _Rules) -> list[str]:
    """Split the full stop from words that are not abbreviations."""
    parted = []
    for number, word in enumerate(words):
        if word[-1] != "." or not word.strip("."):
            parted.append(word)
            continue
        stem = word[:-1]
        following = words[number + 1] if number + 1 < len(words) else None
        keeps = following is not None and (
            ("." in stem and rules.letter(stem))
            or prefixes.get(stem) is False
            or rules.lower(following)
            or (prefixes.get(stem) is True and following[0] in "0123456789")
        )
        parted += [word] if keeps else [stem, "."]
    return parted


def _blank_words(text: str) -> str:
    shown = (blank if blank in _BYTE_BLANKS else f"&#{ord(blank)};" for blank in text)
    return " ".join("".join(shown).split())


@functools.cache
def _prefixes(language: str) -> dict[str, bool]:
    """Return the abbreviations, and for each whether it counts only before a number."""
    prefixes = {}
    for line in _optional("sacremoses.corpus").NonbreakingPrefixes().words(language):
        stem, mark, _ = line.partition(_NUMERIC_ONLY)
        prefixes[stem.rstrip()] = bool(mark)
    return prefixes


def _optional(name: str) -> Any:  # noqa: ANN401 - a module
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"Moses words need {name.partition('.')[0]}, which is not installed: "
            "pip install 'pairweave[evaluate]', or choose other words with --bleu_words"
        ) from error
