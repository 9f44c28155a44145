"""Arguments of ICU messages that have a type, and the sub-messages of plurals and selections.

A tokenizer sees words in them; the rules of ``filter`` need to know which words are text to
translate. Keys are those of `transforms.kernels.filtering.placeholder_keys`.
"""

import numpy as np

from pairweave.transforms.kernels.filtering.characters import OFFSET
from pairweave.transforms.kernels.filtering.placeholder_keys import (
    FORMS,
    add_byte,
    add_text,
    skip_blanks,
)
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text.unbreakable import DIGIT, LONGEST, NAME_START, skip
from pairweave.transforms.kernels.uncounted import uncounted

_SIMPLE_TYPES = tuple(
    np.frombuffer(word, np.uint8)
    for word in (b"number", b"date", b"time", b"spellout", b"ordinal", b"duration")
)
_FORM_TYPES = tuple(
    np.frombuffer(word, np.uint8) for word in (b"plural", b"select", b"selectordinal")
)
_OFFSET_WORD = np.frombuffer(b"offset:", np.uint8)


@uncounted
def _is_word(data: np.ndarray, at: Integer, end: Integer, word: np.ndarray) -> bool:
    if end - at < len(word):
        return False
    equal = 0
    for place in range(len(word)):
        equal += data[at + place] == word[place]
    return equal == len(word)


@uncounted
def message_argument(
    data: np.ndarray, at: Integer, end: Integer, state: np.ndarray
) -> tuple[Integer, np.uint64]:
    """Match an argument of an ICU message with a type, at its brace.

    ``{when, date, short}`` is matched whole. ``{count, plural, one {# file} other {# files}}`` is
    matched up to the first sub-message, whose text is text to translate; `next_form` matches what
    is between its sub-messages.

    Returns:
        The end, or ``at`` if there is none, and the key.
    """
    first = skip_blanks(data, at + 1, end)
    last = skip(data, first, min(end, first + LONGEST), NAME_START | DIGIT)
    here = skip_blanks(data, last, end)
    if last == first or here >= end or data[here] != 44:
        return at, OFFSET
    digest = add_text(add_byte(OFFSET, 123), data, first, last)
    first = skip_blanks(data, here + 1, end)
    last = skip(data, first, min(end, first + LONGEST), NAME_START)
    here = skip_blanks(data, last, end)
    for word in _FORM_TYPES:
        if last - first == len(word) and _is_word(data, first, end, word):
            if here >= end or data[here] != 44:
                return at, digest
            here = skip_blanks(data, here + 1, end)
            if _is_word(data, here, end, _OFFSET_WORD):
                here = skip_blanks(data, here + len(_OFFSET_WORD), end)
                here = skip_blanks(data, skip(data, here, end, DIGIT), end)
            stop = _form(data, here, end)
            if stop == here:
                return at, digest
            state[FORMS] += 1
            return stop, digest
    for word in _SIMPLE_TYPES:
        if last - first == len(word) and _is_word(data, first, end, word):
            limit = min(end, at + LONGEST)
            if here < limit and data[here] == 44:
                while here < limit and data[here] not in (10, 123, 125):
                    here += 1
            return (here + 1 if here < limit and data[here] == 125 else at), digest
    return at, digest


@uncounted
def _form(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Match the selector of a sub-message and its opening brace: ``one {`` or ``=1 {``."""
    here = at
    if here < end and data[here] == 61:  # =
        selector = skip(data, here + 1, end, DIGIT)
        here += 1
    else:
        selector = skip(data, here, min(end, here + LONGEST), NAME_START | DIGIT)
    brace = skip_blanks(data, selector, end)
    return brace + 1 if selector > here and brace < end and data[brace] == 123 else at


@uncounted
def next_form(data: np.ndarray, at: Integer, end: Integer, state: np.ndarray) -> Integer:
    """Match what follows a sub-message at its closing brace; ``at`` if it is another brace."""
    here = skip_blanks(data, at + 1, end)
    if here < end and data[here] == 125:
        state[FORMS] -= 1
        return here + 1
    stop = _form(data, here, end)
    return stop if stop > here else at
