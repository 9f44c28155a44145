"""Beads as text: lines ``[0, 1]:[2]:score``, with sentences numbered from 0 in the document."""

import re
from typing import NamedTuple

from pairweave.transforms.errors import InputError
from pairweave.transforms.storage.text_lines import read_lines

_NUMBER = r"[0-9]{1,9}"
_NUMBERS = rf"\[\s*({_NUMBER}(?:\s*,\s*{_NUMBER})*)?\s*\]"
_BEAD = re.compile(rf"\s*{_NUMBERS}\s*:\s*{_NUMBERS}\s*(?::\s*(\S*))?\s*")

NO_SENTENCE = "[]:[]\n"
"""Represents a document without sentences, so that the n-th block of a file is document n."""


class Bead(NamedTuple):
    """Sentences that translate each other, by number; a side may be empty."""

    source: tuple[int, ...]
    target: tuple[int, ...]


def bead_line(source: range, target: range, score: float) -> str:
    """Return a bead as text.

    >>> bead_line(range(0, 2), range(2, 3), 0.25)
    '[0, 1]:[2]:0.250000'
    """
    return f"{list(source)}:{list(target)}:{score:.6f}"


def read_beads(path: str) -> list[list[Bead]]:
    """Read a file of beads, with or without scores; blank lines separate documents.

    A document without sentences is a line ``[]:[]``. Sentence numbers have at most 9 digits.

    Args:
        path: The file, such as the output of ``bitext --beads``, of vecalign or of Bleualign, or
            gold beads.

    Returns:
        The beads of each document, in the file's order.

    Raises:
        InputError: The file cannot be read (`transforms.storage.text_lines.read_lines`), or a line
            is not a bead (``not_a_bead``).
    """
    documents: list[list[Bead]] = []
    between = True
    for number, line in enumerate(read_lines(path), 1):
        if not line.text.strip():
            between = True
            continue
        bead = _BEAD.fullmatch(line.text)
        if bead is None:
            raise InputError(
                "not_a_bead",
                path,
                "expected sentence numbers such as [0, 1]:[2] or [0, 1]:[2]:0.53, found "
                f"{line.text[:80]!r}",
                number,
            )
        if between:
            documents.append([])
            between = False
        documents[-1].append(Bead(*(_numbers(side) for side in bead.group(1, 2))))
    return documents


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(",")) if text else ()
