"""The sockets on which a program and all that it starts wait for connections."""

import contextlib
import re
from pathlib import Path
from typing import NamedTuple

from pairweave.pipelines.process import descendants

LISTENING = "0A"  # linux/include/net/tcp_states.h
ACCEPTING = "00010000"  # linux/include/uapi/linux/net.h: __SO_ACCEPTCON


class Listener(NamedTuple):
    """A socket that takes connections.

    Attributes:
        program: The program that has it open.
        reachable: Whether it is in this process's own network, so that others can connect to it.
        address: Host and port in hexadecimal, or the path of a Unix socket.
    """

    program: str
    reachable: bool
    address: str


def listeners(pid):
    """Return what a process and those below it listen on now: ports, and Unix sockets."""
    listeners = [set(), set()]
    for process in [pid, *descendants.of(pid)]:
        # It may end at any time.
        with contextlib.suppress(OSError):
            place = Path("/proc", str(process))
            program = (place / "comm").read_text().strip()
            own = (place / "ns/net").readlink() == Path("/proc/self/ns/net").readlink()
            inodes = set(_inodes(place))
            for name in ("tcp", "tcp6"):
                for line in (place / "net" / name).read_text().splitlines()[1:]:
                    words = line.split()
                    if words[3] == LISTENING and words[9] in inodes:
                        listeners[0].add(Listener(program, own, words[1]))
            for line in (place / "net/unix").read_text().splitlines()[1:]:
                words = line.split(maxsplit=7)
                if len(words) == 8 and words[3] == ACCEPTING and words[6] in inodes:
                    listeners[1].add(Listener(program, own, words[7]))
    return listeners


def _inodes(place):
    for entry in (place / "fd").iterdir():
        with contextlib.suppress(OSError):
            if match := re.fullmatch(r"socket:\[(\d+)\]", str(entry.readlink())):
                yield match[1]
