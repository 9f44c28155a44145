"""Forks the workers of a runner that starts its workers as processes of its own.

Such a runner starts `pipelines.engines.fork_client`, which connects to a socket in the run's
private directory. For each connection the launcher forks a worker. The connection lasts as long as
both processes: whichever ends first, the other one ends, too.
"""

import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from pairweave.pipelines.engines.local import forks

SOCKET = "forks"
"""The name of the socket."""

END_SECONDS = 5.0
"""Time to wait for a killed worker to end."""

_OUTPUTS = 2  # standard output and error


class _Requests:
    """The workers forked on request through one socket."""

    def __init__(self, listener: socket.socket) -> None:
        """Wait for connections."""
        self._listener = listener
        self._lock = threading.Lock()
        self._forks: list[forks.Fork] = []
        self._closed = False
        threading.Thread(target=self._accept, name="fork requests", daemon=True).start()

    def close(self) -> None:
        """Fork no more workers, and end those that are running."""
        with self._lock:
            self._closed = True
        self._listener.shutdown(socket.SHUT_RDWR)  # ends the wait for connections
        for fork in self._forks:
            fork.kill()
        for fork in self._forks:
            with contextlib.suppress(subprocess.TimeoutExpired):
                fork.wait(END_SECONDS)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the socket is closed
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        """Fork a worker, and kill it when its client is gone."""
        # A connection that is closed without an answer makes the client a worker itself.
        with connection, contextlib.suppress(OSError):
            message, files, _, _ = socket.recv_fds(connection, forks.REQUEST_BYTES, forks.MAX_FILES)
            try:
                fork = self._fork(os.fsdecode(message).split("\0"), files)
            finally:
                for number in files:
                    os.close(number)
            if fork is None:
                return
            try:
                connection.send(b"started")
                threading.Thread(target=_tell_end, args=(fork, connection), daemon=True).start()
                connection.recv(1)
            finally:
                fork.kill()

    def _fork(self, words: Sequence[str], files: Sequence[int]) -> forks.Fork | None:
        with self._lock:
            if self._closed or len(files) <= _OUTPUTS:
                return None
            shared, outputs = files[:-_OUTPUTS], files[-_OUTPUTS:]
            fork = forks.start(words, shared, outputs)
            if fork is not None:
                self._forks.append(fork)
            return fork


def _tell_end(fork: forks.Fork, connection: socket.socket) -> None:
    status = fork.wait()
    with contextlib.suppress(OSError):  # the client is gone
        connection.send(str(status).encode())
        connection.shutdown(socket.SHUT_RDWR)  # the client still receives the message


@contextlib.contextmanager
def listening(directory: Path) -> Iterator[str]:
    """Fork workers for the clients of a socket, and end them with this block.

    Args:
        directory: Where the socket is made; only this user can enter it.

    Yields:
        The address of the socket.
    """
    # The system limits an address to 107 bytes; the name of the directory may be longer.
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            address = f"/proc/{os.getpid()}/fd/{folder}/{SOCKET}"
            listener.bind(address)
            listener.listen()
            requests = _Requests(listener)
            try:
                yield address
            finally:
                requests.close()
    finally:
        os.close(folder)
