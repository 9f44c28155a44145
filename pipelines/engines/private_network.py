"""A private network for one run, in which Beam's servers can listen without being reachable.

The servers of Prism and Flink listen on every interface of the machine, have no authentication, and
run the code that they are sent. Neither has an option that closes all of their ports. Linux lets a
process leave the machine's network for one that contains only a loopback interface, shared only
with the processes that it starts. Nobody else can connect to a port there: no other machine, and no
other user of this one.
"""

import ctypes
import errno
import fcntl
import os
import re
import socket
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

ENGINES = ("prism", "flink")
"""Engines with servers of their own."""

ELSEWHERE = (
    *("runner", "flink_master", "job_endpoint", "artifact_endpoint"),
    *("flink_submit_uber_jar", "subnetwork", "temp_location", "staging_location"),
)
"""Options by which a part of the run, or its files, may be on another machine."""

MODELS = ("model", "second_aligner", "translator", "scorer", "reverse_scorer")
"""Options that name a model, which may have to be downloaded."""

_CLONE_NEWUSER = 0x10000000  # linux/sched.h
_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS = 0x8913  # linux/sockios.h
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_INTERFACE = struct.Struct("16sh22x")

_entered = False


def entered() -> bool:
    """Tell whether this process has left the machine's network."""
    return _entered


def is_wanted(words: Sequence[str]) -> bool:
    """Tell whether a command line selects an engine with servers and nothing remote.

    >>> is_wanted(["augment", "--engine", "prism", "--input", "a.tsv"])
    True
    >>> is_wanted(["augment", "--engine", "prism", "--input", "s3://bucket/a.tsv"])
    False
    """
    settings = list(_settings(words))
    given = dict(settings)
    if given.get("engine") not in ENGINES:
        return False
    # The steps of a recipe may each have a model.
    models = settings if words[:1] == ["run"] else given.items()
    texts = [*words, *given.values()]
    if any("://" in text for text in texts) or any(name in given for name in ELSEWHERE):
        return False
    if given.get("environment_type", "PROCESS") not in ("PROCESS", "LOOPBACK"):
        return False
    return all(_is_here(model) for name, model in models if name in MODELS)


def _settings(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the settings of a YAML file as text, by name, then those of the flags."""
    flags = list(_flags(words))
    for name, value in flags:
        if name == "config":
            yield from _yaml_settings(Path(value), nested=words[0] == "run")
    yield from flags


def _flags(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            yield name.replace("-", "_"), value if equals else following


def _yaml_settings(path: Path, *, nested: bool) -> Iterator[tuple[str, str]]:
    """Yield the keys of a YAML file, those at its top or all; errors are reported later."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    yield "", text
    indent = "[ \\t-]*" if nested else ""
    for name, value in re.findall(rf"^{indent}(\w+):[ \t]*([^\n#]*)", text, re.MULTILINE):
        if not re.match(r"\{\s*from:", value):  # a model that an earlier step makes
            yield name, value.strip().strip("'\"")


def _is_here(model: str) -> bool:
    """Tell whether a model is a local directory, ignoring a kind before it and options after it."""
    return any(Path(part).exists() for part in model.split(":"))


def enter() -> None:
    """Leave the machine's network for one that this process shares only with those it starts.

    This process must have a single thread.

    Raises:
        OSError: The system does not allow it; the process is where it was.
    """
    global _entered
    # Halfway through, a process has no user, so a fork tries first.
    child = os.fork()
    if not child:
        number = 0
        try:
            _move()
        except OSError as error:
            number = error.errno or errno.EPERM
        finally:
            os._exit(number)
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number:
        raise OSError(number, os.strerror(number) if number > 0 else "no network of its own")
    _move()
    _entered = True


def _move() -> None:
    user, group = os.geteuid(), os.getegid()
    try:
        _unshare(_CLONE_NEWNET)
    except PermissionError:
        # Only root may. Others may in a user namespace, in which they keep their ids.
        _unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        _write("setgroups", "deny")
        _write("uid_map", f"{user} {user} 1")
        _write("gid_map", f"{group} {group} 1")
    _start_loopback()


def _unshare(what: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(what):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _write(name: str, text: str) -> None:
    Path("/proc/self", name).write_text(text, encoding="ascii")


def _start_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, _INTERFACE.pack(b"lo", 0))
        flags = _INTERFACE.unpack(asked)[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, _INTERFACE.pack(b"lo", flags | _IFF_UP))
