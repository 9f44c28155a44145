"""A server that waits for a worker that has died."""

import json
import subprocess
import sys
import time

import pytest

from pairweave.pipelines.engines import engine_scripts, engines, failures, lost_workers
from pairweave.transforms.errors import WorkerError

SECONDS = 60


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """Return the script of a server, and a running worker, both of which only sleep."""
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    server = engine_scripts.write_launcher(tmp_path / "prism", "/bin/sleep", "600")
    with monkeypatch.context() as patch, (tmp_path / "shared").open("w+b") as shared:
        patch.setattr(sys, "executable", str(program))
        _, config = engine_scripts.worker_processes(tmp_path, shared.fileno())
        command = json.loads(config.partition("=")[2])["command"]
        worker = subprocess.Popen([command])
        while not engine_scripts.started_workers(tmp_path / engine_scripts.WORKER):
            time.sleep(0.01)
    yield server, worker
    worker.kill()
    worker.wait()


def test_a_server_ends_some_time_after_its_worker(scripts, tmp_path):
    server, worker = scripts
    script = tmp_path / engine_scripts.WORKER
    assert engine_scripts.started_workers(script) == [worker.pid]
    process = subprocess.Popen([server])
    try:
        with lost_workers.watched(script, server, grace=0.3):
            time.sleep(1)
            assert process.poll() is None
            assert not lost_workers.were_lost(script)
            worker.kill()  # not waited for: a zombie has ended too
            process.wait(SECONDS)
        assert lost_workers.were_lost(script)
    finally:
        process.kill()
        process.wait()


def test_a_server_ends_after_its_worker_though_its_parent_has_noticed(scripts, tmp_path):
    server, worker = scripts
    script = tmp_path / engine_scripts.WORKER
    process = subprocess.Popen([server])
    try:
        with lost_workers.watched(script, server, grace=0.2):
            worker.kill()
            worker.wait()  # nothing is left of it, not even a zombie
            process.wait(SECONDS)
        assert lost_workers.were_lost(script)
    finally:
        process.kill()
        process.wait()


def test_a_server_has_time_to_notice(scripts, tmp_path, monkeypatch):
    monkeypatch.setattr(lost_workers, "WATCH_SECONDS", 0.05)
    server, worker = scripts
    script = tmp_path / engine_scripts.WORKER
    process = subprocess.Popen([server])
    try:
        with lost_workers.watched(script, server, grace=SECONDS):
            worker.kill()
            time.sleep(1)
            assert process.poll() is None
        assert not lost_workers.were_lost(script)
    finally:
        process.kill()
        process.wait()


def test_a_lost_worker_is_not_a_failure_of_the_machine(monkeypatch):
    monkeypatch.setattr(lost_workers, "were_lost", lambda _script: True)
    lost = RuntimeError("<_MultiThreadedRendezvous of RPC that terminated with: UNAVAILABLE>")
    options = engines.beam_options("local", 1, "job", [])
    with pytest.raises(WorkerError, match="a worker process died") as raised, options:
        raise lost
    message, user_error = failures.failure_message(raised.value)
    assert message == failures.LOST_WORKER
    assert not user_error
    assert not failures.is_of_machine(raised.value, message)
