"""Print the CPU time to compile again what is in the directory ``NUMBA_CACHE_DIR``, by function.

A kernel's own time is without that of the functions it calls, of which each is compiled once.
"""

import collections
import importlib
import pkgutil
import sys
import time

from numba.core import caching, event
from numba.core.dispatcher import Dispatcher

from pairweave.transforms import kernels


class OwnTimes(event.Listener):
    """Adds up the CPU seconds of each function, without those of functions compiled meanwhile."""

    def __init__(self):
        self.seconds = collections.Counter()
        self._running = []

    def on_start(self, event):  # noqa: ARG002
        """Notice that a function begins to be compiled."""
        self._running.append([time.process_time(), 0.0])

    def on_end(self, event):
        """Add its time."""
        start, others = self._running.pop()
        spent = time.process_time() - start
        if self._running:
            self._running[-1][1] += spent
        function = event.data["dispatcher"].py_func
        self.seconds[f"{function.__module__}.{function.__qualname__}"] += spent - others


def compiled_signatures():
    """Return each kernel with the parameters' types for which there is compiled code."""
    result = []
    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        for kernel in vars(importlib.import_module(module.name)).values():
            if isinstance(kernel, Dispatcher) and kernel.py_func.__module__ == module.name:
                index = kernel._cache._cache_file._load_index()
                result += [(kernel, key[0]) for key in index]
                kernel._cache = caching.NullCache()
    return result


def main(shown):
    """Compile and print."""
    times = OwnTimes()
    event.register("numba:compile", times)
    signatures = compiled_signatures()
    for kernel, types in signatures:
        kernel.compile(types)
    total = sum(times.seconds.values())
    print(f"{total:.1f} s of CPU time for {len(signatures)} signatures and what Numba adds")
    for name, seconds in times.seconds.most_common(shown):
        print(f"{seconds:6.2f} {name}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
