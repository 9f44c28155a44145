"""Servers that answer oddly or not at all, each in a thread of the test's process."""

import contextlib
import socket
import threading
import time

ANSWERS = {
    "well": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "nothing": b"",
    "a status that is no number": b"HTTP/1.1 abc what\r\n\r\n",
    "an endless line": b"HTTP/1.1 200 " + b"x" * 200_000,
    "too many headers": b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 500 + b"\r\n",
    "an error": b"HTTP/1.1 500 Down \x1b[31m for now\r\nContent-Length: 0\r\n\r\n",
    "no right": b"HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n",
    "another place": b"HTTP/1.1 302 Found\r\nLocation: ftp://h/x\r\nContent-Length: 0\r\n\r\n",
    "the same place": b"HTTP/1.1 307 Again\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
}
"""What a server sends when it has read a request."""

HANGS, DRIPS = "silence", "a byte now and then"


@contextlib.contextmanager
def answering(kind):
    """Run a server; yield its port, and the list of the requests that it has read.

    Args:
        kind: A key of `ANSWERS`, `HANGS`, `DRIPS`, or the answer itself.
    """
    requests, ended = [], threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, kind, requests, ended))
        thread.start()
        try:
            yield server.getsockname()[1], requests
        finally:
            ended.set()
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(server, kind, requests, ended):
    with contextlib.suppress(OSError):
        while not ended.is_set():
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.settimeout(5)
                requests.append(_request(connection))
                if kind == HANGS:
                    ended.wait()
                elif kind == DRIPS:
                    connection.sendall(b"HTTP/1.1 200 OK\r\na: ")
                    while not ended.wait(0.05):
                        connection.sendall(b"x")
                else:
                    connection.sendall(kind if isinstance(kind, bytes) else ANSWERS[kind])


def _request(connection):
    """Read a request with the content that its header announces."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, content = data.partition(b"\r\n\r\n")
    lengths = (
        int(line.partition(b":")[2])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    length = next(lengths, 0)  # a question has no content
    until = time.monotonic() + 5
    while len(content) < length and time.monotonic() < until:
        content += connection.recv(65_536)
    return head + b"\r\n\r\n" + content
