"""The end of the process that does the work of a command."""

import functools
import os
import signal
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


ENDED = """
import os, signal, subprocess, sys, tempfile
from pathlib import Path
from pairweave.pipelines.process import supervisor

def work():
    Path(tempfile.mkdtemp(), "spilled").touch()
    with open("below", "w") as pid:
        pid.write(str(subprocess.Popen(["sleep", "60"], start_new_session=True).pid))
    number = int(sys.argv[1])
    if number:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.pause()
    return 0

sys.exit(supervisor.run(work))
"""
AGAIN = "run the same command again to continue"


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (0, ""),
        (signal.SIGKILL, "killed (signal 9): the machine may have run out of memory; "),
        (signal.SIGSEGV, "ended by SIGSEGV; "),
        (signal.SIGTERM, "ended by SIGTERM; "),
        (signal.SIGPIPE, ""),
    ],
)
def test_however_a_worker_ends_it_is_said_and_nothing_is_left(tmp_path, number, message):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", ENDED, str(int(number))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"pairweave: {message}{AGAIN}\n" if message else ""
    assert (done.returncode, done.stderr) == (number and 128 + number, said)
    assert not list(temporary.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "below").read_text()), 0)
