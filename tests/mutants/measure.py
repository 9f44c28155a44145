"""Finds out which lines each test runs, and how much CPU time it takes."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import coverage
import pytest
from hypothesis import Phase, settings

from tests.mutants.modules import FOLDERS

# As `unit` of `tests/conftest.py`, but that no failure is made smaller: that takes long.
_PHASES = (Phase.explicit, Phase.generate)
settings.register_profile("mutants", max_examples=30, deadline=None, phases=_PHASES)

OPTIONS = [
    *("-q", "--no-header", "--tb", "line", "-p", "no:cacheprovider"),
    *("--hypothesis-seed", "0", "--hypothesis-profile", "mutants"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
    *("-W", "ignore::RuntimeWarning"),  # an integer of Python's that wraps
]
_MAX_SECONDS = 8.0
"""CPU time of one test, with what it starts; if it takes longer while it is measured, it is not
used."""


class TakesTooLong(BaseException):
    """Unlike a failure, Hypothesis does not try to see it again."""


class _Reach:
    """A pytest plugin that charges each line to the test that runs it."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.measured.switch_context(item.nodeid)
        began = _cpu_seconds()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = _cpu_seconds() - began
            self.measured.switch_context("")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        signal.signal(signal.SIGPROF, _stop)
        signal.setitimer(signal.ITIMER_PROF, _MAX_SECONDS, 1.0)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def _stop(_number: int, frame: FrameType | None) -> None:
    # Inside coverage an exception would leave its lock taken; the timer comes again in a second.
    if frame is None or "coverage" not in Path(frame.f_code.co_filename).parts:
        raise TakesTooLong


def measure(tests: list[str], result: Path) -> int:
    """Run tests in the current directory; write which pass, their CPU seconds and their lines."""
    measured = coverage.Coverage(data_file=None, source=[*FOLDERS], config_file=False)
    reach = _Reach(measured)
    measured.start()
    pytest.main([*OPTIONS, "--timeout", "300", *tests], plugins=[reach])
    measured.stop()
    passed = {
        test: spent
        for test, spent in reach.seconds.items()
        if test not in reach.failed and spent < 2 * _MAX_SECONDS
    }
    data, tree = measured.get_data(), Path.cwd().resolve()
    lines = {
        str(Path(name).relative_to(tree)): {
            line: sorted(passed.keys() & tests)
            for line, tests in data.contexts_by_lineno(name).items()
        }
        for name in data.measured_files()
    }
    result.write_text(json.dumps({"seconds": passed, "lines": lines}))
    return 0
