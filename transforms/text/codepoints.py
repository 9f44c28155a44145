"""The properties of all code points, from the Unicode tables of the `regex` module."""

import functools
import unicodedata
from collections.abc import Iterable, Iterator

import numpy as np
import regex

from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text.words import fold_character

SCRIPTS = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Syriac", "Thaana"),
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada"),
    *("Malayalam", "Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Georgian", "Hangul"),
    *("Ethiopic", "Cherokee", "Canadian_Aboriginal", "Khmer", "Mongolian", "Hiragana"),
    *("Katakana", "Han", "Yi", "Tifinagh", "Nko", "Ol_Chiki", "Meetei_Mayek"),
)
"""Scripts by their Unicode names; a script's number is its position, from 1."""

RANGES = ((0, 0x40000), (0xE0000, 0xE1000))
"""All other code points are private or not assigned. Searching only these ranges takes a quarter of
the time."""

SCRIPT_RANGES = ((0, 0x33480),)
"""All code points of `SCRIPTS`: ideographs end here."""

_UNSPACED = ("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Hiragana", "Katakana", "Han", "Yi")

# Later lines win. NARROW NO-BREAK SPACE is a connector in UAX #29, but French uses it before
# punctuation, so here it counts as a space.
_CLASSES = (
    (r"\p{WB=Newline}\r\n", utf8.NEWLINE),
    (r"\p{WB=Extend}", utf8.EXTEND),
    (r"\p{WB=ZWJ}", utf8.ZWJ),
    (r"\p{WB=Format}", utf8.FORMAT),
    (r"\p{WB=RI}", utf8.REGIONAL),
    (r"\p{WB=Hebrew_Letter}", utf8.HEBREW),
    (r"\p{WB=ALetter}", utf8.LETTER),
    (r"\p{WB=Numeric}", utf8.NUMERIC),
    (r"\p{WB=ExtendNumLet}", utf8.CONNECTOR),
    (r"\p{WB=Single_Quote}", utf8.SINGLE_QUOTE),
    (r"\p{WB=Double_Quote}", utf8.DOUBLE_QUOTE),
    (r"\p{WB=MidNumLet}", utf8.MID_NUM_LET),
    (r"\p{WB=MidLetter}", utf8.MID_LETTER),
    (r"\p{WB=MidNum}", utf8.MID_NUM),
    (r":", utf8.COLON),
    (r"[\p{White_Space}--[\p{WB=Newline}\r\n]]", utf8.SPACE),
)

# Numbers that are not decimal digits, without those that mark list items, such as circled ones.
# Numbers that are letters in UAX #29, such as Roman numerals, join digits already.
_WHOLE_WORD_CLASSES = (
    (r"\p{WB=Katakana}", utf8.KATAKANA),
    (
        r"[\p{No}\p{Nl}]--[\p{WB=Numeric}\p{WB=ALetter}\p{Block=Enclosed_Alphanumerics}"
        r"\p{Block=Dingbats}\p{Block=Enclosed_CJK_Letters_And_Months}"
        r"\p{Block=Enclosed_Alphanumeric_Supplement}]",
        utf8.NUMERAL,
    ),
    (
        r"\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089\u207a\u207b\u208a\u208b",
        utf8.RAISED,
    ),
)

_FLAGS = (
    (r"\p{Extended_Pictographic}", utf8.PICTOGRAPH),
    (r"\p{L}\p{N}", utf8.WORD),
    (
        r"[[\p{P}\p{S}]--[\p{Extended_Pictographic}\p{WB=RI}\p{WB=Extend}"
        r"\p{WB=ALetter}\p{WB=Numeric}\p{WB=ExtendNumLet}]]",
        utf8.RUN,
    ),
    (r"\p{GCB=Prepend}", utf8.PREPEND),
    (r"\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}\p{GCB=SpacingMark}", utf8.MARK),
    (r"\p{White_Space}", utf8.WHITE),
    # U+FFF9 to U+FFFB delimit annotations.
    (r"\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB", utf8.BLANK),
    (r"\p{InCB=Consonant}", utf8.CONSONANT),
    (r"\p{InCB=Linker}", utf8.LINKER),
    (r"\p{InCB=Extend}", utf8.CONJUNCT),
    (r"\p{GCB=Control}\p{GCB=CR}\p{GCB=LF}", utf8.CONTROL),
)

