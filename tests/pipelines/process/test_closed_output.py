"""A command whose reader has left ends quietly, and without the end of an interpreter."""

import os
import subprocess
import sys

import pytest

from pairweave.pipelines.commands import coloured_pairs
from pairweave.pipelines.process import supervisor

SCRIPT = """
import atexit, os, sys
from pairweave.pipelines import cli

def work(words):
    raise BrokenPipeError

cli._program = work
atexit.register(os.write, 2, b"usual end\\n")
sys.argv = ["pairweave", "preview", "out"]
sys.exit(cli.main())
"""


class Closed:
    """A stream whose reader has left."""

    encoding = "utf-8"

    def write(self, _text):
        raise BrokenPipeError

    flush = write_through = write

    def isatty(self):
        return False

    def fileno(self):
        return sys.__stdout__.fileno()


def test_pairs_for_a_reader_that_has_left_are_a_broken_pipe(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        coloured_pairs.show([{"source": "a", "target": "b"}])


@pytest.mark.skipif(sys.platform != "linux", reason="only there a worker is supervised")
def test_a_worker_whose_reader_has_left_skips_the_usual_end_of_a_process():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == "usual end\n"  # of the launcher, which has no threads


def test_only_a_worker_is_left_at_once():
    assert supervisor.leave(7) is None


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_for_a_reader_that_has_left_says_nothing(word):
    reader, writer = os.pipe()
    os.close(reader)
    started = f"import sys; from pairweave.pipelines import start; sys.argv[1:] = [{word!r}]; "
    program = [sys.executable, "-c", f"{started}sys.exit(start.main())"]
    done = subprocess.run(
        program, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")
