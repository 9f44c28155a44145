"""Worker processes forked from a process that has imported everything already.

A Python process that imports what a worker needs takes three to four seconds of a core, and as
many workers start at once as there are cores. So a process forks off as soon as the command line
is parsed, while there is one thread and no connection, and forks workers whenever it is asked.
Where that cannot be done safely (other threads run, a library's user owns the process, or the
system is not Linux), there is none, and workers start as programs
(`pipelines.engines.local.worker.start`).
"""

import atexit
import contextlib
import functools
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import NoReturn

MESSAGE_BYTES = 1 << 12
REQUEST_BYTES = 1 << 20
MAX_FILES = 16


class Fork:
    """A forked process, as `subprocess.Popen` shows one.

    Attributes:
        pid: Its number.
        returncode: What it ended with; minus the signal that ended it; None while it runs.
    """

    def __init__(self, pid: int) -> None:
        """Represent a running process."""
        self.pid = pid
        self.returncode: int | None = None
        self._ended = threading.Event()

    def wait(self, timeout: float | None = None) -> int:
        """Return how it ended, when it has.

        Raises:
            subprocess.TimeoutExpired: It still runs after so many seconds.
        """
        if not self._ended.wait(timeout) or self.returncode is None:
            raise subprocess.TimeoutExpired(["fork"], timeout or 0)
        return self.returncode

    def poll(self) -> int | None:
        """Return how it ended; None while it runs."""
        return self.returncode

    def kill(self) -> None:
        """End it now."""
        # It may have ended, with the notice still on its way.
        with contextlib.suppress(ProcessLookupError):
            if self.returncode is None:
                os.kill(self.pid, signal.SIGKILL)

    def end(self, returncode: int) -> None:
        """Note how it ended."""
        self.returncode = returncode
        self._ended.set()


class ForkServer:
    """The process that forks, as its parent sees it. It ends with its parent, and its forks too."""

    def __init__(self, run: Callable[[list[str]], int]) -> None:
        """Fork it off.

        Args:
            run: What a fork does with its arguments; it returns the exit status.
        """
        own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Existing objects are not garbage-collected in a fork, so their pages stay shared.
        gc.freeze()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            own.close()
            _leave(functools.partial(_serve, its, run))
        gc.unfreeze()
        its.close()
        self._socket = own
        self._forks: dict[int, Fork] = {}
        self._answers: list[Fork] = []
        self._answered = threading.Condition()
        self._asking = threading.Lock()
        self._gone = False
        threading.Thread(target=self._listen, daemon=True).start()

    def start(self, arguments: Sequence[str], files: Sequence[int]) -> Fork | None:
        """Fork a process.

        Args:
            arguments: What it is given, with `--file=3` for each file, by its number there.
            files: Open files that it gets.

        Returns:
            The process; None if the server is gone.
        """
        message = json.dumps({"arguments": list(arguments), "environment": dict(os.environ)})
        with self._asking:
            try:
                socket.send_fds(self._socket, [message.encode()], list(files))
            except OSError:  # it is gone, or the environment is larger than a message
                return None
            with self._answered:
                self._answered.wait_for(lambda: self._answers or self._gone)
                return self._answers.pop() if self._answers else None

    def close(self) -> None:
        """Let it end, with what it has forked."""
        self._socket.shutdown(socket.SHUT_RDWR)
        os.waitpid(self.pid, 0)

    def _listen(self) -> None:
        while message := self._receive():
            said = json.loads(message)
            if "ended" in said:
                self._forks.pop(said["ended"]).end(said["status"])
                continue
            fork = self._forks[said["started"]] = Fork(said["started"])
            with self._answered:
                self._answers.append(fork)
                self._answered.notify()
        with self._answered:
            self._gone = True
            self._answered.notify()
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
    """Allow forks of this process: it is our own program, and no other code runs in it."""
    global _allowed
    _allowed = True


def prepare(run: Callable[[list[str]], int]) -> None:
    """Start a server for this process, if it has none and may and can be forked safely."""
    global _server
    alone = sys.platform == "linux" and threading.active_count() == 1
    if _server is None and _allowed and alone:
        _server = ForkServer(run)
        atexit.register(_server.close)


def ready() -> bool:
    """Tell whether this process has a server, so that workers can be forked."""
    return _server is not None


def start(arguments: Sequence[str], files: Sequence[int]) -> Fork | None:
    """Fork a process from this one's server, see `ForkServer.start`; None if there is none."""
    return None if _server is None else _server.start(arguments, files)


def parent() -> int:
    """Return the process that started this one, which may be gone already if it forked it."""
    return os.getppid() if _started_by is None else _started_by


def _leave(work: Callable[[], int]) -> NoReturn:
    """End this fork when the work is done, without its parent's cleanup code."""
    status = 1
    try:
        status = work()
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    except BaseException:  # noqa: BLE001 - nobody else shows it
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            # The reader may be gone. An error here would continue as this process's parent.
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


def _serve(parent: socket.socket, run: Callable[[list[str]], int]) -> int:
    """Fork whenever the parent asks, and tell it what ends, until it is gone."""
    # Ctrl-C is for the parent, which then ends this.
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
            _tell_ended(parent)
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
            _leave(functools.partial(_run, run, message, files, server))
        for number in files:
            os.close(number)
        parent.send(json.dumps({"started": pid}).encode())


def _run(run: Callable[[list[str]], int], message: bytes, files: Sequence[int], server: int) -> int:
    global _started_by
    _started_by = server
    said = json.loads(message)
    os.setsid()
    os.environ.clear()
    os.environ.update(said["environment"])
    return run([*said["arguments"], *(f"--file={number}" for number in files)])


def _tell_ended(parent: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        code = os.waitstatus_to_exitcode(status)
        parent.send(json.dumps({"ended": pid, "status": code}).encode())
