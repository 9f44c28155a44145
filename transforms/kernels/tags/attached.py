"""What is attached to the word before it, so that a tag does not open there.

Translators put a tag around a name and leave what the language attaches to it outside: Korean
particles and verbs made of nouns, Japanese particles, suffixes after an apostrophe, a colon or a
closing quotation mark. In the help pages of ``help/gnome.en-ko`` 0 of 2,121 tags contain only such
an ending. It may end a tag (``docs/explanation/tags.md``).
"""

import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text.japanese import is_hiragana, is_particle
from pairweave.transforms.kernels.text.word_counts import unspaced_kind
from pairweave.transforms.kernels.uncounted import uncounted

# Particles of two letters: kara, made, yori.
_TWO = ((0x304B, 0x3089), (0x307E, 0x3067), (0x3088, 0x308A))


@uncounted
def _is_particle(data: np.ndarray, at: Integer, end: Integer) -> bool:
    """Tell whether a token of Hiragana, given by its bytes, is a particle."""
    first, step = utf8.decode(data, at, end)
    if at + step == end:
        return is_particle(first)
    second, width = utf8.decode(data, at + step, end)
    if at + step + width != end:
        return False
    for one, other in _TWO:  # noqa: SIM110 - Numba has no any() of a generator
        if first == one and second == other:
            return True
    return False


@uncounted
def is_attached_letter(
    data: np.ndarray, at: Integer, end: Integer, before: Integer, after_closing: np.bool_
) -> bool:
    """Tell whether a token that begins with a letter or a digit belongs to what it touches.

    Where words have spaces, it does if it follows a letter, a digit or a mark that closes quotation
    marks or brackets. Hiragana does after other letters or such a mark, and after Hiragana if it is
    a particle. Letters of other scripts without spaces never do.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        at: First byte of the token.
        end: End of it, exclusive.
        before: The code point that it touches, if that is a letter or a digit; else 0.
        after_closing: Whether it touches a token that closes quotation marks or brackets.
    """
    point, _ = utf8.decode(data, at, end)
    if is_hiragana(point):
        if is_hiragana(before):
            return _is_particle(data, at, end)
        return bool(before != 0 or after_closing)
    if unspaced_kind(point) >= 0:
        return False
    return bool((before != 0 and unspaced_kind(before) < 0) or after_closing)
