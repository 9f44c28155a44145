"""Counters: names for programs, each with what it counts."""

import re

import pytest

from pairweave.pipelines import cli
from pairweave.transforms.counts import counters
from pairweave.transforms.kernels.masks.mask_borders import OPERATIONS
from pairweave.transforms.links import aligner_agreement
from pairweave.transforms.rejects import Reject
from pairweave.transforms.suggestions.masks import METHODS
from pairweave.transforms.suggestions.suggestion_filters import RULE_NAMES


def test_names_are_short_and_for_programs():
    names = [*counters.COUNTERS, *counters.RULE_COUNTERS]
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", name) for name in names)
    assert max(map(len, names)) <= 52


def test_no_two_counters_read_the_same():
    told = [counters.about(name) for name in counters.COUNTERS]
    told += [counters.about(f"{kind}_script") for kind in counters.RULE_COUNTERS]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("name", counters.COUNTERS)
def test_a_counter_names_the_jobs_that_count_it(name):
    assert set(counters.COUNTERS[name].jobs.split(", ")) <= cli.JOBS


def test_what_suggest_counts_is_declared():
    assert METHODS == counters.SUGGESTING
    assert tuple(name.replace(" ", "_") for name in RULE_NAMES) == counters.MASK_RULES
    counters.check_declared([f"alignment_{operation}_examples" for operation in OPERATIONS])


def test_the_links_of_two_aligners_are_declared():
    counters.check_declared(aligner_agreement.NAMES)


@pytest.mark.parametrize("reason", Reject)
@pytest.mark.parametrize("kind", counters.RULE_COUNTERS)
def test_a_counter_of_a_rule_tells_rule_and_kind(kind, reason):
    name = counters.rule_counter(kind, reason)
    assert counters.of_rule(name) == (kind, reason)
    assert reason in counters.about(name)
    counters.check_declared([name])


@pytest.mark.parametrize("name", ["pairs kept", "would_reject_nothing_known", "tagged rows"])
def test_a_counter_that_is_not_declared_is_refused(name):
    with pytest.raises(ValueError, match=f"^{name}: a counter that "):
        counters.check_declared([name])
    assert counters.about(name) == name
