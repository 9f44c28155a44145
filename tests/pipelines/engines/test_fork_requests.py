"""A runner's process and the worker that is forked for it end together."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pairweave.pipelines.engines import engine_scripts, fork_client
from tests.makers import runs, terminals

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are forked on Linux only"
)

SECONDS = 20

LAUNCHER = """
import os, sys, time
from pathlib import Path
from pairweave.pipelines.engines import fork_requests
from pairweave.pipelines.engines.local import forks, worker

def act(arguments):
    if "--end" in arguments:
        return 3
    if "--say" in arguments:
        print(arguments[:-1], os.pread(int(arguments[-1].removeprefix("--file=")), 99, 0).decode())
        print("a complaint", file=sys.stderr)
        return 0
    worker._end_with_parent(0.05)
    print(os.getpid(), flush=True)
    time.sleep(60)

if sys.argv[2] == "server":
    forks.allow()
    forks.prepare(act)
with fork_requests.listening(Path(sys.argv[1])) as address:
    print(address, forks._server and forks._server.pid, flush=True)
    sys.stdin.readline()
print("closed", flush=True)
time.sleep(60)
"""

MODULE = """
import os, sys
print("program", sys.argv[1:], os.pread(9, 99, 0).decode())
sys.exit(5)
"""


class Launcher:
    """A process that forks workers on request, or has no server for that."""

    def __init__(self, directory: Path, server: str = "server") -> None:
        self._directory = directory
        (directory / "a_worker.py").write_text(MODULE, encoding="utf-8")
        (directory / "shared").write_text("a table", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, directory, server],
            cwd=runs.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address, self.server = self.process.stdout.readline().split()
        self.clients: list[subprocess.Popen[str]] = []

    def client(self, *words: str, before: str = "exec") -> "subprocess.Popen[str]":
        """Start a client as a runner does."""
        client = [sys.executable, *engine_scripts.QUICK, fork_client.__file__]
        client += [self.address, "a_worker", str(engine_scripts.WORKER_FILE), *words]
        shared = f"{engine_scripts.WORKER_FILE}<>{self._directory / 'shared'}"
        process = subprocess.Popen(
            ["/bin/sh", "-c", f'{before} "$@" {shared}', "sh", *client],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(self._directory)},
        )
        self.clients.append(process)
        return process

    def worker(self, before: str = "exec") -> "tuple[subprocess.Popen[str], int]":
        """Start a client whose worker goes on; return it and the worker's process id."""
        client = self.client("--id=1-1", before=before)
        return client, int(client.stdout.readline())

    def close(self) -> None:
        """Kill everything."""
        for process in (self.process, *self.clients):
            process.kill()
            process.communicate()


@pytest.fixture(params=["", "x" * 120], ids=["short name", "long name"])
def launcher(tmp_path, request):
    directory = tmp_path / f"folder{request.param}"
    directory.mkdir(mode=0o700)
    made = Launcher(directory)
    yield made
    made.close()


def gone(pid: int) -> bool:
    return terminals.until(lambda: not terminals.alive([pid]), SECONDS)


def test_a_worker_has_the_arguments_the_file_and_the_output_of_its_client(launcher):
    client = launcher.client("--id='1-1'", "--say", "a  b")
    assert client.communicate(timeout=SECONDS) == (
        "[\"--id='1-1'\", '--say', 'a  b'] a table\n",
        "a complaint\n",
    )
    assert client.returncode == 0


def test_a_client_ends_with_the_status_of_its_worker(launcher):
    assert launcher.client("--end").wait(SECONDS) == 3


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_a_client_ends_by_the_signal_that_ended_its_worker(launcher, number):
    client, worker = launcher.worker()
    other, others = launcher.worker()
    os.kill(worker, number)
    assert client.wait(SECONDS) == -number
    assert other.poll() is None
    assert terminals.alive([others])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_is_killed_with_its_client(launcher, number):
    client, worker = launcher.worker()
    _, other = launcher.worker()
    client.send_signal(number)
    assert gone(worker)
    assert terminals.alive([other])


def test_a_worker_is_killed_when_the_runner_is_gone(launcher):
    runner, worker = launcher.worker(before="")  # the shell stays, and the client is its child
    runner.kill()
    assert gone(worker)


def test_a_client_and_its_worker_end_with_the_launcher(launcher):
    client, worker = launcher.worker()
    launcher.worker()  # by then the launcher has told the first client that its worker is there
    launcher.process.kill()
    assert client.wait(SECONDS) == 1
    assert gone(worker)


def test_the_workers_have_ended_when_the_launcher_stops_listening(launcher):
    client, worker = launcher.worker()
    launcher.process.stdin.write("\n")
    launcher.process.stdin.flush()
    assert launcher.process.stdout.readline() == "closed\n"
    assert not terminals.alive([worker])
    assert client.wait(SECONDS) == -signal.SIGKILL
    assert not Path(launcher.address).parent.exists()  # no descriptor is left


def becomes_the_program(client):
    output, errors = client.communicate(timeout=SECONDS)
    assert (output, errors) == ("program ['--file=9', '--id=1-1'] a table\n", "")
    assert client.returncode == 5


def test_a_client_becomes_the_worker_when_nobody_listens(launcher):
    launcher.process.kill()
    launcher.process.wait()
    becomes_the_program(launcher.client("--id=1-1"))


def test_a_client_becomes_the_worker_when_the_server_of_forks_is_gone(launcher):
    client, worker = launcher.worker()
    os.kill(int(launcher.server), signal.SIGKILL)
    assert client.wait(SECONDS) == -signal.SIGKILL
    assert gone(worker)
    becomes_the_program(launcher.client("--id=1-1"))


def test_a_client_becomes_the_worker_when_there_is_no_server_of_forks(tmp_path):
    launcher = Launcher(tmp_path, "no server")
    try:
        becomes_the_program(launcher.client("--id=1-1"))
    finally:
        launcher.close()
