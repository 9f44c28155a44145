"""Tests do not wait for the disk, nor do commands that they fork."""

import os
import subprocess
import sys

from tests.makers import quick_disk, runs


def test_this_process_does_not_wait_and_says_so_to_those_it_starts(tmp_path):
    with (tmp_path / "file").open("w") as file:
        file.write("text")
        assert os.fsync(file.fileno()) is None
    os.fsync(-1)  # no file is asked
    assert quick_disk.environment()


def test_a_process_follows_the_one_that_has_started_it():
    code = "import os; from tests.makers import quick_disk as q; q.follow(); os.fsync(-1)"
    command = [sys.executable, "-c", code]
    waiting = {key: value for key, value in os.environ.items() if "QUICK_DISK" not in key}
    for variables, status in ((quick_disk.environment(), 0), ({}, 1)):
        done = subprocess.run(
            command, cwd=runs.ROOT, env={**waiting, **variables}, capture_output=True, check=False
        )
        assert done.returncode == status
