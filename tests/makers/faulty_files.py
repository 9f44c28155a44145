"""A disk and an object store in memory, whose operations fail as a schedule says.

The project's own modules for files work on it unchanged: `World.installed` gives them its `Path`,
its `os` and its store. Each operation of a process is a point where it can fail, be killed, or wait
while another process goes on. On the disk, what was not synchronized can be lost with the power.
"""

import contextlib
import dataclasses
import errno
import io
import itertools
import os
import pathlib
import threading
import types

import numpy as np
import pytest

from pairweave.transforms.commit import checking
from pairweave.transforms.output import receipts
from pairweave.transforms.storage import disk_files, files, object_stores

KINDS = ("error", "error_after", "torn", "absent", "kill", "kill_after", "power")
"""What can happen at an operation: it fails before or after it has had its effect, half of it is
done, what it looks for is not there yet, its process is killed before or after it, or the power
fails. Where a kind makes no sense, the operation fails."""

NEVER = 1 << 30

URI = "fault://bucket/out"
DISK = "/disk/out"


class Killed(BaseException):
    """The process is dead: whatever it tries now has no effect."""


_versions = itertools.count(1)


@dataclasses.dataclass(eq=False)
class Inode:
    """A file: its bytes, and those that survive the power; None before it is synchronized."""

    data: bytes = b""
    durable: bytes | None = None
    version: int = dataclasses.field(default_factory=_versions.__next__)


@dataclasses.dataclass
class Process:
    """A launcher with its workers, as the schedule sees it."""

    number: int
    faults: dict[int, str]
    operations: int = 0
    alive: bool = True
    ended: bool = False
    met: list[str] = dataclasses.field(default_factory=list)


