"""Represents a forked worker to a runner: `fork_client.py SOCKET MODULE FILE WORD ...`.

The runner starts and watches this program; the launcher, which listens on SOCKET, forks the worker
(`pipelines.engines.fork_requests`). The program ends as the worker ends, and the worker is killed
when the program ends for any other reason. If the launcher forks no worker, the program itself
becomes the worker and runs the MODULE. The worker gets the descriptor FILE, the output streams and
the WORDs.
"""

import os
import signal
import socket
import sys
from collections.abc import Sequence

WATCH_SECONDS = 1.0
"""Interval between checks that the runner still exists."""

ANSWER_BYTES = 64


def main(arguments: Sequence[str]) -> int:
    """Ask for a worker and wait for its end.

    Args:
        arguments: The socket's address; the module; its descriptor; the worker's arguments.

    Returns:
        The worker's exit status; 1 if the launcher or the runner is gone. A worker's signal is sent
        to this process.
    """
    address, module, file, *words = arguments
    runner = os.getppid()
    launcher = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        launcher.connect(address)
        socket.send_fds(launcher, [os.fsencode("\0".join(words))], [int(file), 1, 2])
        started = _receive(launcher, runner)
    except OSError:
        started = b""
    if not started:
        # -P: a folder in the working directory with the name of a module is not imported.
        program = [sys.executable, "-P", "-m", module, f"--file={file}", *words]
        os.execv(sys.executable, program)
    return _end(int(_receive(launcher, runner) or b"1"))


def _receive(launcher: socket.socket, runner: int) -> bytes:
    """Return the launcher's next message, which is empty if the launcher or the runner is gone."""
    launcher.settimeout(WATCH_SECONDS)
    while os.getppid() == runner:
        try:
            return launcher.recv(ANSWER_BYTES)
        except TimeoutError:
            continue
        except OSError:
            break
    return b""


def _end(status: int) -> int:
    """Return an exit status, or if it stands for a signal, end by that."""
    if status >= 0:
        return status
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    return 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
