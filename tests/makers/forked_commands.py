"""Starts of the command that cost no imports: processes forked from one that has them.

A start of the command takes three seconds of CPU time, two of them for the imports of Beam. The
server here imports them once and forks a process for each start, in a session of its own, with
the environment, folder, output and errors that it is given. Unlike a true start, nothing is
imported, and variables in `AT_START` have no effect; `runs.start` says where that matters.
"""

import atexit
import functools
import gc
import importlib
import importlib.util
import json
import logging
import os
import pkgutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.makers import quick_disk

ROOT = Path(__file__).resolve().parents[2]
AT_START = ("HF_", "LD_", "MALLOC", "MKL", "NUMBA", "OMP", "PYTHON")
"""Variables that begin so are read when Python or a library starts."""

_FOLDERS = [
    "transforms",
    *(f"pipelines/{name}" for name in ("commands", "engines", "jobs", "recipes", "refresh", "run")),
]
"""Packages whose modules the commands import, now or when they need them."""

_TABLES = (
    "text.codepoints.all_properties",
    "tags.sound_phrases.mark_roles",
    "kernels.text.words.folding",
)
"""Functions that keep tables of characters, which every process would compute."""

_LENGTH = struct.Struct("!I")


class ForkedCommand:
    """A process of the command, with the methods of `subprocess.Popen` that the tests use.

    Attributes:
        pid: Its number, which is also that of its process group.
        returncode: As in `subprocess.Popen`; None while it runs.
        stdout: Its output, as text; None if that is not read.
        stderr: Its errors, as text.
    """

    def __init__(self, pid, status, stdout, stderr):
        self.pid = pid
        self.returncode = None
        self.stdout, self.stderr = stdout, stderr
        self._status = status
        self._lock = threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wait()
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()

    def poll(self):
        """Return the exit status if the process has ended, else None."""
        return self._read_status(0.0)

    def wait(self, timeout=None):
        """Wait until the process ends, and return its exit status.

        Raises:
            subprocess.TimeoutExpired: It did not end within so many seconds.
        """
        if self._read_status(timeout) is None:
            raise subprocess.TimeoutExpired(["pairweave"], timeout)
        return self.returncode

    def communicate(self, timeout=None):
        """Read output and errors until both end, and return them; see `wait`."""
        streams = [stream for stream in (self.stdout, self.stderr) if stream is not None]
        texts = {}
        readers = [
            threading.Thread(target=lambda s=stream: texts.update({s: s.read()}), daemon=True)
            for stream in streams
        ]
        for reader in readers:
            reader.start()
        deadline = None if timeout is None else time.monotonic() + timeout
        for reader in readers:
            reader.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(["pairweave"], timeout)
        for stream in streams:
            stream.close()
        self.wait(None if deadline is None else max(0.1, deadline - time.monotonic()))
        return texts.get(self.stdout), texts.get(self.stderr)

    def send_signal(self, number):
        """Send the process a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """Kill the process, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def _read_status(self, timeout):
        with self._lock:
            if self.returncode is None:
                self._status.settimeout(timeout)
                try:
                    data = self._status.recv(_LENGTH.size)
                except (BlockingIOError, TimeoutError):
                    return None
                self.returncode = struct.unpack("!i", data)[0]
                self._status.close()
            return self.returncode


@functools.cache
def server(*modules):
    """Return the server of this process that has also imported these, started at the first call."""
    started = Server(modules)
    atexit.register(started.close)
    return started


