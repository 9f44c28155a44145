"""The quality gates of a night, on metrics made by hand."""

import pytest

from pairweave.pipelines.refresh import gates
from pairweave.transforms.errors import ConfigError


def metrics(pairs, rejected=0, **means):
    """Return the metrics of a night that read as many pairs again that the table had."""
    judged = pairs + rejected
    new = {"read": 2 * judged, "pairs": pairs, "rejected": rejected, "places": judged}
    new |= {"share": rejected / judged, "reasons": {}, "languages": {}, **means}
    return {"new": new, "lost": 0, "table": {"before": 10, "pairs": 10 + pairs}}


def broken(limits, tonight, before=()):
    """Return the names of the gates that a night breaks."""
    return [one["gate"] for one in gates.failed(gates.judge(limits, tonight, before))]


def test_a_mean_that_a_night_lacks_counts_as_zero():
    limits = gates.Gates(min_tags=0.5, min_compared=10)
    assert broken(limits, metrics(20, tags=1.0), [metrics(20, tags=1.1)]) == []
    assert broken(limits, metrics(20), [metrics(20, tags=1.1)]) == ["min_tags", "drift.tags"]
    assert broken(gates.Gates(min_compared=10), metrics(20), [metrics(20)]) == []
    assert broken(limits, metrics(0, 20), [metrics(0, 20, tags=1.1)]) == []


def test_only_new_pairs_decide_whether_nights_are_compared():
    limits = gates.Gates(min_compared=30)
    before = [metrics(40)]
    assert broken(limits, metrics(10, 10), before) == []
    assert broken(limits, metrics(20, 20), before) == ["drift.rejected"]


@pytest.mark.parametrize(("pairs", "passes"), [(9, False), (10, True), (40, True), (41, False)])
def test_the_number_of_new_pairs_is_compared_with_the_nights_before(pairs, passes):
    limits = gates.Gates(min_compared=5, max_count_factor=2)
    before = [metrics(count) for count in (20, 1_000, 10)]
    assert broken(limits, metrics(pairs), before) == ([] if passes else ["max_count_factor"])
    assert broken(gates.Gates(min_compared=5), metrics(pairs), before) == []


def test_a_reason_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="unknown reason too_lnog, did you mean too_long"):
        gates.read_gates({"max_reason": {"too_lnog": 0.1}})
    found = gates.read_gates({"max_reason": {"too_long": 0.1, "missing_field": 0}})
    assert found.max_reason == {"too_long": 0.1, "missing_field": 0.0}


def test_a_likelihood_has_a_limit_and_may_not_drop():
    before = [metrics(20, likelihood={"en-de": value}) for value in (-4.0, -4.2, -5.0)]
    tonight = metrics(20, likelihood={"en-de": -5.0, "en-nl": -7.0})
    limits = gates.Gates(min_likelihood=-6, max_likelihood_drop=0.7)
    assert limits.ask_likelihood
    assert not gates.Gates().ask_likelihood
    names = ["min_likelihood.en-nl", "max_likelihood_drop.en-de"]
    assert sorted(broken(limits, tonight, before)) == sorted(names)
    assert broken(gates.Gates(max_likelihood_drop=0.9), tonight, before) == []
    assert broken(limits, metrics(20), before) == []


def test_the_last_nights_of_enough_pairs_are_compared():
    limits = gates.Gates(min_compared=10, nights=2)
    small, good, bad = metrics(1), metrics(20), metrics(10, 10)
    assert broken(limits, good, [small, good, small, good, bad, bad, bad]) == []
    assert broken(limits, good, [small, bad, small, bad, good, good, good]) == ["drift.rejected"]


def test_the_last_nights_with_a_likelihood_are_compared():
    def night(value):
        return metrics(20, likelihood={} if value is None else {"en-de": value})

    limits = gates.Gates(max_likelihood_drop=0.5, nights=3)
    before = [night(value) for value in (None, -4.0, -4.0, None, -4.0, -6.0, -6.0, -6.0, -6.0)]
    assert broken(limits, night(-4.6), before) == ["max_likelihood_drop.en-de"]
    assert broken(limits, night(-4.4), before) == []
    assert broken(limits, night(-4.6), before[5:]) == []
    assert broken(limits, night(-4.6), before[:1]) == []


def test_a_migration_may_read_more_than_a_night():
    limits = gates.Gates(min_compared=5, max_count_factor=2, max_rejected=0.5)
    judged = gates.judge(limits, metrics(100), [metrics(10)], anew=True)
    assert gates.failed(judged) == []
    judged = gates.judge(limits, metrics(40, 60), [metrics(10)], anew=True)
    assert [one["gate"] for one in gates.failed(judged)] == ["max_rejected", "drift.rejected"]
