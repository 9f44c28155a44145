"""Faults in a command and its workers: Python imports this file first where it is on the path.

``PAIRWEAVE_FAULTS`` is a list in JSON, or ``@`` and a file with one; each fault has

- ``at``: the function that is replaced, as ``module:name``, where it is looked up,
- ``of``: a pattern for what it is called with (`_subject`); empty for every call,
- ``do``: ``kill`` ends the process, ``raise`` raises an error, a name of `errno` an `OSError`,
  ``jump`` adds ten years to a result after the first hundred, ``hold`` waits for a file, whose
  name is that of ``once`` and ``.go``,
- ``after``: whether that comes after the call,
- ``once``: a file that is made when it happens, with the number of the process, so that it happens
  once; empty for every time.
"""

import errno
import functools
import importlib.abc
import importlib.util
import itertools
import json
import os
import re
import signal
import sys
import time
from pathlib import Path


def _given():
    text = os.environ.get("PAIRWEAVE_FAULTS", "[]")
    if text.startswith("@"):
        text = Path(text[1:]).read_text(encoding="utf-8")
    return json.loads(text)


FAULTS = _given()

YEARS = 315_360_000.0
"""Ten of them, in seconds."""

CALLS = 100
"""So often a clock is right before it jumps."""

HOLD_SECONDS = 600.0
"""A process that is held goes on after this time, whatever has become of the test."""


class InjectedError(Exception):
    """What a function raises that is at fault itself."""


def _subject(arguments):
    """Say what a call is about: a shard, a unit, or the paths among its arguments."""
    for value in arguments:
        if hasattr(value, "shard"):
            return f"shard {value.shard.number}"
        if hasattr(value, "first_line"):
            return f"unit {value.index}"
    paths = (str(value) for value in arguments if isinstance(value, str | os.PathLike))
    return " ".join(paths)


def _happens(fault, arguments):
    if not re.search(fault["of"], _subject(arguments)):
        return False
    if fault["once"]:
        # In one step, so that whoever sees the file can read the number.
        new = Path(f"{fault['once']}.{os.getpid()}")
        new.write_text(str(os.getpid()), encoding="ascii")
        try:
            os.link(new, fault["once"])
        except FileExistsError:
            return False
        finally:
            new.unlink()
    return True


def _hold(fault):
    deadline = time.monotonic() + HOLD_SECONDS
    while not Path(f"{fault['once']}.go").exists() and time.monotonic() < deadline:
        time.sleep(0.05)


def _do(fault, arguments):
    if fault["do"] == "hold":
        _hold(fault)
        return
    if fault["do"] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault["do"] == "raise":
        raise InjectedError(f"at {_subject(arguments)}")
    number = getattr(errno, fault["do"])
    raise OSError(number, os.strerror(number), _subject(arguments))


def _jumping(function):
    calls = itertools.count()

    @functools.wraps(function)
    def called():
        return function() + YEARS * (next(calls) > CALLS)

    return called


def _faulty(function, fault):
    if fault["do"] == "jump":
        return _jumping(function)

    @functools.wraps(function)
    def called(*arguments, **settings):
        happens = _happens(fault, arguments)
        if happens and not fault["after"]:
            _do(fault, arguments)
        result = function(*arguments, **settings)
        if happens:
            _do(fault, arguments)
        return result

    return called


def _put(module, fault):
    *owners, name = fault["at"].partition(":")[2].split(".")
    place = functools.reduce(getattr, owners, module)
    setattr(place, name, _faulty(getattr(place, name), fault))


class _Loader(importlib.abc.Loader):
    def __init__(self, loader, faults):
        self._loader, self._faults = loader, faults

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        for fault in self._faults:
            _put(module, fault)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, faults):
        self._faults = faults

    def find_spec(self, name, path, target=None):  # noqa: ARG002 - as Python calls it
        chosen = [fault for fault in self._faults if fault["at"].partition(":")[0] == name]
        if not chosen:
            return None
        self._faults = [fault for fault in self._faults if fault not in chosen]
        spec = importlib.util.find_spec(name)
        spec.loader = _Loader(spec.loader, chosen)
        return spec


for _fault in FAULTS:
    if _fault["at"].partition(":")[0] in sys.modules:
        _put(sys.modules[_fault["at"].partition(":")[0]], _fault)
sys.meta_path.insert(
    0, _Finder([each for each in FAULTS if each["at"].partition(":")[0] not in sys.modules])
)
