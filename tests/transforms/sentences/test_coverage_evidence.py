"""Stretches that a fitted aligner shows and features of lines do not."""

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms.sentences.coverage_evidence import BINS, CoverageEvidence
from pairweave.transforms.sentences.stretches import Linked, features_of, judge_lines

LINES, STRETCH = 1_000, 30


def sides():
    """Return lines of the same lengths on both sides, each with a name of its own at the end.

    Lines near each other have the same length, so their order shows in the names alone.
    """
    draws = np.random.default_rng(3)
    words = np.array(["aba", "cec", "dod", "fuf", "gig"])
    names = ["".join(chr(ord("k") + int(digit)) for digit in f"{n:03}") for n in range(LINES)]
    lengths = [4 + 3 * (line // 50 % 7) for line in range(LINES)]
    return tuple(
        [
            f"{' '.join(words[draws.integers(0, 5, length)])} {name}"
            for length, name in zip(lengths, names, strict=True)
        ]
        for _ in range(2)
    )


def coverage(source, target):
    """Judge pairs by their last words, as an aligner that knows these alone."""
    pairs = zip(source.to_pylist(), target.to_pylist(), strict=True)
    return np.array([0.9 if one[-3:] == other[-3:] else 0.1 for one, other in pairs])


def stretches(source, target, *, linked=True):
    one, other = pa.array(source), pa.array(target)
    given = Linked(one, other, coverage) if linked else None
    result, beside = judge_lines(features_of(one), features_of(other), linked=given)
    assert len(beside) == len(source)
    return [(stretch.first, stretch.last, stretch.move) for stretch in result]


def test_clean_lines_have_no_stretch():
    assert stretches(*sides()) == []


def test_a_short_block_in_another_order_is_told_by_the_aligner_alone():
    source, target = sides()
    block = target[400 : 400 + STRETCH]
    target[400 : 400 + STRETCH] = block[7:] + block[:7]
    assert stretches(source, target, linked=False) == []
    assert stretches(source, target) == [(400, 400 + STRETCH - 1, None)]


@pytest.mark.parametrize("move", [1, -3])
def test_a_short_block_that_has_moved_is_told_with_its_move(move):
    source, target = sides()
    target[400 : 400 + STRETCH] = np.roll(target[400 : 400 + STRETCH], move).tolist()
    assert stretches(source, target, linked=False) == []
    ((first, last, moved),) = stretches(source, target)
    assert moved == move
    assert 400 <= first <= 403
    assert 426 <= last <= 429


def test_lines_without_a_counterpart_are_no_evidence():
    source, target = sides()
    source[10] = target[20] = ""
    texts = pa.array(source), pa.array(target)
    evidence = CoverageEvidence(coverage, *texts, (17, -23))
    evidence.learn([(0, LINES, 0)])
    evidence.judge_moved([1])
    in_place, moved = evidence.of_lines(0), evidence.of_lines(1)
    assert in_place[10] == in_place[20] == 0
    assert (np.delete(in_place, [10, 20]) > 0).all()
    assert (moved == 0).all()  # none is doubtful, so none was judged elsewhere
    assert BINS == 16


def test_a_file_without_a_whole_pair_has_no_evidence():
    assert stretches([""] * 200, sides()[1][:200]) == stretches(
        [""] * 200, sides()[1][:200], linked=False
    )
