"""The number of threads that count, each with its own counters."""

import pytest

from pairweave.models.hmm import training


@pytest.mark.parametrize(
    ("entries", "expected"), [(0, 8), (1, 8), (2, 8), (4, 4), (5, 3), (8, 2), (9, 1), (1 << 40, 1)]
)
def test_threads_share_the_memory_of_counters(monkeypatch, entries, expected):
    monkeypatch.setattr(training, "MAX_COUNTER_BYTES", 128)
    assert training._counting_threads(8, entries) == expected
