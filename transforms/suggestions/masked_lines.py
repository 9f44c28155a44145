"""Examples in line-parallel files, as in WeTS: sources, masked translations, suggestions."""

from collections.abc import Iterator, Sequence

from pairweave.transforms.errors import InputError
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.symbols.mask import MASK


def read_masked(
    source: str, masked: str, suggestions: Sequence[str]
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the lines of examples: source, masked translation, the line of each further file.

    Args:
        source: The file of sources.
        masked: The file of translations with a mask.
        suggestions: Files of suggestions.

    Raises:
        InputError: A file cannot be read, the numbers of lines differ, or a translation does not
            have one mask.
    """
    for number, lines in enumerate(read_in_step(source, masked, *suggestions), 1):
        one, other, *more = (line.text for line in lines)
        if (masks := other.count(MASK)) != 1:
            raise InputError("bad_mask", masked, f"expected one {MASK}, found {masks}", number)
        yield one, other, tuple(more)
