import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.prior_choice import agreement_of, is_better, left_out
from tests.makers.hmm_corpora import link_rows, plain_table
from tests.makers.real_pairs import real_pairs


def test_agreement_is_the_share_of_links_that_both_directions_make(shared_data):
    pairs = plain_table(real_pairs(shared_data, count=60))
    made = fit(pairs, HmmConfig()).align(pairs)
    both = either = 0
    for one, other in zip(link_rows(made, "forward"), link_rows(made, "reverse"), strict=True):
        both += len(set(one) & set(other))
        either += len(set(one) | set(other))
    assert 0 < both < either
    assert agreement_of(made) == pytest.approx(both / either, abs=1e-6)
    assert agreement_of(made.slice(7, 20)) != agreement_of(made)
    assert agreement_of(made.slice(0, 0)) == 0


@pytest.mark.parametrize(
    ("agreement", "without", "better"),
    [
        (0.85, 0.8, True),
        (0.8051, 0.8, True),
        (0.8049, 0.8, False),
        (0.7, 0.8, False),
        (1, 1, False),
    ],
)
def test_a_fortieth_of_the_disagreement_must_be_gone(agreement, without, better):
    assert is_better(agreement, without) == better


@pytest.mark.parametrize(
    ("report", "why"),
    [
        (
            {"prior": {"used": False, "agreement": 0.9017, "agreement_without": 0.9063}},
            "with it, both directions agree on 90.17% of the links, without it on 90.63%; "
            "90.86% were needed",
        ),
        ({"pairs": 20_000, "prior": {"used": False}}, "20,000 pairs need none"),
    ],
)
def test_a_notice_says_why_the_earlier_fit_was_left_out(report, why):
    notice = f"options: the earlier fit of --prior was left out: {why} [prior_left_out]"
    assert str(left_out(report)) == notice


@pytest.mark.parametrize("report", [{}, {"prior": {"used": True, "agreement": 0.9}}])
def test_there_is_no_notice_where_none_was_given_or_it_was_used(report):
    assert left_out(report) is None
