"""A pytest plugin that records which tests run each line, and how long each test takes.

The lines go to coverage's contexts, one context a test; the CPU seconds of each test that passes
go to the JSON file that the environment variable ``MUTANTS_TIMES`` names.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

_seconds: dict[str, float] = {}
_failed: set[str] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Charge what runs now to this test."""
    measured = coverage.Coverage.current()
    assert measured is not None
    measured.switch_context(item.nodeid)
    began = time.process_time()
    try:
        return (yield)
    finally:
        _seconds[item.nodeid] = time.process_time() - began
        measured.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note what does not pass."""
    if not report.passed:
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write the seconds of each test that passed."""
    passed = {name: spent for name, spent in _seconds.items() if name not in _failed}
    Path(os.environ["MUTANTS_TIMES"]).write_text(json.dumps(passed, indent=0))