_UPPER_FLAGS = (
    (r"\p{Alphabetic}\p{M}", utf8.ALPHABETIC),
    (r"\p{M}", utf8.COMBINING),
    (r"\p{Nd}", utf8.DIGIT),
    (r"\p{Lu}\p{Lt}", utf8.CAPITAL),
    (r"\p{Pe}\p{Pf}\p{Pi}\"'", utf8.CLOSING),
)


_FOLDED = r"[\p{L}\p{M}\p{N}\p{P}\p{S}]--[\p{Unified_Ideograph}\uAC00-\uD7A3]"
"""Characters that may have another form; ideographs and Hangul, above all, have none."""


@functools.cache
def folds() -> np.ndarray:
    """Return the form of every code point by which texts are compared character by character.

    Returns:
        uint32 ``[1114112]``, read-only: as by `transforms.kernels.text.words.fold_character`, with
        letters and their accents composed. A code point that would become several stays itself.
    """
    table = np.arange(utf8.CODE_POINTS, dtype=np.uint32)
    for run in code_point_runs(_FOLDED):
        for point in range(*run):
            folded = unicodedata.normalize("NFC", fold_character(chr(point)))
            if len(folded) == 1:
                table[point] = ord(folded)
    table.flags.writeable = False
    return table


@functools.cache
def properties(*, whole_words: bool = False) -> np.ndarray:
    """Return the class and flags of every code point (`transforms.kernels.text.utf8`).

    Args:
        whole_words: Give Katakana its class, so that a run of it is one word as in UAX #29, and
            parts of numbers their class. Otherwise each of these characters is a token, as aligners
            need.

    Returns:
        uint16 ``[1114112]``, read-only: the lower half of `all_properties`. This is enough for
        tokens, and makes cutting them up to 8 % faster.
    """
    table = np.zeros(utf8.CODE_POINTS, dtype=np.uint16)
    classes = (*_CLASSES, *_WHOLE_WORD_CLASSES) if whole_words else _CLASSES
    set_members(table, classes)
    add_flags(table, _FLAGS)
    table.flags.writeable = False
    return table


@functools.cache
def all_properties() -> np.ndarray:
    """Return the class, the flags and the script of every code point, for the rules of ``filter``.

    Returns:
        uint32 ``[1114112]``, read-only; its lower half is `properties`.
    """
    table = properties().astype(np.uint32)
    add_flags(table, _UPPER_FLAGS)
    letters = (table & utf8.ALPHABETIC) != 0
    for number, script in enumerate(SCRIPTS, 1):
        entry = number << utf8.SCRIPT_SHIFT | (utf8.UNSPACED if script in _UNSPACED else 0)
        for start, end in code_point_runs(rf"\p{{Script={script}}}", SCRIPT_RANGES):
            # A script's marks are alphabetical, but its digits and signs are not text in it.
            table[start:end][letters[start:end]] |= entry
    table.flags.writeable = False
    return table


def set_members(table: np.ndarray, values: Iterable[tuple[str, int]]) -> None:
    """Set the values of the members of sets; where sets have members in common, later ones win.

    Args:
        table: A number for each code point.
        values: Sets, as for `code_point_runs`, each with the value of its members.
    """
    for members, value in values:
        for start, end in code_point_runs(members):
            table[start:end] = value


def add_flags(table: np.ndarray, flags: Iterable[tuple[str, int]]) -> None:
    """Add flags to the members of sets; the arguments are as for `set_members`."""
    for members, flag in flags:
        for start, end in code_point_runs(members):
            table[start:end] |= flag


def code_point_runs(
    members: str, ranges: tuple[tuple[int, int], ...] = RANGES
) -> Iterator[tuple[int, int]]:
    """Yield where each run of members of a set begins and ends, exclusive.

    Args:
        members: The inside of a character class of `regex`.
        ranges: Where to look: begins and ends, exclusive.
    """
    pattern = regex.compile(rf"[{members}]+", regex.V1)
    for begin, end in ranges:
        for match in pattern.finditer(_text_of(begin, end)):
            yield begin + match.start(), begin + match.end()


@functools.cache
def _text_of(begin: int, end: int) -> str:
    """Return the code points ``begin`` to ``end - 1``."""
    points = np.arange(begin, end, dtype=np.uint32)
    return points.tobytes().decode("utf-32-le", "surrogatepass")
