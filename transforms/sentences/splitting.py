"""Splits lines of a document into sentences."""

import dataclasses
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import regex

from pairweave.transforms.text import sentence_splitter
from pairweave.transforms.text.segmenter import UNSPACED

_UNSPACED = regex.compile(UNSPACED)
_WIDE_WITH_SPACES = regex.compile(r"[\p{Hangul}\p{Emoji_Presentation}]")

SplitKind = Literal["none", "lines", "paragraphs"]


@dataclasses.dataclass(frozen=True)
class Splitting:
    """Settings of splitting lines into sentences.

    Attributes:
        kind: ``none``: each line is a sentence, and blank lines separate paragraphs. ``lines``:
            each line is a paragraph, which is split. ``paragraphs``: the lines up to a blank one
            are joined into a paragraph, which is split.
        splitter: Name and version of the splitter (`transforms.text.sentence_splitter`).
    """

    kind: SplitKind = "none"
    splitter: str = sentence_splitter.NONE


WHOLE_LINES = Splitting()


def splitting_of(kind: SplitKind) -> Splitting:
    """Return the settings of splitting, with the installed splitter.

    Raises:
        ConfigError: Lines are to be split, but no splitter is installed.
    """
    return WHOLE_LINES if kind == "none" else Splitting(kind, sentence_splitter.choose_splitter())


@dataclasses.dataclass(frozen=True)
class CutLines:
    """Sentences, in order.

    Attributes:
        texts: Their texts, without white space at their ends.
        lines: The line in which each begins, from 0.
        paragraphs: Paragraph of each, from 0.
        spaced: Whether white space or a line break precedes each.
    """

    texts: list[str]
    lines: list[int]
    paragraphs: list[int]
    spaced: list[bool]


def split_lines(
    texts: Sequence[str],
    paragraphs: np.ndarray,
    whole: frozenset[int],
    splitting: Splitting,
    language: str,
) -> CutLines:
    """Cut lines that are not blank into sentences.

    Nothing but white space where lines or sentences meet is lost or altered: joined lines have a
    space between them, or nothing between characters of scripts without spaces.

    Args:
        texts: The lines.
        paragraphs: Paragraph of each, separated by blank lines, ascending, int64 ``[line]``.
        whole: Lines that are not split, because they are not text.
        splitting: How they are split.
        language: Their language.

    Raises:
        WorkerError: The splitter is not the planned one.
    """
    sentence_splitter.check_installed(splitting.splitter)
    cut_lines = CutLines([], [], [], [])
    number = -1
    for first, last, begins in _stretches(paragraphs, whole, splitting.kind):
        number += begins
        text, ends = _joined(texts[first:last])
        spans = (
            [(0, len(text))]
            if first in whole
            else sentence_splitter.split_sentences(text, language)
        )
        starts = np.array([left for left, _ in spans], np.int64)
        inside = np.searchsorted(ends[:-1], starts, side="right")
        cut_lines.lines.extend((first + inside).tolist())
        cut_lines.texts.extend(text[left:right] for left, right in spans)
        cut_lines.spaced.extend(not left or text[left - 1].isspace() for left, _ in spans)
        cut_lines.paragraphs.extend([number] * len(spans))
    return cut_lines


def _joined(lines: Sequence[str]) -> tuple[str, list[int]]:
    """Return lines as one text, and the end of each in it."""
    parts: list[str] = []
    ends: list[int] = []
    size = 0
    for line in map(str.strip, lines):
        if parts and not (_is_unspaced(parts[-1][-1:]) and _is_unspaced(line[:1])):
            parts[-1] += " "
            size = ends[-1] = size + 1
        parts.append(line)
        size += len(line)
        ends.append(size)
    return "".join(parts), ends


def _is_unspaced(character: str) -> bool:
    """Tell whether a character is a letter or punctuation of a script without spaces."""
    if not character or _WIDE_WITH_SPACES.match(character):
        return False
    return unicodedata.east_asian_width(character) in "WF" or bool(_UNSPACED.match(character))


def _stretches(
    paragraphs: np.ndarray, whole: frozenset[int], kind: SplitKind
) -> Iterator[tuple[int, int, bool]]:
    """Yield ranges of lines to split together, half-open, and whether a paragraph begins there."""
    count = len(paragraphs)
    if kind == "lines":
        yield from ((line, line + 1, True) for line in range(count))
        return
    first = 0
    while first < count:
        last = first + 1
        while (
            last < count
            and first not in whole
            and last not in whole
            and paragraphs[last] == paragraphs[first]
        ):
            last += 1
        yield first, last, first == 0 or bool(paragraphs[first] != paragraphs[first - 1])
        first = last
