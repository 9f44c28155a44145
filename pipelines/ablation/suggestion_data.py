"""Examples of translation suggestion as a model has them (Zhu et al., equation 1).

The input is the source, a separator, and the masked translation; a hint follows after another
separator. The mask has a blank on each side, as in WeTS, so examples of a run and of a golden set
have one form. The output is the suggestion, or the symbol of an empty one.
"""

import re
from collections.abc import Iterator, Sequence

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.formats.mt5 import SEPARATOR
from pairweave.transforms.formats.wets import NOTHING
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.suggestions.hints import first_letters
from pairweave.transforms.symbols.mask import MASK

SYMBOLS = (SEPARATOR.strip(), MASK, NOTHING)
"""Symbols of the vocabulary."""

_SYMBOL = re.compile("|".join(map(re.escape, SYMBOLS)))

Example = tuple[str, str, str]
"""A source, a masked translation, and a suggestion."""


def model_input(source: str, masked: str) -> str:
    """Return what a model reads, without a hint.

    >>> model_input("white cats", "<MASK_REP>Katzen")
    'white cats <sep> <MASK_REP> Katzen'
    """
    return f"{source}{SEPARATOR}{' '.join(masked.replace(MASK, f' {MASK} ').split())}"


def model_output(suggestion: str) -> str:
    """Return what a model is to write."""
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
    """Tell whether a text has a symbol, apart from the mask and that of an empty suggestion."""
    source, masked, suggestion = example
    written = "" if suggestion.strip() == NOTHING else suggestion
    return any(map(_SYMBOL.search, (source, masked.replace(MASK, "", 1), written)))


def read_examples(
    source: str, masked: str, targets: Sequence[str]
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the lines of examples in the format of WeTS, with the suggestions of each target file.

    Args:
        source: The sources.
        masked: The translations with a mask.
        targets: Files of suggestions; an empty one may be the symbol for it.

    Raises:
        InputError: A file cannot be read, the numbers of lines differ, or a translation does not
            have one mask.
    """
    for number, lines in enumerate(read_in_step(source, masked, *targets), 1):
        one, other, *suggestions = (line.text for line in lines)
        if (masks := other.count(MASK)) != 1:
            raise InputError("bad_mask", masked, f"expected one {MASK}, found {masks}", number)
        yield one, other, tuple(suggestions)


def examples_of_run(directory: str) -> Iterator[Example]:
    """Yield the rows of a finished run of ``suggest``.

    Raises:
        ConfigError: It is a run of another job.
    """
    run = FinishedRun.open(directory)
    if run.job != "suggest":
        raise ConfigError(
            f"{directory}: a run of {run.job} has no suggestions to train on; give one of suggest"
        )
    for table in run.tables():
        sides = (table.column(name).to_pylist() for name in ("source", "masked", "suggestion"))
        yield from zip(*sides, strict=True)
