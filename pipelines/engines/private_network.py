"""A private network for one run, in which Beam's servers can listen without being reachable.

The servers of Prism and Flink listen on every interface of the machine, have no authentication, and
run the code that they are sent. Neither has an option that closes all of their ports. Linux lets a
process leave the machine's network for one that contains only a loopback interface, shared only
with the processes that it starts. Nobody else can connect to a port there: no other machine, and no
other user of this one.
"""

import argparse
import ctypes
import errno
import fcntl
import functools
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairweave.pipelines.command_line.command_table import COMMANDS, options_of
from pairweave.pipelines.process.log import LOG
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage.disk_files import is_uri

if TYPE_CHECKING:
    from pairweave.pipelines.options.base import Options

ENGINES = ("prism", "flink")
"""Engines with servers of their own."""

_BEAM_PLACES = (
    *("runner", "flink_master", "job_endpoint", "artifact_endpoint"),
    *("flink_submit_uber_jar", "subnetwork", "temp_location", "staging_location"),
)
"""Beam options that may put a part of the run, or its files, on another machine."""

Values = dict[str, Any]

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


@functools.cache  # warn only once
def warn_of_open_ports(engine: str) -> None:
    """Warn that an engine's ports can be reached, unless this process has its own network."""
    if not entered():
        LOG.warning(
            "engine %s listens on ports through which anyone who can reach this machine can "
            "run code as you, because this run cannot have its own network; see SECURITY.md",
            engine,
        )


def is_wanted(words: Sequence[str]) -> bool:
    """Tell whether a command line selects an engine with servers and nothing remote.

    This runs before anything starts a thread, because a process that leaves the network must have
    only one. Options are therefore read by their own parser, but Beam's options by a small one,
    because Beam's parser imports Beam. Errors in options are reported later by the code that uses
    them; here they count as no such engine.

    >>> is_wanted(["augment", "--engine", "prism", "--input", "a.tsv"])
    True
    >>> is_wanted(["augment", "--engine", "prism", "--input", "s3://bucket/a.tsv"])
    False
    """
    try:
        given, beam = _read(words)
        return (
            any(values.get("engine") in ENGINES for _, values in given[:-1])
            and not _names_other_machine(beam)
            and all(_is_here(kind, values) for kind, values in given)
        )
    except ConfigError:
        return False


def _read(words: Sequence[str]) -> tuple[list[tuple[type["Options"], Values]], list[str]]:
    """Parse a command line and its file.

    Returns:
        The options of each job that the command runs, and last its own, as their class and the
        values given; no options if it runs no job on an engine. The remaining words, which are
        Beam options.

    Raises:
        ConfigError: The command line or the file cannot be read.
    """
    from pairweave.pipelines.command_line import flags
    from pairweave.transforms.storage.yaml_files import read_yaml

    none: tuple[list[Any], list[str]] = [], []
    if not words or words[0] not in COMMANDS or not {"-h", "--help"}.isdisjoint(words):
        return none
    kind = options_of(words[0])
    if kind is None or "engine" not in kind.model_fields:
        return none
    option_values, beam = flags.given_values(kind, f"pairweave {words[0]}", words[1:])
    path = option_values.pop("config", None)
    if path is not None and is_uri(path):
        return none  # the job reads it once more
    document = read_yaml(path) if path is not None else {}
    if not isinstance(document, dict):
        return none
    given = []
    for job, values in _jobs(words[0], document):
        of_job = options_of(job) if isinstance(job, str) and job in COMMANDS else None
        if of_job is None:
            return none
        given.append((of_job, {**values, **option_values}))
    return [*given, (kind, option_values)], beam


def _jobs(command: str, document: Values) -> Iterator[tuple[object, Values]]:
    """Yield each job that a command runs, with its options in a file."""
    if command == "run":
        for step in _steps(document.get("steps")):
            yield step.get("job"), {**document, **step}
    elif command == "refresh":
        yield document.get("job"), document
    else:
        yield command, document


def _steps(entries: object) -> Iterator[Values]:
    """Yield the steps of a recipe, including those of repeated blocks."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield from _steps(entry["steps"]) if "steps" in entry else (entry,)


def _names_other_machine(words: Sequence[str]) -> bool:
    """Tell whether Beam options put a part of the run, or its files, on another machine."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in _BEAM_PLACES:
        parser.add_argument(f"--{name}", nargs="?", const="", dest="places", action="append")
    parser.add_argument("--environment_type", default="PROCESS")
    known, rest = parser.parse_known_args(words)
    is_local = known.environment_type in ("PROCESS", "LOOPBACK")
    return bool(known.places) or not is_local or any("://" in word for word in rest)


def _is_here(kind: type["Options"], values: Values) -> bool:
    """Tell whether all places and models that the options name are on this machine.

    Raises:
        ConfigError: An option cannot be read.
    """
    from pairweave.transforms.option_places import places_in

    return not any(
        is_uri(place.path) or (place.on_hub and not Path(place.path).expanduser().exists())
        for place in places_in(kind, values)
    )


def enter() -> None:
    """Leave the machine's network for one that this process shares only with those it starts.

    This process must have a single thread.

    Raises:
        OSError: The system does not allow it; the process is still in its old network.
    """
    global _entered
    # A process that fails halfway is left without a user, so a fork tries first.
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
        # Only root may do this. Other users may in a user namespace, in which they keep their ids.
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
