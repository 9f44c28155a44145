"""Notices about reasons for which more than a few pairs were rejected."""

import dataclasses
from collections import Counter

import pyarrow as pa
import pytest

from pairweave.transforms.filtering.rules import RULES
from pairweave.transforms.output.receipt_sums import ShardFacts, no_sums
from pairweave.transforms.report.rejected_files import MostlyRejected
from pairweave.transforms.report.rejected_languages import RATIO_ADVICE
from pairweave.transforms.report.rejected_shares import share_notices


class FakeRun:
    """A run whose rejects are given by their reasons and details."""

    def __init__(self, rejects, job="augment", **settings):
        self.job, self.settings = job, settings
        self.rejects = rejects

    def rejects_name(self, shard):
        return shard

    def table(self, shard, columns):
        rows = self.rejects if shard == 0 else []
        reasons = pa.array([reason for reason, _ in rows], pa.string()).dictionary_encode()
        details = pa.array([detail for _, detail in rows], pa.string())
        return pa.table([reasons, details], names=columns)


def sums(rows, rejects):
    result = no_sums(0)
    reasons = Counter(reason for reason, _ in rejects)
    result.rejected.update({("a", "screen", reason): n for reason, n in reasons.items()})
    facts = [ShardFacts(shard, rows // 2, frozenset(reasons), None) for shard in range(2)]
    return dataclasses.replace(result, kept=rows - len(rejects), shards=facts)


def notices(rows, rejects, **settings):
    return share_notices(FakeRun(rejects, **settings), sums(rows, rejects))


def test_one_pair_in_twenty_is_not_yet_said():
    rejects = [("length_ratio", "8 : 2 words, ratio 4.00 > 3")] * 5
    assert notices(100, rejects, max_ratio=3.0) == []
    (said,) = notices(98, rejects, max_ratio=3.0)
    assert said.startswith("5 of 98 pairs (5%) were rejected as length_ratio (--max_ratio 3)")


def test_the_nearest_round_limit_that_rejects_half_as_many_is_named_with_its_number():
    rejects = [("too_long", f"{length} tokens > 50") for length in (55, 70, 90, 95, 110, 300)]
    (said,) = notices(60, rejects, max_tokens=50)
    # Of 60, 80, 100 and so on, 100 is the first that at most three of the six exceed.
    assert said.endswith("(--max_tokens 50); --max_tokens 100 would reject about 2")


def test_a_ratio_says_what_to_do_besides():
    rejects = [("length_ratio", "8 : 2 words, ratio 4.00 > 3")] * 30
    (said,) = notices(60, rejects, max_ratio=3.0)
    assert "--max_ratio 4 would reject about 0" in said
    assert said.endswith(RATIO_ADVICE)


def test_a_minimum_of_filter_is_lowered():
    rejects = [("script", f"source_script {share}, target_script 0.2 < 0.5") for share in (0.1, 1)]
    (said,) = notices(20, rejects, job="filter", min_script=0.5)
    assert said.endswith("(--min_script 0.5); --min_script 0.2 would reject about 0")


def test_a_rule_of_the_block_is_named_with_the_block():
    rejects = [("end_mismatch", "end_mismatch 0.5 > 0.2")] * 9
    (said,) = notices(20, rejects, filter={"max_end_mismatch": 0.2})
    assert "(filter: max_end_mismatch 0.2); filter: max_end_mismatch 0.5 would" in said


@pytest.mark.parametrize("reason", ["duplicate", "no_phrase_pair"])
def test_a_reason_without_a_limit_has_its_number_alone(reason):
    assert notices(20, [(reason, None)] * 2) == [f"2 of 20 pairs (10%) were rejected as {reason}"]


def test_what_the_user_asked_to_leave_out_and_tiny_runs_are_not_said():
    assert notices(20, [("low_score", "0.1 < 0.5")] * 12) == []
    assert notices(19, [("duplicate", None)] * 12) == []


def test_the_limit_of_each_rule_is_named_after_its_reason():
    names = {rule.option for rule in RULES}
    assert names == {f"{'min' if rule.least else 'max'}_{rule.reason}" for rule in RULES}


def test_files_that_lost_most_of_their_pairs_for_the_reason_are_named_with_it():
    rejects = [("too_long", "90 tokens > 50")] * 9
    places = [
        MostlyRejected("a", 10, 8, "too_long", 7),
        MostlyRejected("b", 10, 8, "script", 7),
        MostlyRejected("all", 20, 11, "too_long", 9),  # the run has no other file
    ]
    run = FakeRun(rejects, max_tokens=50)
    (said,) = share_notices(run, sums(20, rejects), places)
    assert "(--max_tokens 50), among them 7 of the 10 of a; --max_tokens 100" in said
    (said,) = share_notices(run, sums(20, rejects), places[1:])
    assert "among" not in said


def test_of_many_such_files_the_first_are_named():
    rejects = [("duplicate", None)] * 18
    places = [MostlyRejected(f"f{n}", 4, 4, "duplicate", 3) for n in range(5)]
    (said,) = share_notices(FakeRun(rejects), sums(20, rejects), places)
    assert said.endswith("3 of the 4 of f2, most of 2 more files or parts of files")
