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
import importlib
import os
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ENGINES = ("prism", "flink")
"""Engines with servers of their own."""

ELSEWHERE = (
    *("runner", "flink_master", "job_endpoint", "artifact_endpoint"),
    *("flink_submit_uber_jar", "subnetwork", "temp_location", "staging_location"),
)
"""Options by which a part of the run, or its files, may be on another machine."""

NO_PLACES = ("corpus", "licence")
"""Options that may have an address as their text, which nobody opens."""

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


def is_wanted(words: Sequence[str]) -> bool:
    """Tell whether a command line selects an engine with servers and nothing remote.

    Mistakes in options are reported later, by those who read them; until then nothing is wanted.

    >>> is_wanted(["augment", "--engine", "prism", "--input", "a.tsv"])
    True
    >>> is_wanted(["augment", "--engine", "prism", "--input", "s3://bucket/a.tsv"])
    False
    """
    given = dict(_flags(words))
    jobs = list(_jobs(words[0], given)) if words else []
    if not any(values.get("engine") in ENGINES for _, values in jobs):
        return False
    if any(name in given for name in ELSEWHERE) or any("://" in word for word in _bare(words)):
        return False
    if given.get("environment_type", "PROCESS") not in ("PROCESS", "LOOPBACK"):
        return False
    return not any(_is_remote(job, values) for job, values in jobs)


def _flags(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            yield name.replace("-", "_"), value if equals else following


def _bare(words: Sequence[str]) -> Iterator[str]:
    """Yield all words but the values of `NO_PLACES`; an option may have several values."""
    skipped = False
    for word in words:
        if word.startswith("--"):
            skipped = word[2:].partition("=")[0].replace("-", "_") in NO_PLACES
        if not skipped:
            yield word


def _jobs(command: str, given: Mapping[str, str]) -> Iterator[tuple[str, Values]]:
    """Yield each job that a command runs, with its options from YAML and from flags."""
    document = _document(given["config"]) if "config" in given else {}
    if command == "run":
        steps = document.pop("steps", None)
        for step in _steps(steps):
            yield str(step.get("job")), {**document, **step, **given}
    elif command == "refresh":
        yield str(document.get("job")), {**document, **given}
    else:
        yield command, {**document, **given}


def _document(path: str) -> Values:
    from pairweave.pipelines.command_line.yaml_files import read_yaml
    from pairweave.transforms.errors import ConfigError

    try:
        value = read_yaml(path) if Path(path).is_file() else {}
    except ConfigError:
        return {}
    return dict(value) if isinstance(value, dict) else {}


def _steps(entries: object) -> Iterator[Values]:
    """Yield the steps of a recipe, including those of repeated blocks."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield from _steps(entry["steps"]) if "steps" in entry else (entry,)


def _is_remote(job: str, values: Values) -> bool:
    """Tell whether options of a job name a place elsewhere, or a model that is not here."""
    from pairweave.pipelines.cli import COMMANDS
    from pairweave.transforms.config import may_be_from_hub

    module, _, name = COMMANDS[job].options.partition(":") if job in COMMANDS else ("", "", "")
    if not module:
        return True  # no job, so nothing runs on an engine
    fields = getattr(importlib.import_module(module), name).model_fields
    if any("://" in text for text in _texts(values)):
        return True
    return not all(
        _is_here(name, value)
        for name, value in values.items()
        if name in fields and may_be_from_hub(fields[name]) and isinstance(value, str)
    )


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of an option that may be places."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in NO_PLACES:
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _is_here(option: str, value: str) -> bool:
    """Tell whether a model is a local directory, or a program that needs none."""
    from pairweave.pipelines.aligners.aligner_registry import read_name
    from pairweave.transforms.errors import ConfigError

    if option == "second_aligner":
        try:
            model = read_name(value, "--second_aligner").model
        except ConfigError:
            return False
        return model is None or Path(model).expanduser().exists()
    kind, colon, path = value.partition(":")
    is_kind = colon and kind in ("ctranslate2", "transformers")
    return Path(path if is_kind else value).expanduser().exists()


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
