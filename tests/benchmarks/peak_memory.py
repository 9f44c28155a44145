"""Measure the peak memory and the time of a command and everything that it starts.

``python -m tests.benchmarks.peak_memory augment --source_input … --memory 2GiB`` runs ``pairweave``
with these arguments. The memory of the processes is their proportional set size (PSS), in which
pages that several processes share count once; the largest single process is given by its RSS.
Pages of unnamed temporary files are the kernel's and are not counted. For Linux.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from pairweave.pipelines.process import descendants
from tests.makers import runs

SECONDS = 0.1


def memory_of(pid: int) -> tuple[int, int]:
    """Return the PSS and RSS of a process in bytes; zeros if it has ended."""
    result = {"Pss": 0, "Rss": 0}
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name in result:
                result[name] = int(value.split()[0]) << 10
    return result["Pss"], result["Rss"]


def watch(process: "subprocess.Popen[bytes]") -> tuple[int, int]:
    """Return the largest sum of PSS and the largest RSS while a process and its own run."""
    together = largest = 0
    while process.poll() is None:
        every = [memory_of(pid) for pid in (process.pid, *descendants.of(process.pid))]
        together = max(together, sum(pss for pss, _ in every))
        largest = max(largest, *(rss for _, rss in every))
        time.sleep(SECONDS)
    return together, largest


def main(arguments: list[str]) -> int:
    """Run the command and print a line of JSON."""
    environment = {**os.environ, "PYTHONPATH": str(runs.ROOT)}
    began = time.perf_counter()
    process = subprocess.Popen([*runs.COMMAND, *arguments], env=environment)
    together, largest = watch(process)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {
        "status": process.returncode,
        "seconds": round(time.perf_counter() - began, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "together_mib": together >> 20,
        "largest_mib": largest >> 20,
    }
    print(json.dumps(figures))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