class World:
    """Files, and the processes that use them one at a time."""

    def __init__(self, turns=(), seed=0):
        """Begin without a file; ``turns`` are numbers of operations until the other one's turn."""
        self.names, self.durable = {}, {}
        self.directories = {"/", "/disk"}
        self.processes, self.published = [], []
        self.check = _no_check
        self._drawn, self._turns, self._left = list(turns), [], NEVER
        self._draws = np.random.default_rng(seed)
        self._handles = {}
        self._here = threading.local()
        self._baton, self._running = threading.Condition(), 0

    # Processes ---------------------------------------------------------------------------------

    def run(self, *works):
        """Run functions, each as a process with its faults by operation; return what they do."""
        first = len(self.processes)
        self._turns, self._left = self._drawn, next(iter(self._drawn), NEVER)
        ends = [None] * len(works)
        self.processes += [
            Process(first + place, faults) for place, (_, faults) in enumerate(works)
        ]
        self._running = first

        def live(process, place, work):
            self._here.process = process
            with self._baton:
                self._baton.wait_for(lambda: self._running == process.number)
            try:
                ends[place] = work()
            except Killed as killed:
                ends[place] = killed
            except Exception as error:  # noqa: BLE001 - how it ends is what is examined
                ends[place] = error
            process.alive, process.ended = False, True
            self._hand_over(process)

        threads = [
            threading.Thread(target=live, args=(process, place, works[place][0]))
            for place, process in enumerate(self.processes[first:])
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        return ends

    def _hand_over(self, process):
        """Let another process go on, also a dead one that has not noticed, until it hands back."""
        others = [other for other in self.processes if other is not process and not other.ended]
        if others:
            with self._baton:
                self._running = others[0].number
                self._baton.notify_all()
                if not process.ended:
                    self._baton.wait_for(lambda: self._running == process.number)

    @property
    def process(self):
        """The process whose turn it is."""
        return getattr(self._here, "process", None)

    def meet(self, operation, path):
        """Count an operation; return what happens to it, None if nothing does."""
        process = self.process
        if process is None:
            return None
        if not process.alive:
            raise Killed
        process.operations += 1
        self._left -= 1
        if self._left < 0:
            self._turns = self._turns[1:]
            self._left = next(iter(self._turns), NEVER)
            self._hand_over(process)
            if not process.alive:
                raise Killed
        kind = process.faults.get(process.operations)
        if kind is not None:
            process.met.append(f"{operation} {path}: {kind}")
        if kind == "kill":
            self.kill(process)
        if kind == "power":
            self.lose_power()
            raise Killed
        if kind == "error":
            self.fail(path)
        return kind

    def after(self, kind, path):
        """Fail or die after an operation has had its effect."""
        if kind == "kill_after":
            self.kill(self.process)
        if kind in ("error_after", "torn", "absent"):
            self.fail(path)

    def kill(self, process):
        """End a process in the middle of what it does."""
        process.alive = False
        raise Killed

    def fail(self, path):
        """Raise what a disk or a store raises that does not work."""
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    def lose_power(self):
        """End all processes; of what is not synchronized, anything may be left."""
        kept = {}
        for path in sorted({*self.names, *self.durable}):
            now, before = self.names.get(path), self.durable.get(path)
            inode = now if now is before or self._draws.random() < 0.5 else before
            if inode is not None:
                kept[path] = inode
        for inode in kept.values():
            if inode.durable is None:
                inode.durable = inode.data[: int(self._draws.integers(len(inode.data) + 1))]
            inode.data = inode.durable
        self.names, self.durable = kept, dict(kept)
        for process in self.processes:
            process.alive = False

    # The disk ----------------------------------------------------------------------------------

    def publish(self, path, inode):
        """Give a file its name, where readers see it."""
        self.names[path] = inode
        self.check(path, inode.data)

    def damage(self, path, kept):
        """Cut a file, as a disk that is at fault does; delete it if nothing is kept."""
        if kept:
            data = self.names[path].data
            self.names[path].data = data[: int(kept * len(data))]
        else:
            del self.names[path]

    def tree(self, output):
        """Return the bytes of all files below a directory, by relative name."""
        start = f"{output}/"
        return {
            path.removeprefix(start): inode.data
            for path, inode in sorted(self.names.items())
            if path.startswith(start)
        }

    @contextlib.contextmanager
    def installed(self):
        """Let the modules for files work on this."""
        system = _System(self)
        path = type("SimulatedPath", (_Path,), {"world": self, "__slots__": ()})
        store = Store(self)
        with pytest.MonkeyPatch.context() as patch:
            for module in (files, disk_files):
                patch.setattr(module, "os", system)
                patch.setattr(module, "Path", path)
            patch.setattr(disk_files, "_started", self._started)
            patch.setattr(object_stores, "store_of", lambda _path: store)
            for module in (receipts, checking):
                patch.setattr(module, "ThreadPoolExecutor", _Inline)
            yield

    def _started(self, pid):
        known = pid < len(self.processes) and self.processes[pid].alive
        return "1" if known else ""


def _no_check(_path, _data):
    pass


class _Inline(contextlib.nullcontext):
    """A pool of no threads."""

    def __init__(self, **_):
        super().__init__(self)

    map = staticmethod(map)


class _Written(io.BytesIO):
    """A file that is being written on the disk."""

    def __init__(self, world, path, inode):
        super().__init__()
        self._world, self._path, self._inode = world, path, inode

    def write(self, data):
        kind = self._world.meet("write", self._path)
        if kind == "torn":
            self._inode.data += bytes(data)[: len(data) // 2]
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._inode.data += bytes(data)
        self._world.after(kind, self._path)
        return len(data)

    def fileno(self):
        number = 1000 + len(self._world._handles)
        self._world._handles[number] = self._inode
        return number


class _Path(pathlib.PurePosixPath):
    __slots__ = ()

    def _inode(self):
        inode = self.world.names.get(str(self))
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))
        return inode

    def is_file(self):
        self.world.meet("look", self)
        return str(self) in self.world.names

    def is_fifo(self):
        return False

    def is_dir(self):
        return str(self) in self.world.directories

    exists = is_dir

    def mkdir(self, **_):
        self.world.directories |= {str(self), *map(str, self.parents)}

    def stat(self):
        return types.SimpleNamespace(st_size=len(self._inode().data), st_mtime=0.0)

    def open(self, mode):
        kind = self.world.meet("open", self)
        if mode == "xb":
            inode = self.world.names[str(self)] = Inode()
            self.world.after(kind, self)
            return _Written(self.world, self, inode)
        if kind is not None:
            self.world.after(kind, self)
        return io.BytesIO(self._inode().data)

    def replace(self, target):
        kind = self.world.meet("rename", target)
        if kind in ("torn", "absent"):
            self.world.fail(target)
        self.world.publish(str(target), self._inode())
        del self.world.names[str(self)]
        self.world.after(kind, target)

    def unlink(self, *, missing_ok=False):
        kind = self.world.meet("unlink", self)
        self.world.check(str(self), None)
        if not missing_ok:
            self._inode()
        self.world.names.pop(str(self), None)
        self.world.after(kind, self)

    def glob(self, _pattern):
        return []  # there are no links here

    def rmdir(self):
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(self))


