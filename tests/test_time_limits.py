"""A test that hangs fails by its time limit, and the tests after it run."""

import subprocess
import sys

import pytest

from tests import conftest
from tests.makers.runs import ROOT

HANGING = """
import time
from hypothesis import given, strategies

def test_that_hangs():
    time.sleep(60)

@given(strategies.just(1))
def test_with_examples_that_hangs(_one):
    time.sleep(60)

def test_behind_them():
    pass
"""


@pytest.mark.slow
def test_a_test_that_hangs_fails_and_the_others_run(tmp_path):
    (tmp_path / "test_hanging.py").write_text(HANGING)
    command = [sys.executable, "-m", "pytest", "-q", "--timeout=1", "--tb=no"]
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-c", str(ROOT / "pyproject.toml")]
    (tmp_path / "conftest.py").write_text("from tests.conftest import *  # noqa: F403\n")
    run = subprocess.run(
        [*command, *options, f"--rootdir={tmp_path}", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert "2 failed, 1 passed" in run.stdout


def test_every_test_has_a_time_limit_and_each_slower_suite_a_longer_one(request):
    usual = float(request.config.getini("timeout"))
    assert usual > 0
    for item in request.session.items:
        named = {mark.name for mark in item.iter_markers()}
        marker = item.get_closest_marker("timeout")
        if named & conftest.TIME_LIMITS.keys():
            assert marker is not None
            assert marker.args[0] >= usual
    longest = float(request.config.getini("faulthandler_timeout"))
    assert longest > max(conftest.TIME_LIMITS.values())


@pytest.mark.slow
def test_a_slow_test_has_the_limit_of_its_suite(request):
    assert request.node.get_closest_marker("timeout").args == (conftest.TIME_LIMITS["slow"],)
