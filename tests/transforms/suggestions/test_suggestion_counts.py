"""A ratio of parallel to other examples that differs from --mix is told of."""

import math

import pytest

from pairweave.transforms.suggestions.suggestion_counts import mix_notice

ALL = ("random", "alignment", "parallel")


def notice(whole, spans, mix, pairs=1000, methods=ALL):
    counts = {"parallel_examples": whole, "random_examples": spans - spans // 2}
    return mix_notice({**counts, "alignment_examples": spans // 2}, methods, mix, pairs)


def test_too_few_parallel_examples_are_told_of_with_the_reason_and_a_mix_that_gives_enough():
    assert notice(1000, 2528, 1.0) == (
        "--mix 1: 1,000 parallel examples for 2,528 others are 0.4 for each, not 1: each pair "
        "gives one parallel example at most; with --mix 2.5, fewer pairs get masked spans, and "
        "the ratio is about 1"
    )
    assert "0.79 for each, not 2: " in notice(1000, 1264, 2.0)
    assert "with --mix 5.1," in notice(1000, 1264, 2.0)
    assert "with --mix 2," in notice(1000, 4000, 0.5)


def test_too_many_parallel_examples_are_told_of():
    assert notice(900, 100, 1.0) == (
        "--mix 1: 900 parallel examples for 100 others are 9 for each, not 1; pairs without other "
        "examples give a parallel one, too: give a smaller mix"
    )
    assert notice(900, 0, 1.0).startswith("--mix 1: 900 parallel examples for 0 others, not 1; ")


@pytest.mark.parametrize(
    ("whole", "spans", "mix", "methods"),
    [
        (2500, 2528, 1.0, ALL),  # within a twentieth
        (4, 9, 1.0, ALL),  # within what draws give
        (0, 0, 1.0, ALL),
        (0, 100, 0.0, ALL),
        (100, 0, math.inf, ALL),
        (100, 0, 1.0, ("parallel",)),
        (0, 100, 1.0, ("random", "alignment")),
    ],
)
def test_a_ratio_as_wanted_is_not_told_of(whole, spans, mix, methods):
    assert notice(whole, spans, mix, methods=methods) is None
