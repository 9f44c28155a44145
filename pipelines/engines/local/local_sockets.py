"""Beam's servers of the `local` engine on sockets in a private folder instead of on ports.

These servers have no authentication: whoever connects can take the place of a worker, read what
it is sent, and end the run. A socket in a folder that only its user can enter is out of reach of
others. Beam identifies its servers by their ports; here each has a negative number instead.
"""

# Any is what Beam says of these parts.
# ruff: noqa: ANN401

import functools
import itertools
import os
import tempfile
from typing import Any

import grpc
from apache_beam.runners.portability.fn_api_runner import worker_handlers

LONGEST_FOLDER = 96
"""The system allows 107 bytes for the name of a socket; its folder's name may have this many."""

_numbers = itertools.count(-1, -1)
_port_from_worker = worker_handlers.GrpcWorkerHandler.port_from_worker


class SocketGrpc:
    """The `grpc` module, except that a server that should take a port takes a socket."""

    def __getattr__(self, name: str) -> Any:
        return getattr(grpc, name)

    def server(self, *args: Any, **settings: Any) -> Any:
        """Make a server."""
        server = grpc.server(*args, **settings)
        add_port = server.add_insecure_port

        def add_socket(_address: str) -> int:
            number = next(_numbers)
            add_port(address(number))
            return number

        server.add_insecure_port = add_socket
        return server


def address(number: int) -> str:
    """Return where the server of a number is found."""
    return f"unix:{_folder(os.getpid())}/{-number}"


@functools.cache
def _folder(process: int) -> str:
    """Make a folder that only this user can enter, and return a name that a socket in it can have.

    A name that is too long is replaced by the number under which this process has the folder open,
    which only the same user's processes can follow. The folder goes when the process ends.
    """
    global _kept
    _kept = tempfile.TemporaryDirectory(prefix="pairweave-")
    if len(os.fsencode(_kept.name)) < LONGEST_FOLDER:
        return _kept.name
    return f"/proc/{process}/fd/{os.open(_kept.name, os.O_RDONLY | os.O_DIRECTORY)}"


_kept: tempfile.TemporaryDirectory[str] | None = None


def _port_or_socket(self: worker_handlers.GrpcWorkerHandler, port: int) -> str:
    return address(port) if port < 0 else _port_from_worker(self, port)


# Nothing changes for servers that were made elsewhere: their ports are positive.
worker_handlers.GrpcWorkerHandler.port_from_worker = _port_or_socket  # type: ignore[method-assign]
