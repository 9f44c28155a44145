"""The texts that a model of suggestions reads and writes (Zhu et al., equation 1).

The input is the source, a separator, and the masked translation; a hint follows after another
separator. The mask has a blank on each side, as in WeTS, so examples from a run and from a golden
set have the same form. The output is the suggestion, or a symbol for an empty suggestion.
"""

import re

from pairweave.transforms.formats.mt5 import SEPARATOR
from pairweave.transforms.suggestions.hints import first_letters
from pairweave.transforms.symbols.mask import MASK, NOTHING

SYMBOLS = (SEPARATOR.strip(), MASK, NOTHING)
"""Symbols of the vocabulary of such a model."""

_SYMBOL = re.compile("|".join(map(re.escape, SYMBOLS)))

Example = tuple[str, str, str]
"""A source, a masked translation, and a suggestion."""


def model_input(source: str, masked: str) -> str:
    """Return a model's input, without a hint.

    >>> model_input("white cats", "<MASK_REP>Katzen")
    'white cats <sep> <MASK_REP> Katzen'
    """
    return f"{source}{SEPARATOR}{' '.join(masked.replace(MASK, f' {MASK} ').split())}"


def model_output(suggestion: str) -> str:
    """Return the output that a model learns to write for a suggestion."""
    return suggestion.strip() or NOTHING


def with_hint(text: str, output: str, letters: int | None) -> str:
    """Return a model's input with the first letters of its output as ``suggest --hint letters``.

    Args:
        text: The input without a hint.
        output: The output; an empty suggestion has no letters.
        letters: Number of letters; None for no hint.

    >>> with_hint("white cats <sep> <MASK_REP> Katzen", "weiße", 2)
    'white cats <sep> <MASK_REP> Katzen <sep> we'
    """
    hint = first_letters(output, letters) if letters and output != NOTHING else None
    return text if hint is None else f"{text}{SEPARATOR}{hint}"


def source_of(text: str) -> str:
    """Return the source of a model's input.

    >>> source_of("white cats <sep> <MASK_REP> Katzen <sep> we")
    'white cats'
    """
    return text.partition(SEPARATOR)[0]


def words_of(text: str) -> str:
    """Return a text without symbols.

    >>> words_of("white cats <sep> <MASK_REP> Katzen")
    'white cats Katzen'
    """
    return " ".join(_SYMBOL.sub(" ", text).split())


def has_symbol(example: Example) -> bool:
    """Tell whether a text has a symbol, apart from the mask and the empty suggestion."""
    source, masked, suggestion = example
    written = "" if suggestion.strip() == NOTHING else suggestion
    return any(map(_SYMBOL.search, (source, masked.replace(MASK, "", 1), written)))
