"""A runner's server ends with the script that Beam starts, however the script ends."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pairweave.pipelines.engines import engine_scripts, server_process

IGNORING = 'trap "" INT; exec "$0" "$@"'
"""Starts a program as `nohup PROGRAM &` does in a script: below it no shell can trap SIGINT."""


class Server:
    """A server that sleeps, and the script that Beam would start for it."""

    def __init__(self, directory: Path, before: str = ":") -> None:
        self._note = directory / "note"
        path = directory / "a server"
        path.write_text(
            f'#!/bin/sh\n{before}\necho $$ "$@" > {self._note}\nexec sleep 60\n',
            encoding="utf-8",
        )
        path.chmod(0o755)
        self.script = str(engine_scripts.write_launcher(directory / "script", str(path)))

    def started(self) -> list[str]:
        """Wait until it runs; return its process id and its arguments."""
        wait_for(lambda: self._note.exists() and self._note.read_text().endswith("\n"))
        return self._note.read_text().split()

    def alive(self) -> bool:
        try:
            os.kill(int(self.started()[0]), 0)
        except ProcessLookupError:
            return False
        return True


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    yield made
    if made.alive():
        os.kill(int(made.started()[0]), signal.SIGKILL)


def test_a_server_ends_with_the_program_that_started_it(server):
    """A launcher that is killed cannot tell its servers to stop."""
    launcher = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess; subprocess.run(['{server.script}', 'a  b'])"]
    )
    assert server.started()[1:] == ["a", "b"]
    launcher.kill()
    launcher.wait()
    wait_for(lambda: not server.alive())


@pytest.mark.parametrize("before", [[], ["/bin/sh", "-c", IGNORING]], ids=["plain", "nohup"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_when_beam_interrupts_it(server, before, number):
    process = subprocess.Popen([*before, server.script])
    server.started()
    process.send_signal(number)
    assert process.wait(timeout=10) == 128 + signal.SIGTERM
    assert not server.alive()


def test_a_server_ends_when_its_script_is_killed(server):
    process = subprocess.Popen([server.script])
    server.started()
    process.kill()
    process.wait()
    wait_for(lambda: not server.alive())


@pytest.mark.slow
@pytest.mark.parametrize("ignoring", [False, True])
def test_a_terminal_interrupts_a_server_only_if_it_interrupts_its_caller(server, ignoring):
    number, terminal = pty.fork()
    if not number:
        signal.signal(signal.SIGINT, signal.SIG_IGN if ignoring else signal.SIG_DFL)
        os.execv(server.script, [server.script])
    try:
        server.started()
        os.write(terminal, b"\x03")
        if ignoring:
            time.sleep(2 * server_process.WATCH_SECONDS)
            assert server.alive()
            os.kill(number, signal.SIGINT)
        wait_for(lambda: not server.alive())
    finally:
        os.close(terminal)
        os.waitpid(number, 0)


def test_a_server_that_does_not_end_when_told_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(server_process, "GRACE_SECONDS", 0.1)
    server = Server(tmp_path, "trap '' TERM")
    process = subprocess.Popen([tmp_path / "a server"])
    server.started()
    assert server_process._end(process) == 128 + signal.SIGKILL


def test_the_status_of_a_server_that_ends_by_itself_is_passed_on(tmp_path):
    Server(tmp_path, "exit 3")
    script = engine_scripts.write_launcher(tmp_path / "script", str(tmp_path / "a server"))
    assert subprocess.run([script], check=False, timeout=10).returncode == 3
    assert engine_scripts.exit_of(script) == 3


def test_a_server_that_is_killed_leaves_a_note_of_the_signal(server):
    process = subprocess.Popen([server.script])
    os.kill(int(server.started()[0]), signal.SIGKILL)
    assert engine_scripts.exit_of(Path(server.script), seconds=10) == -signal.SIGKILL
    assert process.wait(timeout=10) == 128 + signal.SIGKILL


def test_a_server_that_was_asked_to_end_leaves_no_note(server):
    process = subprocess.Popen([server.script])
    server.started()
    process.terminate()
    process.wait(timeout=10)
    assert engine_scripts.exit_of(Path(server.script)) is None


def wait_for(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited 20 s in vain"
        time.sleep(0.05)
