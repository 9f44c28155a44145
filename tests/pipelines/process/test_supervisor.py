"""The end of the process that does the work of a command."""

import functools
import os
import subprocess
import sys

import pytest

from tests.makers.runs import ROOT

PROGRAM = """
import atexit, sys
from pairweave.pipelines.process import supervisor

def work():
    atexit.register(print, "left")
    print("said")
    return 3

sys.exit(supervisor.run(work))
"""


@pytest.mark.parametrize(("output", "status"), [("pipe", 3), ("/dev/full", 120)])
def test_all_that_was_printed_is_written_or_the_status_says_it_was_not(output, status):
    command = [sys.executable, "-c", PROGRAM]
    buffered = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    start = functools.partial(subprocess.run, command, cwd=ROOT, check=False, env=buffered)
    if output == "pipe":
        done = start(stdout=subprocess.PIPE, text=True)
        assert done.stdout == "said\nleft\n"
    else:
        with open(output, "w") as full:  # noqa: PTH123
            done = start(stdout=full)
    assert done.returncode == status
