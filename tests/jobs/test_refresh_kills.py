"""Nights of ``refresh`` that are killed at any moment: the next run commits once, and the same."""

import contextlib
import os
import shutil
import signal
import time

import numpy as np
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.transforms.storage import files
from tests.makers import nightly, runs

pytestmark = pytest.mark.slow

COMMAND = ("refresh", "--config", "nightly.yaml", "--output", "table", "--accept", "a test")
NAMES = ("tagged", "provenance", "rejects", "files")
STOPS = 8
"""Moments at which a night is stopped between two writes, spread over all of its writes."""


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """Return a table and the files of its second night: new, changed, moved and gone ones."""
    directory = tmp_path_factory.mktemp("before")
    nightly.write_news(directory, "a", range(300))
    nightly.write_news(directory, "b", range(300, 400))
    nightly.write_help(directory, "one", range(280, 340))
    nightly.write_help(directory, "two", range(500, 520))
    nightly.write_config(directory)
    nightly.good_night(directory)
    nightly.write_news(directory, "a", range(20, 330))
    nightly.write_help(directory, "three", range(600, 700), ["\tohne Quelle"])
    (directory / "help/one.tsv").rename(directory / "help/1.tsv")
    (directory / "help/two.tsv").unlink()
    return directory


def copy_of(before, directory):
    shutil.copytree(before, directory)
    return directory


def state(directory):
    """Return the rows of every table and the versions."""
    table = directory / "table"
    rows = {name: nightly.rows(table, name, left_out=()) for name in NAMES}
    return rows, nightly.versions(table)


@pytest.fixture(scope="module")
def expected(before, tmp_path_factory):
    """Return the state after an undisturbed second night, and its seconds as a process."""
    directory = copy_of(before, tmp_path_factory.mktemp("undisturbed") / "copy")
    runs.run_well("--version")  # the first start takes longer
    started = time.monotonic()
    runs.run_well(*COMMAND, cwd=directory)
    return state(directory), time.monotonic() - started


def check(directory, expected):
    runs.run_well_here(*COMMAND, cwd=directory)
    assert state(directory) == expected
    runs.run_well_here("refresh", "verify", "table", cwd=directory)
    assert "nothing has changed since night 2" in runs.run_well_here(*COMMAND, cwd=directory)


@pytest.mark.timeout(3600)
def test_a_night_killed_at_any_moment_is_committed_once(before, expected, tmp_path, pytestconfig):
    wanted, seconds = expected
    moments = np.random.default_rng(1).uniform(0.2, 1.0, pytestconfig.getoption("--kills"))
    for number, share in enumerate(moments):
        directory = copy_of(before, tmp_path / str(number))
        process = runs.start(*COMMAND, cwd=directory)
        time.sleep(share * seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        runs.kill_group(process)
        check(directory, wanted)
        shutil.rmtree(directory)


class _StoppedError(BaseException):
    """Stands for the end of the process, after which nothing is written."""


def stopping(monkeypatch, at):
    """Let no write succeed from a certain one on; return the number of writes."""
    count = [0]
    write, create = files.write_bytes, files.create

    def counted(done):
        def wrapped(path, data):
            count[0] += 1
            if at and count[0] >= at:
                raise _StoppedError
            return done(path, data)

        return wrapped

    monkeypatch.setattr(files, "write_bytes", counted(write))
    monkeypatch.setattr(files, "create", counted(create))
    return count


def test_a_night_stopped_before_any_of_its_writes_is_committed_once(
    before, expected, tmp_path, monkeypatch
):
    wanted, _ = expected
    directory = copy_of(before, tmp_path / "whole")
    count = stopping(monkeypatch, 0)
    runs.run_well_here(*COMMAND, cwd=directory)
    monkeypatch.undo()
    assert count[0] > STOPS
    for at in np.unique(np.linspace(1, count[0], STOPS).astype(int)).tolist():
        directory = copy_of(before, tmp_path / str(at))
        stopping(monkeypatch, at)
        status = None
        with contextlib.suppress(_StoppedError):
            status, _, _ = runs.run_here(*COMMAND, "--attempts", 1, cwd=directory)
        monkeypatch.undo()
        assert status != 0
        check(directory, wanted)
