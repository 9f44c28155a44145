import numpy as np
import pytest

from pairweave.transforms.rejects import Reject
from pairweave.transforms.suggestions.hints import first_letters
from pairweave.transforms.suggestions.suggestion_filters import outside_scores
from pairweave.transforms.suggestions.suggestion_options import FilterConfig, HintConfig
from pairweave.transforms.suggestions.suggestions import SuggestionConfig, make_suggestions
from tests.makers.suggesting import LOOSE, MASK, WIDE, aligned, compared


@pytest.mark.parametrize(
    ("name", "option", "dropping", "keeping"),
    [
        ("source length", "min_source_words", 3, 2),
        ("source length", "max_source_words", 1, 2),
        ("suggestion length", "min_suggestion_words", 3, 2),
        ("suggestion length", "max_suggestion_words", 1, 2),
        ("masked share", "max_masked_share", 0.49, 0.5),
        ("confidence", "min_confidence", 0.8, 0.75),
        ("confidence", "min_confidence", 1.0, 0.75),
    ],
)
def test_each_filter_drops_what_is_over_its_limit_and_keeps_what_is_not(
    name, option, dropping, keeping
):
    table = compared(("two words", "a x y d", "a b c d", [(i, i, 0.75) for i in range(4)]))
    for limit, kept in ((dropping, 0), (keeping, 1)):
        filters = FilterConfig(**{"max_masked_share": 1.0, option: limit})
        config = SuggestionConfig(("alignment",), aligned=WIDE, filters=filters)
        made = make_suggestions(table, config)
        assert made.rows.num_rows == kept
        assert made.counts.get(f"alignment_masks_dropped_{name.replace(' ', '_')}", 0) == 1 - kept


def test_a_suggestion_that_says_what_is_masked_is_dropped():
    # Links that cross make a unit of words that are the same, but for the white space between.
    row = ("s", "a b c d", "a  b c  d", [(0, 1), (1, 0), (2, 2), (3, 3)])
    assert aligned(row) == []
    crossing = ("s", "a b", "b a", [(0, 0), (1, 1)])
    assert aligned(crossing) == [("replace", MASK, "a b")]


def test_punctuation_alone_is_dropped_unless_it_is_wanted():
    row = ("s", "gut, ja", "gut; ja", "diagonal")
    assert aligned(row, filters=FilterConfig(max_masked_share=1.0)) == []
    assert aligned(row) == [("replace", "gut<MASK_REP> ja", ",")]


def test_a_suggestion_of_many_words_counts_as_if_they_were_masked():
    table = compared(("s", "a p q r c", "a x c", [(0, 0, 1.0), (1, 1, 1.0), (2, 4, 1.0)]))
    for share, kept in ((0.59, 0), (0.6, 1)):  # three words under the mask and two beside it
        filters = FilterConfig(max_masked_share=share)
        config = SuggestionConfig(("alignment",), aligned=WIDE, filters=filters)
        assert make_suggestions(table, config).rows.num_rows == kept


@pytest.mark.parametrize("least", [0, 1, 2])
def test_a_link_inside_a_mask_or_on_either_side_of_it_decides_how_sure_it_is(least):
    sure = [0.9, 0.8, 0.7, 0.1]
    sure[least] = 0.3
    table = compared(("s", "a x c d", "a b c d", [(i, i, sure[i]) for i in range(4)]))
    config = SuggestionConfig(("alignment",), aligned=WIDE, filters=LOOSE)
    assert make_suggestions(table, config).rows["confidence"].to_pylist() == [pytest.approx(0.3)]


def test_a_mask_is_as_sure_as_the_least_sure_link_inside_or_beside_it():
    links = [(0, 0, 0.9), (1, 1, 0.6), (2, 2, 0.8), (3, 3, 0.1)]
    table = compared(("s", "a x c d", "a b c d", links), ("s", "a q d", "a d", [(0, 0), (1, 2)]))
    config = SuggestionConfig(("alignment", "parallel"), aligned=WIDE, filters=LOOSE)
    rows = make_suggestions(table, config).rows.to_pylist()
    assert [row["confidence"] for row in rows] == [pytest.approx(0.6), None, 1.0, None]


