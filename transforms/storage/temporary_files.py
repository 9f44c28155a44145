"""Names of files that are being written, which show whether the writer is still alive.

Several runs may write to one directory at once: the same command started twice, or a run that goes
on while the processes of a killed one still end. A name says which process of which machine writes.
"""

import contextlib
import functools
import os
import platform
import time
import uuid
from pathlib import Path

import xxhash

PREFIX = ".tmp-"

KEY = "key"
"""A file of random bytes in a run's private temporary directory, by which its processes know each
other."""

STALE_SECONDS = 3600.0
"""A file of another machine is dead if nothing was written to it for this long.

Files are written in one go, in seconds; whether a process of another machine lives cannot be seen.
"""


def name_for(name: str) -> str:
    """Return a name under which this process can write a file that is to be renamed.

    Args:
        name: The file's final name.
    """
    pid = os.getpid()
    writer = f"{_machine()}.{pid}.{_started(pid)}"
    return f"{PREFIX}{writer}-{uuid.uuid4().hex}-{name}"


def is_dead(path: Path) -> bool:
    """Tell whether the process that was writing a file has ended."""
    if not path.name.startswith(PREFIX):
        return False
    machine, _, process = path.name.removeprefix(PREFIX).partition("-")[0].partition(".")
    pid, _, started = process.partition(".")
    if machine == _machine() and pid.isdecimal():
        return _started(int(pid)) != started
    with contextlib.suppress(FileNotFoundError):
        return time.time() - path.stat().st_mtime > STALE_SECONDS
    return False


def _started(pid: int) -> str:
    """Return when a process started, in ticks since the machine did; nothing if it has ended."""
    try:
        # The name, in brackets, may hold anything; behind it, the start is the twentieth word.
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if words[0] in (b"Z", b"X") else words[19].decode()


@functools.cache
def _machine() -> str:
    """Return an id that differs between machines, their restarts, and containers on them."""
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return xxhash.xxh3_64_hexdigest(" ".join(parts).encode())
