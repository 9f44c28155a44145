"""Checks of the available memory before any work fails for lack of it."""

import dataclasses
import os
import resource
from pathlib import Path

from pairweave.transforms.errors import ConfigError

MIN_BYTES = {"address space (ulimit -v)": 3 << 30, "memory": 1 << 30}
"""The minimum memory of a job with one worker: libraries alone map 2 GiB."""

REMEDY = (
    "give the run more memory, fewer --workers if there are several, or a smaller --shard_pairs"
)
"""Advice if memory runs out."""

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")

_RAN_OUT = (
    *("MemoryError", "ArrowMemoryError", "std::bad_alloc", "can't start new thread"),
    *("Cannot allocate memory", "malloc of size", "OutOfMemoryError"),
)


@dataclasses.dataclass(frozen=True)
class Limit:
    """The memory that a run may use.

    Attributes:
        size: Bytes.
        whose: What sets the limit, for messages.
        is_hard: Whether a process that exceeds it is killed, or the user set it.
    """

    size: int
    whose: str
    is_hard: bool


def parse_size(text: str) -> int:
    """Return the bytes of a size with its unit, such as 2GiB.

    >>> parse_size("2GiB"), parse_size("1.5 MB")
    (2147483648, 1500000)
    """
    import pydantic

    return pydantic.TypeAdapter(pydantic.ByteSize).validate_python(text)


def show_size(size: int) -> str:
    """Return a size as a user would give it, rounded up.

    >>> show_size(1 << 31), show_size((1 << 31) + 1), show_size(5 << 20)
    ('2GiB', '2.1GiB', '5MiB')
    """
    if size < 1 << 30:
        return f"{-(-size >> 20)}MiB"
    tenths = -(-10 * size >> 30)
    return f"{tenths // 10}GiB" if tenths % 10 == 0 else f"{tenths / 10}GiB"


def machine_bytes() -> int:
    """Return the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def container_bytes(cgroups: Path = _CGROUPS, own: Path = _OWN_CGROUP) -> int | None:
    """Return the lowest memory limit of this process's control groups; None if there is none.

    Args:
        cgroups: Where control groups are mounted, of version 1 or 2.
        own: The file that names those of this process.
    """
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    limits = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            name = "memory.limit_in_bytes" if controllers else "memory.max"
            limits += _limits(cgroups / controllers, path.lstrip("/"), name)
    # Version 1 says "no limit" with a number above any machine's memory.
    return min((limit for limit in limits if limit < machine_bytes()), default=None)


def _limits(mounted: Path, path: str, name: str) -> list[int]:
    """Return the limits of a control group and of those that contain it.

    In a container, the path may be that of the host, where only the root is mounted.
    """
    groups = [mounted / path, *(mounted / path).parents]
    limits = []
    for group in groups[: len(Path(path).parts) + 1]:
        try:
            text = (group / name).read_text(encoding="utf-8").strip()
        except OSError:
            continue
        limits += [int(text)] if text.isdecimal() else []
    return limits


def limit(size: str | None) -> Limit:
    """Return the memory that a run may use: the given limit, the container's or the machine's."""
    if size is not None:
        return Limit(parse_size(size), f"--memory {size}", is_hard=True)
    container = container_bytes()
    if container is not None:
        return Limit(container, f"this container's limit of {show_size(container)}", is_hard=True)
    machine = machine_bytes()
    return Limit(machine, f"this machine's {show_size(machine)}", is_hard=False)


def require_memory() -> None:
    """Check that a job can start at all.

    Raises:
        ConfigError: The process may not use, or the machine does not have, the memory that a job
            needs.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    limits = {"memory": machine_bytes()}
    if soft != resource.RLIM_INFINITY:
        limits["address space (ulimit -v)"] = soft
    for what, there in limits.items():
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
