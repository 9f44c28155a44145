"""Beam's servers in the `local` engine, on sockets in a private folder instead of on ports.

These servers have no authentication: whoever connects can take the place of a worker, read its
data, and end the run. A socket in a folder that only its user can enter is out of reach of others.
Beam identifies its servers by their ports; here each has a negative number instead.
"""

# Beam types these parts as Any.
# ruff: noqa: ANN401

import atexit
import functools
import itertools
import os
import tempfile
from typing import Any

import grpc
from apache_beam.runners.portability.fn_api_runner import worker_handlers

from pairweave.pipelines.process import scratch

LONGEST_FOLDER = 96
"""Maximum length of the folder's name, because the system limits a socket's name to 107 bytes."""

_numbers = itertools.count(-1, -1)
_port_from_worker = worker_handlers.GrpcWorkerHandler.port_from_worker


class SocketGrpc:
    """The `grpc` module, except that servers listen on sockets instead of ports."""

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
    """Return the address of the server with a number."""
    return f"unix:{_folder(os.getpid())}/{-number}"


@functools.cache
def _folder(process: int) -> str:
    """Make a folder that only this user can enter, and return a short enough name for it.

    A name that is too long is replaced by a path through this process's descriptor of the folder,
    which only processes of the same user can follow. The folder is deleted when the process ends,
    but not when a fork of it ends or makes a folder of its own.
    """
    folder = tempfile.mkdtemp(prefix="pairweave-")
    atexit.register(scratch.remove_own, folder, process)
    if len(os.fsencode(folder)) < LONGEST_FOLDER:
        return folder
    return f"/proc/{process}/fd/{os.open(folder, os.O_RDONLY | os.O_DIRECTORY)}"


def _port_or_socket(self: worker_handlers.GrpcWorkerHandler, port: int) -> str:
    return address(port) if port < 0 else _port_from_worker(self, port)


# Servers made elsewhere are not affected: their ports are positive.
worker_handlers.GrpcWorkerHandler.port_from_worker = _port_or_socket  # type: ignore[method-assign]
