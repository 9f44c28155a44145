"""Finds where two texts stop running in parallel, because a line was lost or added."""

import dataclasses
from collections.abc import Iterable, Iterator

import pyarrow as pa

from pairweave.transforms.counted import counted
from pairweave.transforms.kernels.inspection.line_features import LineFeatures
from pairweave.transforms.sentences.stretches import (
    MIN_CORPUS_LINES,
    MIN_LINES,
    MOVES,
    Stretch,
    features_of,
    joined,
    judge_lines,
)

CHUNK_LINES = 1 << 16
"""Number of lines that are judged together."""

OVERLAP_LINES = 512
"""Number of lines that are judged again with the next chunk: a shift shows after 15 to 50 lines, so
a shift at the end of a chunk is found in the next one."""

MAX_LINES = 4_000_000
"""Maximum number of lines that are judged, which takes half a minute."""


@dataclasses.dataclass(frozen=True, slots=True)
class LineShift:
    """The place from which two texts do not correspond line by line, up to the shorter one's end.

    Attributes:
        line: The first line whose translation is not on the same line, from 1. It is exact to a few
            lines plus the number of lines lost.
        move: Number of lines that the target is further on; None if translations are too far away
            to be found.
    """

    line: int
    move: int | None

    @property
    def message(self) -> str:
        """Return the shift as a clause.

        >>> LineShift(9_001, -1).message
        'from line 9,001 on the target is 1 line ahead'
        """
        where = f"from line {self.line:,} on"
        if self.move is None:
            return f"{where} lines are not translations of their counterparts"
        return f"{where} the target is {moved_by(self.move)}"


def moved_by(move: int) -> str:
    """Return how far a target has moved, in words.

    Args:
        move: Number of lines that it is further on, not 0.
    """
    return f"{counted(abs(move), 'line')} {'ahead' if move < 0 else 'behind'}"


def find_line_shift(texts: Iterable[tuple[pa.Array, pa.Array]], more: int) -> LineShift | None:
    """Find where two texts stop corresponding line by line.

    Only a change that lasts to the end of the shorter text is a shift: a block of lines in another
    order cannot explain different numbers of lines.

    Args:
        texts: The lines of source and target in pieces, the same number of each, without nulls.
        more: Number of lines of the target minus that of the source; the likely move if all
            additional lines are in one place.

    Returns:
        The shift; None if there is none, it is not clear, or the lines belong together nowhere.
    """
    found: LineShift | None = None
    moves = MOVES if more in MOVES else (*MOVES, more)
    for first, source, target in _chunks(texts):
        lines = len(source.points)
        run = _last_run(judge_lines(source, target, moves)[0], lines)
        goes_on = bool(run) and run[0].first <= OVERLAP_LINES
        if found is not None and goes_on:
            return found
        found = None
        if run:
            begin = first + run[0].first
            if run[0].move is not None or begin >= MIN_CORPUS_LINES:
                found = LineShift(1 + begin, run[0].move)
    return found


def _last_run(stretches: list[Stretch], lines: int) -> list[Stretch]:
    """Return the stretches that follow each other up to the last line."""
    run: list[Stretch] = []
    begin = lines
    for stretch in reversed(stretches):
        if stretch.last + 1 + MIN_LINES < begin:
            break
        run.insert(0, stretch)
        begin = stretch.first
    return run


def _chunks(
    texts: Iterable[tuple[pa.Array, pa.Array]],
) -> Iterator[tuple[int, LineFeatures, LineFeatures]]:
    """Yield the features of lines that are judged together, and the number of lines before them."""
    parts: list[tuple[LineFeatures, LineFeatures]] = []
    first = waiting = 0
    fresh = False
    for source, target in texts:
        parts.append((features_of(source), features_of(target)))
        waiting += len(source)
        fresh = True
        if waiting < CHUNK_LINES + OVERLAP_LINES:
            continue
        sides = _joined(parts)
        yield first, *sides
        kept = waiting - OVERLAP_LINES
        parts = [(_from(sides[0], kept), _from(sides[1], kept))]
        first, waiting, fresh = first + kept, OVERLAP_LINES, False
        if first >= MAX_LINES:
            return
    if fresh:
        yield first, *_joined(parts)


def _joined(parts: list[tuple[LineFeatures, LineFeatures]]) -> tuple[LineFeatures, LineFeatures]:
    return joined([source for source, _ in parts]), joined([target for _, target in parts])


def _from(features: LineFeatures, line: int) -> LineFeatures:
    return LineFeatures(*(column[line:] for column in features))