class _System:
    """The functions of `os` that the modules for files call."""

    def __init__(self, world):
        self._world = world

    def __getattr__(self, name):
        return getattr(os, name)

    def getpid(self):
        return self._world.process.number

    def open(self, path, _flags):
        number = -1000 - len(self._world._handles)
        self._world._handles[number] = str(path)
        return number

    def close(self, number):
        del number

    def fsync(self, number):
        target = self._world._handles[number]
        kind = self._world.meet("fsync", target if isinstance(target, str) else "file")
        if kind in ("torn", "absent"):
            self._world.fail("")
        if isinstance(target, Inode):
            target.durable = target.data
        else:
            self._sync_names(target)
        self._world.after(kind, "")

    def _sync_names(self, directory):
        for path in {*self._world.names, *self._world.durable}:
            if path.rpartition("/")[0] == directory:
                if path in self._world.names:
                    self._world.durable[path] = self._world.names[path]
                else:
                    del self._world.durable[path]

    def link(self, source, target):
        kind = self._world.meet("link", target)
        if str(target) in self._world.names:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        if kind in ("torn", "absent"):
            self._world.fail(target)
        self._world.publish(str(target), source._inode())
        self._world.after(kind, target)

    def scandir(self, directory):
        kind = self._world.meet("list", directory)
        if kind is not None:
            self._world.after(kind, directory)
        start = f"{directory}/"
        names = [path.removeprefix(start) for path in self._world.names if path.startswith(start)]
        folders = sorted({name.partition("/")[0] for name in names if "/" in name})
        return [
            *(_entry(name, folder=False) for name in names if "/" not in name),
            *(_entry(name, folder=True) for name in folders),
        ]


def _entry(name, *, folder):
    return types.SimpleNamespace(name=name, is_file=lambda: not folder, is_dir=lambda **_: folder)


class Store:
    """Objects in memory; see `object_stores.Store`. A put shows all of an object or nothing."""

    def __init__(self, world):
        self._world = world

    def list(self, prefix, most=None, *, nested=True):
        """Yield the objects that begin with a prefix; the newest may not be listed yet."""
        kind = self._world.meet("list", prefix)
        listed = [path for path in self._world.names if path.startswith(prefix)]
        listed = [path for path in listed if nested or "/" not in path.removeprefix(prefix)]
        yield from listed[:-1] if kind == "absent" else listed[:most]
        if kind != "absent":
            self._world.after(kind, prefix)

    def version(self, path):
        """Return what an object is now."""
        kind = self._world.meet("look", path)
        inode = None if kind == "absent" else self._world.names.get(path)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._world.after(kind, path)
        return object_stores.Version(len(inode.data), inode.version, 0.0)

    def read(self, path, version, start, stop):
        """Return a range of one version of an object."""
        kind = self._world.meet("read", path)
        if kind is not None:
            self._world.after(kind, path)
        inode = self._world.names.get(path)
        if inode is None or inode.version != version.tag:
            raise FileExistsError(errno.EEXIST, "changed while it was used", path)
        return inode.data[start:stop]

    def put(self, path, data):
        """Write an object in one go."""
        self._put(path, data.read(), self._world.meet("put", path))

    def put_absent(self, path, data):
        """Write an object only if there is none; tell whether it was written."""
        kind = self._world.meet("put if absent", path)
        if path in self._world.names:
            return False
        self._put(path, data, kind)
        return True

    def _put(self, path, data, kind):
        if kind in ("torn", "absent"):
            self._world.fail(path)
        inode = Inode(bytes(data), bytes(data))
        self._world.durable[path] = inode
        self._world.publish(path, inode)
        self._world.after(kind, path)

    def delete(self, path):
        """Delete an object."""
        kind = self._world.meet("delete", path)
        self._world.check(path, None)
        self._world.durable.pop(path, None)
        if self._world.names.pop(path, None) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._world.after(kind, path)
