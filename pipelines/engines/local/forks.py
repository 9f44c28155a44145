"""Worker processes forked from a process that has already imported everything.

A Python process that imports everything a worker needs takes three to four seconds of CPU time, and
as many workers start at once as there are cores. Therefore a server process is forked as soon as
the command line is parsed, while there is one thread and no connection, and it forks workers on
request. Where that is not safe (other threads are running, or the process belongs to a user of the
library), there is no server, and workers start as programs
(`pipelines.engines.local.worker.start`).
"""

import atexit
import contextlib
import functools
import gc
import json
import os
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from pairweave.pipelines.process import descendants

MESSAGE_BYTES = 1 << 12
REQUEST_BYTES = 1 << 20
MAX_FILES = 16


class Fork:
    """A forked process, with the interface of `subprocess.Popen`.

    Attributes:
        pid: Its process id.
        returncode: Its exit status, or minus the number of the signal that ended it; None while it
            runs.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = threading.Event()

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends, and return its `returncode`.

        Raises:
            subprocess.TimeoutExpired: It is still running after this many seconds.
        """
        if not self._ended.wait(timeout) or self.returncode is None:
            raise subprocess.TimeoutExpired(["fork"], timeout or 0)
        return self.returncode

    def poll(self) -> int | None:
        """Return its `returncode`; None while it runs."""
        return self.returncode

    def kill(self) -> None:
        """End it now."""
        # It may have ended although the server's message has not arrived yet.
        with contextlib.suppress(ProcessLookupError):
            if self.returncode is None:
                os.kill(self.pid, signal.SIGKILL)

    def end(self, returncode: int) -> None:
        """Record its `returncode`."""
        self.returncode = returncode
        self._ended.set()


class ForkServer:
    """The parent's side of the process that forks workers; both end with the parent."""

    def __init__(self, run: Callable[[list[str]], int]) -> None:
        """Fork the server.

        Args:
            run: Called in each fork with its arguments; returns the exit status.
        """
        own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Existing objects are not garbage-collected in a fork, so their pages stay shared.
        were_frozen = gc.get_freeze_count() > 0
        gc.freeze()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            own.close()
            descendants.leave_after(functools.partial(_serve, its, run))
        if not were_frozen:
            gc.unfreeze()
        its.close()
        self._socket = own
        self._forks: dict[int, Fork] = {}
        self._answers: queue.SimpleQueue[Fork | None] = queue.SimpleQueue()
        self._asking = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def start(
        self, arguments: Sequence[str], files: Sequence[int], outputs: Sequence[int] = ()
    ) -> Fork | None:
        """Fork a process.

        Args:
            arguments: Its arguments; `--file=N` is added for each file, with its descriptor there.
            files: Descriptors of open files to pass to it.
            outputs: Descriptors of its standard output and error; if empty, those of this process.

        Returns:
            The process; None if the server is gone.
        """
        message = json.dumps(
            {
                "arguments": list(arguments),
                "environment": dict(os.environ),
                "outputs": len(outputs),
            }
        )
        with self._asking:
            try:
                socket.send_fds(self._socket, [message.encode()], [*outputs, *files])
            except OSError:  # the server is gone, or the environment is too large for a message
                return None
            fork = self._answers.get()
            if fork is None:
                self._answers.put(None)  # for those that ask later
            return fork

    def close(self) -> None:
        """End the server and the processes that it has forked."""
        self._socket.shutdown(socket.SHUT_RDWR)
        os.waitpid(self.pid, 0)

    def _listen(self) -> None:
        while message := self._receive():
            event = json.loads(message)
            if "ended" in event:
                self._forks.pop(event["ended"]).end(event["status"])
                continue
            fork = self._forks[event["started"]] = Fork(event["started"])
            self._answers.put(fork)
        self._answers.put(None)  # the server is gone
        for fork in self._forks.values():
            fork.end(-signal.SIGKILL)

    def _receive(self) -> bytes:
        try:
            return self._socket.recv(MESSAGE_BYTES)
        except ConnectionError:
            return b""


_allowed = False
_server: ForkServer | None = None
_started_by: int | None = None


def allow() -> None:
    """Allow forks of this process: it is pairweave's own program and runs no other code."""
    global _allowed
    _allowed = True


def prepare(run: Callable[[list[str]], int]) -> None:
    """Start a server for this process unless it has one, or may not or cannot safely be forked."""
    global _server
    if _server is None and _allowed and threading.active_count() == 1:
        _server = ForkServer(run)
        atexit.register(_server.close)


def ready() -> bool:
    """Tell whether this process has a server, so that workers can be forked."""
    return _server is not None


def start(
    arguments: Sequence[str], files: Sequence[int], outputs: Sequence[int] = ()
) -> Fork | None:
    """Fork a process from this one's server, see `ForkServer.start`; None if there is none."""
    return None if _server is None else _server.start(arguments, files, outputs)


def parent() -> int:
    """Return the process that started this one; one that forked it may already be gone."""
    return os.getppid() if _started_by is None else _started_by


def _serve(parent: socket.socket, run: Callable[[list[str]], int]) -> int:
    """Fork whenever the parent asks, and report the forks that end, until the parent is gone."""
    # Ctrl-C is meant for the parent, which then ends this process.
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    wakes, wake = os.pipe()
    os.set_blocking(wakes, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    with contextlib.suppress(OSError):  # the parent is gone
        _answer(parent, run, wakes, wake)
    return 0


def _answer(parent: socket.socket, run: Callable[[list[str]], int], wakes: int, wake: int) -> None:
    server = os.getpid()
    while True:
        ready, _, _ = select.select([parent.fileno(), wakes], [], [])
        if wakes in ready:
            os.read(wakes, MESSAGE_BYTES)
            for pid, status in descendants.reap():
                parent.send(json.dumps({"ended": pid, "status": status}).encode())
        if parent.fileno() not in ready:
            continue
        message, files, _, _ = socket.recv_fds(parent, REQUEST_BYTES, MAX_FILES)
        if not message:
            return
        pid = os.fork()
        if not pid:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number in (parent.detach(), wakes, wake):
                os.close(number)
            descendants.leave_after(functools.partial(_run, run, message, files, server))
        for number in files:
            os.close(number)
        parent.send(json.dumps({"started": pid}).encode())


def _run(run: Callable[[list[str]], int], message: bytes, files: Sequence[int], server: int) -> int:
    global _started_by
    _started_by = server
    request = json.loads(message)
    os.setsid()
    os.environ.clear()
    os.environ.update(request["environment"])
    outputs, shared = files[: request["outputs"]], files[request["outputs"] :]
    for output, number in enumerate(outputs, start=1):
        os.dup2(number, output)
    return run([*request["arguments"], *(f"--file={number}" for number in shared)])