def test_a_mask_on_no_link_is_kept_unless_a_confidence_is_asked_for():
    table = compared(("s", "x", "a", []))
    for least, kept in ((0.0, 1), (0.01, 0)):
        filters = FilterConfig(max_masked_share=1.0, min_confidence=least)
        config = SuggestionConfig(("alignment",), aligned=WIDE, filters=filters)
        assert make_suggestions(table, config).rows.num_rows == kept


def test_a_made_translation_that_holds_the_mask_token_gives_no_example():
    # The comma would be dropped, too; the first filter counts.
    table = compared(("s", "a , c", "a ; c <MASK_REP>", [(0, 0), (1, 1), (2, 2)]))
    made = make_suggestions(table, SuggestionConfig(("alignment",), aligned=WIDE))
    assert made.rows.num_rows == 0
    assert made.details.tolist() == ["alignment: contains the mask token 1"]
    assert made.counts["alignment_examples"] == 0


def score_by_length(sources, targets, source_lang, target_lang):
    """Stand in for two models; the second knows no long text."""
    assert (source_lang, target_lang) == ("en", "de")
    lengths = np.array([float(len(target)) for target in targets])
    assert len(sources) == len(lengths)
    return -lengths, np.where(lengths > 9, np.nan, -lengths - 2)


def test_examples_are_scored_with_the_suggestion_in_the_masks_place():
    table = compared(
        ("s", "a bc d", "a x d", "diagonal"),
        ("s", "a bcd d", "a x d", "diagonal"),
        ("s", "a bcdefg d", "a x d", "diagonal"),
    )
    config = SuggestionConfig(("alignment",), aligned=WIDE, filters=LOOSE)
    made = make_suggestions(table, config, score_by_length)
    # Cross-entropies n and n + 2: apart by 2, and n + 1 in the mean.
    assert made.rows["score"].to_pylist() == [9.0, 10.0, None]
    filters = FilterConfig(max_masked_share=1.0, max_score=9.5)
    config = SuggestionConfig(("alignment",), aligned=WIDE, filters=filters)
    made = make_suggestions(table, config, score_by_length)
    assert made.rows["score"].to_pylist() == [9.0]
    assert made.reasons.tolist() == [None, Reject.FILTERED, Reject.FILTERED]
    assert made.details.tolist() == [None, "alignment: score 1", "alignment: score 1"]
    assert made.counts["alignment_masks_dropped_score"] == 2
    assert make_suggestions(table, config).rows["score"].null_count == 3


@pytest.mark.parametrize(
    ("limits", "dropped"),
    [
        ({}, []),
        ({"min_score": 2.0}, [0, 3]),
        ({"max_score": 2.0}, [2, 3]),
        ({"min_score": 2.0, "max_score": 2.0}, [0, 2, 3]),
    ],
)
def test_a_score_may_be_a_limit_and_is_not_missing_if_there_is_one(limits, dropped):
    outside = outside_scores(np.array([1.0, 2.0, 3.0, np.nan]), FilterConfig(**limits))
    assert np.flatnonzero(outside).tolist() == dropped


@pytest.mark.parametrize(
    ("kind", "letters", "hint"),
    [("none", 1, None), ("letters", 3, "wei"), ("initials", 1, "w K")],
)
def test_hints_tell_letters_or_a_word(kind, letters, hint):
    row = ("s", "ich mag weiße Katzen", "ich mag helle Tiere", "diagonal")
    config = SuggestionConfig(("alignment",), hints=HintConfig(kind, letters))
    (actual,) = make_suggestions(compared(row), config).rows.to_pylist()
    assert (actual["suggestion"], actual["hint"]) == ("weiße Katzen", hint)


def test_a_word_hint_is_one_of_the_suggestions_words():
    rows = [(f"s{n}", "ich mag weiße Katzen", "ich mag helle Tiere", "diagonal") for n in range(40)]
    config = SuggestionConfig(("alignment",), hints=HintConfig("word"))
    made = make_suggestions(compared(*rows), config).rows
    assert set(made["hint"].to_pylist()) == {"weiße", "Katzen"}


def test_first_letters_are_counted_as_a_reader_does():
    assert first_letters(" <a_0>e\u0301te\u0301</a_0>", 2) == "e\u0301t"
    assert first_letters("", 3) is None
