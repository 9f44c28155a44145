"""The small scripts through which a runner starts its server and its workers."""

import contextlib
import json
import os
import shlex
import signal
import sys
import time
from pathlib import Path

from pairweave.pipelines.engines import fork_client, server_process
from pairweave.pipelines.process import descendants

WORKER_FILE = 9
"""File descriptor of the shared file in a worker; a shell accepts only one digit."""

QUICK = ("-I", "-S")
"""Without site-packages Python starts in a few hundredths of a second."""

WORKER = "worker"
"""The name of the script that starts a worker."""

MODULE = "pairweave.pipelines.engines.local.worker"
"""The program of a worker."""


def worker_processes(scratch: Path, shared: int, forks: str | None = None) -> list[str]:
    """Return the options that make the runner start pairweave's workers as processes.

    `LOOPBACK` would run a worker in this process, for which Beam opens a port on every interface,
    and anyone who can reach the port could run code here.

    Args:
        scratch: The directory where the script is written.
        shared: Descriptor, in this process, of the open file of a `transforms.arrow.exchange`,
            which the workers join. They open it again, as they are not this process's children.
        forks: Address at which `fork_requests.listening` forks workers; None to start each as a
            program, which takes seconds of CPU time.
    """
    file = f"/proc/{os.getpid()}/fd/{shared}"
    path = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path)
    if forks is None:
        worker = _called(sys.executable, "-P", "-m", MODULE, f"--file={WORKER_FILE}")
    else:
        client = _called(sys.executable, *QUICK, fork_client.__file__)
        worker = f"{client} {_called(forks, MODULE, str(WORKER_FILE))}"
    boot = _script(
        scratch / WORKER,
        f"PYTHONPATH={shlex.quote(path)}",
        "export PYTHONPATH",
        f'echo "$$" >> {shlex.quote(str(_workers(scratch / WORKER)))}',
        f'exec {worker} "$@" {WORKER_FILE}<>{file}',
    )
    return [
        "--environment_type=PROCESS",
        f"--environment_config={json.dumps({'command': str(boot)})}",
    ]


def started_workers(script: Path) -> list[int]:
    """Return the processes that the script of `worker_processes` started, including ended ones."""
    try:
        return list(map(int, _workers(script).read_text(encoding="ascii").split()))
    except FileNotFoundError:
        return []


def write_launcher(script: Path, program: str, *arguments: str) -> Path:
    """Write a script that runs a program and ends it when the script's caller ends.

    Arguments given here come before those of the script.

    The program also ends when the script is interrupted or killed
    (`pipelines.engines.server_process`). If it ends earlier, `exit_of` returns its exit status.
    """
    command = _called(sys.executable, *QUICK, server_process.__file__)
    called = _called(str(_note(script)), program, *arguments)
    return _script(script, f'exec {command} "$PPID" {called} "$@"')


def exit_of(script: Path, seconds: float = 0.0) -> int | None:
    """Return the exit status of a program that ended without being asked to.

    Args:
        script: The script that `write_launcher` wrote.
        seconds: How long to wait for the status.

    Returns:
        Its exit status, or minus the number of the signal that ended it; None if it has not ended.
    """
    deadline = time.monotonic() + seconds
    while not _note(script).is_file():
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.02)
    return int(_note(script).read_text(encoding="ascii"))


def end(script: Path) -> None:
    """Ask a program that `write_launcher` started from this process to end; do not wait for it."""
    if not script.is_file():
        return  # Looking through all processes of a large machine takes long.
    note = os.fsencode(_note(script))
    for pid in descendants.of(os.getpid()):
        # It may have ended by itself.
        with contextlib.suppress(OSError):
            if note in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGTERM)


def _note(script: Path) -> Path:
    return script.with_name(f"{script.name}.exit")


def _workers(script: Path) -> Path:
    return script.with_name(f"{script.name}.started")


def _called(*words: str) -> str:
    """Return words as a shell reads them."""
    return " ".join(map(shlex.quote, words))


def _script(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o700)
    return path
