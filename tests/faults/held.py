"""Processes that a fault holds until they are let go; see ``faults_at_import/sitecustomize.py``."""

import os
import signal
import time

from tests.makers import runs


def await_held(directory, process):
    """Wait until a worker of a run is held; return its number."""
    deadline = time.monotonic() + runs.SECONDS
    while not (directory / "met0").exists():
        assert process.poll() is None, process.communicate()[1][-3000:]
        assert time.monotonic() < deadline, "no worker reached the fault"
        time.sleep(0.02)
    return int((directory / "met0").read_text())


def let_go(directory):
    """Let a held worker go on."""
    (directory / "met0.go").touch()


def kill_launcher(directory, process):
    """Wait until a worker of a run is held, then kill the launcher."""
    await_held(directory, process)
    os.kill(process.pid, signal.SIGKILL)
