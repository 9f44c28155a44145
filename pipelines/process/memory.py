"""Check for enough memory before anything fails for lack of it."""

import os
import resource

from pairweave.transforms.errors import ConfigError

MIN_BYTES = {"address space (ulimit -v)": 3 << 30, "memory": 1 << 30}
"""The least memory of a job with one worker: libraries alone map 2 GiB."""

REMEDY = "give the run more memory, fewer --workers, or a smaller --shard_pairs"
"""Advice if memory runs out."""

_RAN_OUT = (
    *("MemoryError", "ArrowMemoryError", "std::bad_alloc", "can't start new thread"),
    *("Cannot allocate memory", "malloc of size", "OutOfMemoryError"),
)


def require_memory() -> None:
    """Check that a job can start at all.

    Raises:
        ConfigError: The process may not use, or the machine does not have, the memory that a job
            needs.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    found = {"memory": machine}
    if soft != resource.RLIM_INFINITY:
        found["address space (ulimit -v)"] = soft
    for what, there in found.items():
        if there < MIN_BYTES[what]:
            raise ConfigError(
                f"too little {what}: {there >> 20:,} MiB, a job needs {MIN_BYTES[what] >> 20:,} "
                "MiB or more; raise the limit, or use another machine"
            )


def ran_out(message: str) -> bool:
    """Tell whether an error's text means that memory ran out.

    >>> ran_out("RuntimeError: can't start new thread"), ran_out("KeyError: 'a'")
    (True, False)
    """
    return any(sign in message for sign in _RAN_OUT)
