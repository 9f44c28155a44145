"""How worker processes are started and what they log; sockets that only their user can reach."""

import logging
import os
import stat
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from pairweave.pipelines.engines.local import forks, local_sockets, worker


@pytest.fixture
def started(monkeypatch):
    """Return the commands that are started, none of which runs."""
    result = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **how: result.append((command, how)))
    monkeypatch.setattr(forks, "start", lambda *_: None)
    return result


def test_a_worker_is_told_where_its_runner_is_and_cannot_be_taken_for_a_folder_here(started):
    worker.start("worker-1", "control:1", "logs:2", "provision:3", file=7)
    ((command, how),) = started
    assert command[0] == sys.executable
    assert "-P" in command
    assert command[-5:] == [
        "--id=worker-1",
        "--control_endpoint=control:1",
        "--logging_endpoint=logs:2",
        "--provision_endpoint=provision:3",
        "--file=7",
    ]
    assert how["start_new_session"]
    assert list(how["pass_fds"]) == [7]
    path = how["env"]["PYTHONPATH"].split(os.pathsep)
    assert path == [entry or str(Path.cwd()) for entry in sys.path]


def test_a_worker_is_forked_where_that_can_be_done(started, monkeypatch):
    asked = []
    monkeypatch.setattr(forks, "start", lambda *words: asked.append(words) or "a fork")
    assert worker.start("worker-1", "control:1") == "a fork"
    arguments = ["--id=worker-1", "--control_endpoint=control:1"]
    arguments += ["--logging_endpoint=", "--provision_endpoint="]
    assert asked == [(arguments, [])]
    assert started == []


@pytest.mark.parametrize(
    ("name", "level", "shown"),
    [
        ("pairweave.run", logging.INFO, True),
        ("pairweave.run", logging.DEBUG, False),
        ("another.library", logging.WARNING, False),
        ("another.library", logging.ERROR, True),
    ],
)
def test_our_messages_and_the_errors_of_others_are_shown(name, level, shown):
    record = logging.LogRecord(name, level, "file", 1, "message", (), None)
    assert worker.Noise().filter(record) is shown


def test_a_worker_that_prism_ends_is_no_error():
    killed = "process failed while running, err: signal: killed"
    for name, shown in ((next(iter(worker.RUNNERS)), False), ("another.library", True)):
        record = logging.LogRecord(name, logging.ERROR, "file", 1, killed, (), None)
        assert worker.Noise().filter(record) is shown


def test_threads_whose_connection_ended_say_nothing_and_others_do():
    shown = []
    show = worker.leave_out_lost_connections(shown.append)
    for kind in (grpc.RpcError, ValueError):
        show(types.SimpleNamespace(exc_type=kind))
    assert [failed.exc_type for failed in shown] == [ValueError]
    assert threading.excepthook is not show


@pytest.mark.parametrize("length", [10, 120])
def test_servers_are_on_sockets_in_a_folder_that_only_their_user_can_enter(
    tmp_path, monkeypatch, length
):
    place = tmp_path / ("x" * length)
    place.mkdir()
    monkeypatch.setattr(local_sockets.tempfile, "tempdir", str(place))
    local_sockets._folder.cache_clear()
    try:
        server = local_sockets.SocketGrpc().server(_pool())
        number = server.add_insecure_port("localhost:0")
        server.start()
        assert number < 0
        address = local_sockets.address(number)
        assert len(address.removeprefix("unix:")) < 108
        (folder,) = place.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [path.name for path in folder.iterdir()] == [str(-number)]
        with grpc.insecure_channel(address) as channel:
            grpc.channel_ready_future(channel).result(timeout=20)
        server.stop(None).wait()
    finally:
        local_sockets._folder.cache_clear()


@pytest.mark.slow
def test_the_folder_of_sockets_outlives_forks_and_not_its_process():
    script = """
import os, sys
from pairweave.pipelines.engines.local import local_sockets
folder = local_sockets.address(-1).removeprefix("unix:").removesuffix("/1")
child = os.fork()
if child == 0:
    local_sockets.address(-1)
    sys.exit()
os.waitpid(child, 0)
print(folder, os.path.isdir(folder))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    folder, outlived = done.stdout.split()
    assert outlived == "True"
    assert not Path(folder).exists()


def test_numbers_of_servers_differ_and_ports_stay_as_they_are():
    first, second = (
        local_sockets.SocketGrpc().server(_pool()).add_insecure_port("x") for _ in range(2)
    )
    assert first != second
    handler = types.SimpleNamespace(_state=None)
    assert local_sockets._port_or_socket(handler, first) == local_sockets.address(first)
    assert local_sockets.SocketGrpc().StatusCode is grpc.StatusCode


def _pool():
    return ThreadPoolExecutor(max_workers=2)
