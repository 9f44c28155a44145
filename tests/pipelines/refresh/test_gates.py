"""The quality gates of a night, on metrics made by hand; and which nights they compare."""

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.refresh import gates
from pairweave.transforms.errors import ConfigError
from tests.makers import nightly

HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


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


@pytest.mark.parametrize(("rejected", "passes"), [(90, True), (91, False)])
def test_a_drift_that_is_equal_to_the_limit_is_allowed(rejected, passes):
    limits = gates.Gates(min_compared=10, max_drift=0.2)
    actual = broken(limits, metrics(100 - rejected, rejected), [metrics(30, 70)])
    assert actual == ([] if passes else ["drift.rejected"])


@pytest.mark.parametrize(
    ("tags", "passes"), [(3.19, False), (3.2, True), (4.8, True), (4.9, False)]
)
def test_the_drift_of_a_mean_is_a_share_of_what_it_was(tags, passes):
    limits = gates.Gates(min_compared=10, max_drift=0.2)
    actual = broken(limits, metrics(20, tags=tags), [metrics(20, tags=4.0)])
    assert actual == ([] if passes else ["drift.tags"])
    assert broken(limits, metrics(20, tags=tags), [metrics(20, tags=0.0)]) == []


def test_only_new_pairs_decide_whether_nights_are_compared():
    limits = gates.Gates(min_compared=30)
    before = [metrics(40)]
    assert broken(limits, metrics(10, 10), before) == []
    assert broken(limits, metrics(20, 20), before) == ["drift.rejected"]
    assert broken(limits, metrics(15, 15), [metrics(30)]) == ["drift.rejected"]
    assert broken(limits, metrics(15, 15), [metrics(29)]) == []


@pytest.mark.parametrize(("pairs", "passes"), [(9, False), (10, True), (40, True), (41, False)])
def test_the_number_of_new_pairs_is_compared_with_the_nights_before(pairs, passes):
    limits = gates.Gates(min_compared=5, max_count_factor=2)
    before = [metrics(count) for count in (20, 1_000, 10)]
    assert broken(limits, metrics(pairs), before) == ([] if passes else ["max_count_factor"])
    assert broken(gates.Gates(min_compared=5), metrics(pairs), before) == []


def test_a_reason_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="unknown reason too_lnog, did you mean too_long"):
        gates.read_gates({"max_reason": {"too_lnog": 0.1}})
    actual = gates.read_gates({"max_reason": {"too_long": 0.1, "missing_field": 0}})
    assert actual.max_reason == {"too_long": 0.1, "missing_field": 0.0}


@pytest.mark.parametrize(("share", "passes"), [(0.1, True), (0.11, False)])
def test_pairs_rejected_for_a_reason_have_a_limit(share, passes):
    limits = gates.read_gates({"max_reason": {"too_long": 0.1, "identical": 0}})
    tonight = metrics(20, reasons={"too_long": share, "length_ratio": 0.5})
    assert broken(limits, tonight) == ([] if passes else ["max_reason.too_long"])


def test_a_table_may_lose_no_more_pairs_and_have_no_fewer_than_its_limits():
    tonight = {**metrics(20), "lost": 2}  # of ten before; thirty afterwards
    assert broken(gates.Gates(max_removed=0.2, min_pairs=30), tonight) == []
    limits = gates.Gates(max_removed=0.19, min_pairs=31)
    assert broken(limits, tonight) == ["max_removed", "min_pairs"]


@pytest.mark.parametrize(("lines", "passes"), [(4, True), (5, False)])
def test_lines_with_a_kind_of_findings_have_a_limit(lines, passes):
    limits = gates.read_gates({"max_findings": {"misaligned": 4, "moved": 0}})
    actual = broken(limits, metrics(20, findings={"misaligned": lines, "encoding": 9}), [])
    assert actual == ([] if passes else ["max_findings.misaligned"])
    assert broken(limits, metrics(20), []) == []


@pytest.mark.parametrize("kind", ["no_letters", "other_columns", "header"])
def test_columns_that_hold_no_text_have_a_limit(kind):
    limits = gates.read_gates({"max_findings": {kind: 0}})
    assert broken(limits, metrics(20, findings={kind: 1}), []) == [f"max_findings.{kind}"]


@pytest.mark.parametrize("limits", [{"max_removed": True}, {"max_findings": {"moved": False}}])
def test_a_switch_is_no_limit(limits):
    (name,) = limits
    with pytest.raises(ConfigError, match=f"gates.{name}: expected a number; yes, no, on, off"):
        gates.read_gates(limits)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("max_rejected", 1.1), ("max_removed", -0.1), ("min_pairs", -1), ("min_tags", -0.1)),
        *(("min_likelihood", 0), ("max_likelihood_drop", 0), ("max_count_factor", 0.9)),
        *(("nights", -1), ("min_compared", 0), ("max_drift", 0), ("max_language_drift", 1.1)),
    ],
)
def test_a_limit_out_of_its_range_is_refused(name, value):
    with pytest.raises(ConfigError, match=rf"^gates\.{name}: .*got {value}$"):
        gates.read_gates({name: value})


def test_a_kind_of_findings_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="unknown kind misalinged, did you mean misaligned"):
        gates.read_gates({"max_findings": {"misalinged": 0}})


def test_a_likelihood_has_a_limit_and_may_not_drop():
    before = [metrics(20, likelihood={"en-de": value}) for value in (-4.0, -4.2, -5.0)]
    tonight = metrics(20, likelihood={"en-de": -5.0, "en-nl": -7.0})
    limits = gates.Gates(min_likelihood=-6, max_likelihood_drop=0.7)
    assert gates.Gates(min_likelihood=-6).ask_likelihood
    assert gates.Gates(max_likelihood_drop=0.7).ask_likelihood
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
    assert broken(limits, good, [small, small, bad, bad, good, good, good]) == ["drift.rejected"]


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


@pytest.mark.slow
def test_a_night_is_compared_with_the_last_nights_of_its_settings(tmp_path):
    def night(name, good, bad, *words, more=""):
        """Run a night of new pairs of which some are rejected; return its status."""
        head = "gates: {nights: 2, min_compared: 5, max_drift: 0.11}\n"
        nightly.write_config(tmp_path, more=head + more, of=HELP)
        rejected = [f"\tohne Quelle {name} {number}" for number in range(bad)]
        nightly.write_help(tmp_path, name, good, rejected)
        return nightly.night(tmp_path, *words)[0]

    assert night("a", range(5), 5) == 0
    assert night("b", range(10, 20), 0) == 4  # half of the last night was rejected
    assert night("b", range(10, 20), 0, "--accept", "cleaner") == 0
    assert night("c", range(20, 30), 0, "--accept", "cleaner") == 0
    assert night("d", range(30, 40), 0) == 0  # as the last two nights, not as the first
    assert night("e", range(40, 45), 5) == 4
    changed = "max_tokens: 20\n"
    accepted = ("--migrate", "--accept", "other settings")
    assert night("e", range(40, 45), 5, *accepted, more=changed) == 0
    assert night("f", range(50, 57), 3, more=changed) == 0  # only the night of the migration counts
