"""Compiled kernels in files: those that the package ships, and those that were compiled here.

A message is logged while they are compiled, which takes a minute if none are shipped.

Numba keeps compiled functions next to their sources, or in the user's cache if that folder is
read-only. It looks a function up by the name and the features of the CPU, and loads none that was
compiled for another CPU. A wheel for one platform (`deploy/wheels`) also ships kernels that were
compiled for any CPU of that platform, and faster ones for most of them.
"""

import contextlib
import functools
import inspect
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

import llvmlite.binding
from numba.core import caching, config, event
from numba.core.dispatcher import Dispatcher

from pairweave.transforms.kernels import kernel_sources

SHIPPED = "compiled_kernels"
"""The folder of the package where a wheel for one platform has its kernels."""

VERSION = "numba.txt"
"""The file in it with the version of Numba that compiled them; no other version loads them."""

CPUS = "cpus.txt"
"""The file in it with the kinds of CPU that they were compiled for."""

ANY_CPU = "generic"
"""LLVM's name for any CPU of a platform."""

MODERN_CPU = "x86-64-v3"
"""LLVM's name for CPUs with AVX2, which nearly all since 2015 have: vectors are twice as long."""

MODERN_FEATURES = frozenset(
    ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "xsave")
)
"""The features of such a CPU, by their names in LLVM."""

_OUTDATED = (AttributeError, ImportError)
"""The errors that unpickling raises if a type no longer exists."""


class KernelFiles(caching.IndexDataCacheFile):
    """The files with the compiled code of one kernel, for all types of its parameters."""

    def _load_index(self) -> dict[Any, str]:
        """Return the file of each signature; none if the index is out of date.

        Numba unpickles the types of the parameters before it compares versions of the source. After
        an upgrade that renames or moves such a type, this fails, and so would each call.
        """
        try:
            return super()._load_index()
        except _OUTDATED:
            return {}


