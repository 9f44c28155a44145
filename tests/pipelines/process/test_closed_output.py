"""A command whose output cannot be written ends with a documented status, in one line at most."""

import contextlib
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
    assert done.returncode == 141
    assert done.stderr == "usual end\n"  # of the launcher, which has no threads


@pytest.mark.parametrize("command", ["preview", "cluster"])  # in a process of its own, and not
def test_a_broken_pipe_to_another_process_is_not_taken_for_a_reader_that_left(command):
    script = SCRIPT.replace('"preview"', repr(command))
    script = script.replace("BrokenPipeError", "BrokenPipeError(32, 'gone')")
    started = [sys.executable, "-c", script]
    done = subprocess.run(started, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "pairweave: [Errno 32] gone" in done.stderr.splitlines()


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
    assert (done.returncode, done.stderr) == (141, "")


JOB = """
import sys
from pairweave.pipelines import cli
from pairweave.pipelines.process import terminal

def work(words):
    terminal.warn("a line of the log")
    sys.stdout.write("said → und ü\\n")
    if "fail" in words:
        raise cli.ConfigError("wrong")
    return 0

cli._program = work
sys.exit(cli.main())
"""
STARTED = [sys.executable, "-c", JOB, "preview"]


@contextlib.contextmanager
def unwritable(kind):
    """Open a pipe without a reader, or a device without room."""
    if kind == "full":
        output = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, output = os.pipe()
        os.close(reader)
    yield output
    os.close(output)


@pytest.mark.parametrize(("kind", "status"), [("full", 2), ("closed", 141)])
@pytest.mark.parametrize("command", ["preview", "cluster"])  # in a process of its own, and not
def test_standard_output_that_cannot_be_written_is_at_most_one_line(kind, status, command):
    with unwritable(kind) as output:
        started = [*STARTED[:-1], command]
        done = subprocess.run(
            started, stdout=output, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert done.returncode == status
    first, *others = done.stderr.splitlines()
    assert first == "a line of the log"
    assert len(others) == (kind == "full")
    assert all("standard output" in line and "No space left" in line for line in others)


@pytest.mark.parametrize("kind", ["full", "closed"])
@pytest.mark.parametrize("command", ["preview", "cluster"])
@pytest.mark.parametrize(("more", "status"), [((), 0), (("fail",), 2)])
def test_a_log_that_cannot_be_written_changes_no_status(kind, command, more, status):
    with unwritable(kind) as output:
        started = [*STARTED[:-1], command, *more]
        done = subprocess.run(
            started, stdout=subprocess.PIPE, stderr=output, check=False, timeout=60
        )
    assert done.returncode == status


def test_marks_that_the_encoding_of_the_output_lacks_are_shown_by_their_numbers():
    done = subprocess.run(
        STARTED,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, b"said \\u2192 und \\xfc\n")
