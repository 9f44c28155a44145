"""The pool beside a task manager starts a worker for each request, with the addresses it names."""

import socket

import grpc
import pytest
from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc, endpoints_pb2

from pairweave.pipelines.engines.flink import worker_pool


class Worker:
    """A process that runs, or has ended."""

    def __init__(self, status=None):
        self.status = status

    def poll(self):
        return self.status


def request(number):
    places = {
        f"{name}_endpoint": endpoints_pb2.ApiServiceDescriptor(url=f"{name}:{number}")
        for name in ("control", "logging", "provision", "artifact")
    }
    return beam_fn_api_pb2.StartWorkerRequest(worker_id=f"{number}-1", **places)


@pytest.fixture
def started(monkeypatch):
    asked = []

    def start(*words):
        asked.append(words)
        return Worker(status=0 if len(asked) == 1 else None)

    monkeypatch.setattr(worker_pool.worker, "start", start)
    return asked


def test_a_worker_gets_the_addresses_of_its_task_manager(started):
    server, port = worker_pool.serve("localhost:0")
    with grpc.insecure_channel(f"localhost:{port}") as channel:
        pool = beam_fn_api_pb2_grpc.BeamFnExternalWorkerPoolStub(channel)
        for number in (1, 2):
            assert not pool.StartWorker(request(number)).error
        stop = beam_fn_api_pb2.StopWorkerRequest(worker_id="1-1")
        assert not pool.StopWorker(stop).error
    server.stop(None).wait()
    assert started == [(f"{n}-1", f"control:{n}", f"logging:{n}", f"provision:{n}") for n in (1, 2)]


def test_workers_that_have_ended_are_forgotten(started):
    pool = worker_pool.WorkerPool()
    for number in (1, 2, 3):
        pool.StartWorker(request(number), None)
    assert len(pool._workers) == 2
    assert len(started) == 3


def test_it_listens_on_this_machine_only_unless_told_otherwise():
    flags = worker_pool.parser().parse_args([])
    assert (flags.host, flags.port) == ("localhost", 50000)


@pytest.fixture
def never_served(monkeypatch):
    monkeypatch.setattr(worker_pool, "serve", lambda address: pytest.fail(address))


@pytest.mark.usefixtures("never_served")
def test_a_port_in_use_is_refused_even_if_another_address_of_the_host_is_free(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        assert worker_pool.main(["--port", port]) == 2
    errors = capsys.readouterr().err
    assert f"worker pool: --host localhost --port {port}: cannot listen there: Address" in errors


def test_a_second_pool_at_the_same_port_is_refused():
    server, port = worker_pool.serve("localhost:0")
    assert worker_pool.why_not("localhost", port) is not None
    with pytest.raises(RuntimeError):
        worker_pool.serve(f"localhost:{port}")
    server.stop(None).wait()


@pytest.mark.usefixtures("never_served")
@pytest.mark.parametrize("host", ["", "no-such-host.invalid"])
def test_a_host_that_is_none_is_refused(host, capsys):
    assert worker_pool.main(["--host", host, "--port", "0"]) == 2
    assert "cannot listen there" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_a_port_that_is_none_is_refused(port, capsys):
    with pytest.raises(SystemExit):
        worker_pool.main([f"--port={port}"])
    assert f"expected a number from 0 to 65535, got '{port}'" in capsys.readouterr().err
