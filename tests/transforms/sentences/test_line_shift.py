"""Where one text has lost or gained lines."""

import pyarrow as pa
import pytest

from pairweave.transforms.sentences import line_shift
from pairweave.transforms.sentences.line_shift import LineShift, find_line_shift
from tests.transforms.sentences.test_stretches import made, shuffled

LINES = 1_200


@pytest.fixture(scope="module")
def clean():
    return made(LINES)


def found(source, target, size=500):
    """Return the shift between two texts, which are given in pieces of a size."""
    both = min(len(source), len(target))
    pieces = (
        tuple(pa.array(side[first : min(both, first + size)], pa.string()) for side in sides)
        for sides in [(source, target)]
        for first in range(0, both, size)
    )
    return find_line_shift(pieces, len(target) - len(source))


@pytest.mark.parametrize("place", [0, 40, 137, 600, 1_100])
@pytest.mark.parametrize("lines", [1, 3, 9])
def test_lost_lines_are_found_where_they_were(clean, place, lines):
    source, target = clean
    short = [*target[:place], *target[place + lines :]]
    shift = found(source, short)
    assert shift.move == -lines
    assert -4 <= shift.line - place - 1 <= 4 + lines
    assert found(short, source).move == lines


@pytest.mark.parametrize("place", [0, 40, 600, 1_100])
def test_inserted_lines_are_found_where_they_are(clean, place):
    source, target = clean
    shift = found(source, [*target[:place], "Another line.", *target[place:]])
    assert shift.move == 1
    assert abs(shift.line - place - 1) <= 4
    assert shift.message == f"from line {shift.line:,} on the target is 1 line behind"


def test_the_first_of_several_shifts_is_told(clean):
    source, target = clean
    shift = found(source, [*target[:300], *target[301:700], *target[701:]])
    assert shift.move == -1
    assert abs(shift.line - 301) <= 4


def test_nothing_is_told_where_the_end_is_missing(clean):
    source, target = clean
    for lines in (1, 5, 40, 500):
        assert found(source, target[:-lines]) is None
        assert found(source[:-lines], target) is None


def test_a_block_that_has_moved_is_no_shift_of_what_follows(clean):
    source, target = clean
    moved = [*target[:300], *target[301:500], "Another line.", *target[500:]]
    assert found(source, moved[:-3]) is None
    assert found(source, shuffled(target, 300, 200)[:-3]) is None


def test_nothing_is_told_of_texts_that_do_not_belong_together(clean):
    source, target = clean
    assert found(source, shuffled(target, 0, LINES)[:-7]) is None
    assert found(["the same line"] * 500, ["dieselbe Zeile"] * 499) is None


def test_nothing_is_told_of_few_lines(clean):
    source, target = clean
    assert found(source[:99], target[1:99]) is None
    assert find_line_shift(iter([]), 1) is None


def test_lines_after_as_many_others_as_cannot_be_told_belong_nowhere(clean):
    source, target = clean
    # Nine lines are lost and five others inserted elsewhere, so no move is that of the counts.
    other = [*target[:400], *target[409:], *["End."] * 5]
    shift = found(source, other)
    assert shift.move is None
    assert abs(shift.line - 401) <= 12
    assert shift.message.endswith("on lines are not translations of their counterparts")


@pytest.mark.parametrize("place", [150, 290, 310, 650, 1_000])
def test_texts_may_be_judged_in_chunks(clean, monkeypatch, place):
    monkeypatch.setattr(line_shift, "CHUNK_LINES", 300)
    monkeypatch.setattr(line_shift, "OVERLAP_LINES", 100)
    source, target = clean
    shift = found(source, [*target[:place], *target[place + 1 :]], size=70)
    assert shift.move == -1
    assert abs(shift.line - place - 1) <= 4
    assert found(source, target[:-3], size=70) is None
    block = [*target[:250], *target[251:420], "Another line.", *target[420:]]
    assert found(source, block[:-3], size=70) is None


def test_lines_beyond_the_most_are_not_judged(clean, monkeypatch):
    monkeypatch.setattr(line_shift, "CHUNK_LINES", 300)
    monkeypatch.setattr(line_shift, "OVERLAP_LINES", 100)
    monkeypatch.setattr(line_shift, "MAX_LINES", 600)
    source, target = clean
    assert found(source, [*target[:1_000], *target[1_001:]], size=100) is None


def test_a_shift_is_told_in_words():
    assert LineShift(7, -2).message == "from line 7 on the target is 2 lines ahead"