class Server:
    """The process that forks; it ends with the process that has started it.

    Args:
        modules: What it imports beside the modules of pairweave.
    """

    def __init__(self, modules=()):
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lock = threading.Lock()
        self._environment = dict(os.environ)
        with theirs:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "tests.makers.forked_commands"),
                    *(str(theirs.fileno()), *modules),
                ],
                cwd=ROOT,
                env={**os.environ, **quick_disk.environment()},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def can_start(self, environment):
        """Return whether a process forked here is like one started in an environment."""
        names = {
            name
            for name in {*environment, *self._environment}
            if name.startswith(AT_START) and name != "PYTHONPATH"
        }
        return all(environment.get(name) == self._environment.get(name) for name in names)

    def start(self, words, environment, folder, *, read_output=True):
        """Start the command.

        Args:
            words: Its arguments.
            environment: All of its environment; folders of ``PYTHONPATH`` are searched first.
            folder: Its working directory.
            read_output: Whether `ForkedCommand.stdout` gives its output, which is else discarded.

        Returns:
            The process, after it has become the leader of its session.
        """
        status, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        errors, write_errors = os.pipe()
        output, write_output = os.pipe() if read_output else (None, os.open(os.devnull, os.O_RDWR))
        request = {"words": list(words), "environment": environment, "folder": str(folder)}
        data = json.dumps(request).encode()
        passed = [theirs.fileno(), write_output, write_errors]
        with self._lock:
            socket.send_fds(self._socket, [_LENGTH.pack(len(data))], passed)
            self._socket.sendall(data)
        theirs.close()
        os.close(write_output)
        os.close(write_errors)
        pid = status.recv(_LENGTH.size)
        assert pid, "the server of commands has ended"
        return ForkedCommand(
            _LENGTH.unpack(pid)[0],
            status,
            None if output is None else os.fdopen(output, encoding="utf-8"),
            os.fdopen(errors, encoding="utf-8"),
        )

    def close(self):
        """End the server; commands that run go on."""
        self._socket.shutdown(socket.SHUT_RDWR)  # also for processes that have inherited it
        self._socket.close()
        self._process.wait()


def _import_all():
    """Import what the commands import, without torch."""
    import pairweave

    for folder in _FOLDERS:
        path = Path(pairweave.__path__[0]) / folder
        name = f"pairweave.{folder.replace('/', '.')}"
        for module in pkgutil.walk_packages([str(path)], f"{name}."):
            importlib.import_module(module.name)
    for function in _TABLES:
        module, name = function.rsplit(".", 1)
        getattr(importlib.import_module(f"pairweave.transforms.{module}"), name)()


def _receive(server):
    """Return the next request and its files; None at the end."""
    header, files, _, _ = socket.recv_fds(server, _LENGTH.size, 3)
    if not header:
        return None
    length, data = _LENGTH.unpack(header)[0], b""
    while len(data) < length:
        data += server.recv(length - len(data))
    return json.loads(data), files


def _become(request, status, output, errors):
    """Make this forked process the one that was asked for."""
    os.setsid()
    os.write(status, _LENGTH.pack(os.getpid()))
    os.close(status)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.close(output)
    os.close(errors)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    time.tzset()
    tempfile.tempdir = None
    folders = [path for path in os.environ["PYTHONPATH"].split(os.pathsep) if path != str(ROOT)]
    sys.path[:0] = folders
    importlib.invalidate_caches()
    sys.argv = [sys.argv[0], *request["words"]]
    faults = next((Path(folder) / "sitecustomize.py" for folder in folders), None)
    if faults is not None and faults.exists():
        specification = importlib.util.spec_from_file_location("sitecustomize", faults)
        specification.loader.exec_module(importlib.util.module_from_spec(specification))


def _serve(server):
    """Fork a process for each request; return only in such a process."""
    while (received := _receive(server)) is not None:
        request, (status, output, errors) = received
        if os.fork():
            for file in (status, output, errors):
                os.close(file)
            continue
        # A process that waits for the command and tells its status.
        server.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            return _become(request, status, output, errors)
        os.close(output)
        os.close(errors)
        # As with `subprocess`, the number stays taken until the status is read.
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        number = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        os.write(status, struct.pack("!i", number))
        os.read(status, 1)
        os._exit(0)
    sys.exit()


def _main():
    server = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal of the tests
    quick_disk.follow()
    _import_all()
    for module in sys.argv[2:]:
        importlib.import_module(module)
    gc.freeze()  # so that no process looks through all of this as it ends
    logging.getLogger().handlers.clear()  # one is added when a module logs at its import
    assert threading.active_count() == 1, "a forked process would lack the other threads"
    _serve(server)
    from pairweave.pipelines import cli
    from pairweave.pipelines.process.interrupt import answer_signals

    answer_signals()
    return cli.main()


if __name__ == "__main__":
    sys.exit(_main())
