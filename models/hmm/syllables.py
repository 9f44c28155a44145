"""Turns signs of Korean and Japanese into the letters of their sound, to compare spellings.

A syllable of Hangul is two or three letters; a sign of Katakana, in which Japanese writes names and
loanwords, is a consonant and a vowel. This is used only to compare spellings: words are counted,
looked up and shown as they are.
"""

import functools
import unicodedata

import numpy as np

from pairweave.models.hmm.hmm_vocabulary import Vocabulary
from pairweave.transforms.kernels.hmm.model1 import Spellings

HANGUL = range(0xAC00, 0xD7A4)
KATAKANA = range(0x30A1, 0x30FD)

MIN_SHARE = 0.01
"""Share of the letters of one side that must be such signs. A few Korean words in an English text
have a smaller share, so they change nothing."""

_INITIALS = range(0x1100, 0x1113)
_SILENT = 0x110B
"""The initial letter of a syllable that begins with its vowel."""

_VOWELS = range(0x1161, 0x1176)

NAMED_LETTERS = {
    letter: ord(unicodedata.name(chr(letter)).split()[-1].removeprefix("SSANG").lower()[place])
    for letters, place in ((_INITIALS, 0), (_VOWELS, -1))
    for letter in letters
} | {_SILENT: ord("g")}
"""The letters of Hangul as Latin ones: the first of a consonant's name (``KHIEUKH``), the last of a
vowel's (``YA``), and ``g`` for the final one of ``ng``."""

_SILENT_SIGNS = "ッー"

_MAX_SOUNDS = 4
"""Maximum number of letters of a syllable."""


def has_syllables(words: Vocabulary) -> bool:
    """Tell whether enough of the letters of a side are syllables of Hangul or Katakana."""
    signs = np.zeros(len(words.letters), np.bool_)
    for block in (HANGUL, KATAKANA):
        signs |= (words.letters >= block.start) & (words.letters < block.stop)
    if not signs.any():
        return False
    times = np.repeat(words.counts, np.diff(words.letter_offsets))
    return bool(times[signs].sum() >= MIN_SHARE * times.sum())


def spell_out(offsets: np.ndarray, letters: np.ndarray) -> Spellings:
    """Return words with each syllable of Hangul or Katakana replaced by the letters of its sound.

    Args:
        offsets: Start of each word's letters, int64 ``[word + 1]``.
        letters: Folded code points, int32.
    """
    sizes, sounds = _sounds()
    known = letters < len(sizes)
    at = np.where(known, letters, 0)
    counts = np.where(known, sizes[at], 1)
    ends = np.append(0, np.cumsum(counts))
    sign = np.repeat(np.arange(len(letters)), counts)
    step = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    made = np.where(known[sign], sounds[at[sign], step], letters[sign])
    return Spellings(ends[offsets].astype(np.int64), made.astype(np.int32))


@functools.cache
def _sounds() -> tuple[np.ndarray, np.ndarray]:
    """Return the number of letters of each code point, and the letters; most stay as they are."""
    sizes = np.ones(HANGUL.stop, np.int64)
    sounds = np.zeros((HANGUL.stop, _MAX_SOUNDS), np.int32)
    sounds[:, 0] = np.arange(HANGUL.stop)
    for block, spelled in ((HANGUL, _hangul), (KATAKANA, _katakana)):
        for point in block:
            made = spelled(chr(point))
            sizes[point] = len(made)
            sounds[point, : len(made)] = made
    return sizes, sounds


def _hangul(syllable: str) -> list[int]:
    """Return the letters of a syllable; a final consonant is the same letter as an initial one."""
    initial, vowel, *final = map(ord, unicodedata.normalize("NFD", syllable))
    return [*([] if initial == _SILENT else [initial]), vowel, *map(_as_initial, _parts(final))]


def _parts(final: list[int]) -> list[str]:
    """Return the names of the consonants of a final letter, which may be two (``RIEUL-KIYEOK``)."""
    return unicodedata.name(chr(final[0])).split()[-1].split("-") if final else []


@functools.cache
def _as_initial(name: str) -> int:
    letter = ord(unicodedata.lookup(f"HANGUL CHOSEONG {name}"))
    return letter if letter in _INITIALS else _SILENT


def _katakana(sign: str) -> list[int]:
    """Return the Latin letters of a sign by its Unicode name, such as ``KATAKANA LETTER SI``.

    The mark of a long vowel and the small TU, which doubles a consonant, are silent.
    """
    if sign in _SILENT_SIGNS:
        return []
    name = unicodedata.name(sign)
    return [*map(ord, name.split()[-1].lower())] if " LETTER " in name else [ord(sign)]