class Nowhere(caching.InTreeCacheLocator):
    """Takes the place of a directory where none can be written to."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "Nowhere":  # noqa: ANN401 - any function
        """Return a locator for any function."""
        return cls(py_func, py_file)


class KernelPlaces(caching.CompileResultCacheImpl):
    """Where Numba keeps compiled code, or nowhere."""

    _locator_classes = [*caching.CacheImpl._locator_classes, Nowhere]  # noqa: RUF012 - as Numba's


class KernelCache(caching.FunctionCache):
    """Finds the compiled code of a kernel here or among those shipped, and saves new code here.

    Code counts as out of date if the kernel's file or one that it imports from has changed. If
    those cannot be read, as in a zip file, it is kept as Numba does by itself.
    """

    _impl_class = KernelPlaces

    def __init__(self, function: Any, package: Path = kernel_sources.PACKAGE) -> None:  # noqa: ANN401
        super().__init__(function)
        self._shipped: KernelFiles | None = None
        if isinstance(self._impl.locator, Nowhere):
            self._cache_path = None  # nothing is locked, loaded or saved
        with contextlib.suppress(OSError):
            stamp = kernel_sources.digest(Path(inspect.getfile(function)).absolute(), package)
            name = self._impl.filename_base
            self._cache_file = KernelFiles(self._cache_path or "", name, stamp)
            self._shipped = KernelFiles(str(package / SHIPPED), name, stamp)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401 - Numba's
        compiled = None
        if self._cache_path is not None:
            compiled = super()._load_overload(sig, target_context)
        if compiled is not None or self._shipped is None or _debugs() or not self._enabled:
            return compiled
        signature, (triple, *_), function = self._index_key(sig, target_context.codegen())
        for cpu in usable_cpus():
            data = self._shipped.load((signature, (triple, cpu, ""), function))
            if data is not None:
                return self._impl.rebuild(target_context, data)
        return None

    def _save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401 - Numba's
        if self._cache_path is not None:
            super()._save_overload(sig, data)


def platform_cpus() -> tuple[str, ...]:
    """Return the kinds of CPU of this platform that kernels are shipped for, the best first."""
    is_x86 = llvmlite.binding.get_process_triple().startswith("x86_64")
    return (MODERN_CPU, ANY_CPU) if is_x86 else (ANY_CPU,)


@functools.cache
def usable_cpus() -> tuple[str, ...]:
    """Return the `platform_cpus` whose code runs here; only `ANY_CPU` if Numba is set to another.

    `NUMBA_CPU_NAME`, `NUMBA_CPU_FEATURES` and `NUMBA_ENABLE_AVX` set it.
    """
    told = (
        getattr(config, "CPU_NAME", None) not in (None, MODERN_CPU)
        or getattr(config, "CPU_FEATURES", None)
        or not getattr(config, "ENABLE_AVX", True)
    )
    if told or MODERN_CPU not in platform_cpus():
        return (ANY_CPU,)
    try:
        features = llvmlite.binding.get_host_cpu_features()
    except RuntimeError:  # the processor is unknown
        return (ANY_CPU,)
    modern = all(features.get(name) for name in MODERN_FEATURES)
    return platform_cpus() if modern else (ANY_CPU,)


def _debugs() -> bool:
    """Return True if kernels are to check bounds or to have debug information."""
    return bool(getattr(config, "BOUNDSCHECK", 0) or getattr(config, "DEBUGINFO_DEFAULT", 0))


def shipped_for(package: Path = kernel_sources.PACKAGE) -> str | None:
    """Return the version of Numba that compiled the kernels that the package ships.

    Returns:
        None if it ships none.
    """
    with contextlib.suppress(OSError):
        return (package / SHIPPED / VERSION).read_text(encoding="utf-8").strip()
    return None


def are_usable(package: Path = kernel_sources.PACKAGE) -> bool:
    """Tell whether kernels that the package ships are for a CPU whose code runs here."""
    cpus = [ANY_CPU]
    with contextlib.suppress(FileNotFoundError):
        cpus = (package / SHIPPED / CPUS).read_text(encoding="utf-8").split()
    return not set(cpus).isdisjoint(usable_cpus())


def cache_kernels() -> None:
    """Make Numba keep the package's functions in a `KernelCache`; a second call has no effect."""
    enable = Dispatcher.enable_caching
    if hasattr(enable, "__wrapped__"):
        return

    @functools.wraps(enable)
    def enable_caching(dispatcher: Any) -> None:  # noqa: ANN401 - Numba's
        module = dispatcher.py_func.__module__
        if module.partition(".")[0] == kernel_sources.PACKAGE.name:
            dispatcher._cache = KernelCache(dispatcher.py_func)
        else:
            enable(dispatcher)

    Dispatcher.enable_caching = enable_caching  # type: ignore[assignment, method-assign]


class Announcer(event.Listener):
    """Logs that kernels are compiled, once per run, when this begins to take time.

    Worker processes compile too; a file in the run's temporary directory, which all of them have in
    ``TMPDIR``, tells them that one has logged this.
    """

    SECONDS = 0.5
    MARK = "compiling"

    def __init__(self) -> None:
        self._since: float | None = None
        self._said = False
        self._lock = threading.Lock()

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002
        """Note that the compilation of a function begins."""
        self._notice()

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002
        """Note that a function has been compiled."""
        self._notice()

    def _notice(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._since = self._since or now
            if self._said or now - self._since < self.SECONDS:
                return
            self._said = True
        if _is_first(self.MARK):
            logging.getLogger("pairweave").info(
                "compiling kernels for this kind of run, once for this installation: a minute or "
                "two, then it starts at once"
            )


def _is_first(mark: str) -> bool:
    """Tell whether no process of the run has left a mark before; a run has a directory."""
    directory = Path(os.environ.get("TMPDIR", ""))
    if not directory.name.startswith("pairweave-run-"):
        return True
    try:
        (directory / mark).touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


@functools.cache
def announce_compilation() -> None:
    """Let this process log that it compiles kernels; a second call changes nothing."""
    event.register("numba:compile", Announcer())
