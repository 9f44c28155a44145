"""A worker process of the local runner, and the requests to it, which fail once it has ended."""

# ruff: noqa: ANN401 - Beam types these parts as Any

import contextlib
import signal
import subprocess
import threading
from typing import Any

import grpc
from apache_beam.runners.portability.fn_api_runner import worker_handlers

from pairweave.pipelines.engines.local import forks, worker
from pairweave.pipelines.process import memory
from pairweave.transforms.errors import WorkerError

WORKER_URN = "pairweave:env:worker:v1"
"""The environment of a worker process."""

BROKEN = ("Channel closed prematurely", "RPC that terminated with")
"""Words of Beam's and gRPC's errors for a broken connection."""

ENDING_SECONDS = 5.0
"""Maximum time between the break of a worker's connections and the news that it has ended."""


class Requests:
    """The requests to a worker, which fail once it has ended.

    `ControlConnection.abort` fails only those that wait: one that is made later, because the worker
    ended between two bundles, would wait forever.
    """

    def __init__(self, connection: Any) -> None:
        """Take the place of the `push` of a worker's `ControlConnection`."""
        self._connection, self._push = connection, connection.push
        self._error: WorkerError | None = None
        self._failed = threading.Event()
        connection.push = self.push

    def push(self, request: Any) -> Any:
        """Send a request and return its future, as `ControlConnection.push` does."""
        future = self._push(request)
        # After the future is known: `fail` sees it, or it has set the error before.
        if self._error is not None and future is not None:
            future.abort(self._error)
        return future

    def fail(self, error: WorkerError) -> None:
        """Let all requests fail, those that wait and those to come."""
        self._error = error
        self._failed.set()
        for future in list(self._connection._futures_by_id.values()):  # an answer may still arrive
            future.abort(error)

    def failure(self, seconds: float) -> WorkerError | None:
        """Return the error with which requests fail; None if they do not within some seconds."""
        self._failed.wait(seconds)
        return self._error


@worker_handlers.WorkerHandler.register_environment(WORKER_URN, bytes)
class ProcessHandler(worker_handlers.GrpcWorkerHandler):
    """One worker process, started by the launcher and ended with it."""

    def __init__(self, file: bytes, *args: Any) -> None:
        """Represent a worker that shares an open file, given by its descriptor, with others."""
        super().__init__(*args)
        self._file = int(file)
        self._process: subprocess.Popen[bytes] | forks.Fork | None = None
        self._requests = Requests(self.control_conn)
        self._stopping = False

    def start_worker(self) -> None:
        """Start the process."""
        self._process = worker.start(self.worker_id, self.control_address, file=self._file)
        threading.Thread(target=self._watch, args=(self._process,), daemon=True).start()

    def _watch(self, process: "subprocess.Popen[bytes] | forks.Fork") -> None:
        code = process.wait()
        if self._stopping:
            return
        error = WorkerError(f"worker process {process.pid} {_ending(code)}")
        # This wakes up any code that waits for an answer or for data from the worker.
        self._requests.fail(error)
        self.data_conn._exception = error

    def cause(self, error: Exception) -> Exception:
        """Return the reason of an error of this worker: how it ended, if its connections broke.

        They break before it is known how it ended.
        """
        broke = any(sign in str(error) for sign in BROKEN)
        return self._requests.failure(ENDING_SECONDS if broke else 0.0) or error

    def close(self) -> None:
        """Close the connections, then wait for the process."""
        self._stopping = True
        self.control_conn.close()
        # The error that ended the worker has already been raised; its thread may raise it again.
        with contextlib.suppress(grpc.RpcError, WorkerError):
            self.data_conn.close()
        self.stop_worker()

    def stop_worker(self) -> None:
        """Wait for the process, which ends when told that no more work follows."""
        self._stopping = True
        if self._process is not None:
            try:
                self._process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """End the process now."""
        self._stopping = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _ending(code: int) -> str:
    if code == -signal.SIGKILL:
        return (
            "was killed (signal 9): the machine may have run out of memory (dmesg shows what was "
            f"killed): {memory.REMEDY}"
        )
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
    return f"{how} before its work was done, by code that it ran, such as a library or a plugin"
