"""Workers for a Flink session cluster.

    python -m pairweave.pipelines.engines.flink.worker_pool --port 50000

A pool runs next to each task manager (as a sidecar), which requests workers from it:
`--environment_type=EXTERNAL --environment_config=localhost:50000`. Unlike Beam's own pool, it
listens only on this machine, starts workers with its own interpreter, and does not mix up two task
managers that share it: both name their first worker `1-1`, so a request to stop `1-1` would be
ambiguous. A worker ends when its own task manager closes the connection instead.
"""

import argparse
import errno
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import grpc
from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc

from pairweave.pipelines.engines.local import forks, worker


class WorkerPool(beam_fn_api_pb2_grpc.BeamFnExternalWorkerPoolServicer):
    """Starts a process for each requested worker."""

    def __init__(self) -> None:
        self._workers: list[subprocess.Popen[bytes] | forks.Fork] = []

    def StartWorker(  # noqa: N802 - Beam's name
        self, request: beam_fn_api_pb2.StartWorkerRequest, context: grpc.ServicerContext
    ) -> beam_fn_api_pb2.StartWorkerResponse:
        """Start a worker for a task manager."""
        del context
        self._workers = [process for process in self._workers if process.poll() is None]
        process = worker.start(
            request.worker_id,
            request.control_endpoint.url,
            request.logging_endpoint.url,
            request.provision_endpoint.url,
        )
        self._workers.append(process)
        return beam_fn_api_pb2.StartWorkerResponse()

    def StopWorker(  # noqa: N802 - Beam's name
        self, request: beam_fn_api_pb2.StopWorkerRequest, context: grpc.ServicerContext
    ) -> beam_fn_api_pb2.StopWorkerResponse:
        """Acknowledge the request; the worker ends with its connection."""
        del request, context
        return beam_fn_api_pb2.StopWorkerResponse()


def serve(address: str) -> tuple[grpc.Server, int]:
    """Start a pool at ``host:port``; port 0 takes a free one. Returns the server and its port."""
    # Otherwise two pools could listen at one port.
    options = [("grpc.so_reuseport", 0)]
    server = grpc.server(ThreadPoolExecutor(max_workers=4), options=options)
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(WorkerPool(), server)
    port = server.add_insecure_port(address)
    server.start()
    return server, port


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(description="Start Beam workers for a Flink task manager.")
    parser.add_argument("--host", default="localhost", help="where to listen")
    parser.add_argument("--port", type=_port, default=50000, help="0 takes a free one")
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 65535, got {text!r}")
    return int(text)


def why_not(host: str, port: int) -> str | None:
    """Return why nothing can listen at a port of any of a host's addresses; None if it can.

    One of them is enough for gRPC, but `localhost` has two, and task managers may use either.
    """
    if not host:
        return "no host is given"
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        return str(error.strerror)
    for family, kind, protocol, _, place in places:
        try:
            with socket.socket(family, kind, protocol) as listener:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(place)
        except OSError as error:
            # A machine without IPv6 may still have a name for its loopback.
            if error.errno not in _NO_ADDRESS:
                return str(error.strerror)
    return None


_NO_ADDRESS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to end."""
    flags = parser().parse_args(arguments)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    fault = why_not(flags.host, flags.port)
    if fault is not None:
        sys.stderr.write(
            f"worker pool: --host {flags.host} --port {flags.port}: cannot listen there: {fault}; "
            "give another --port, or end what listens there\n"
        )
        return 2
    server, port = serve(f"{flags.host}:{flags.port}")
    sys.stderr.write(f"worker pool at {flags.host}:{port}\n")
    ended.wait()
    server.stop(None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
