"""What Linux reports about a process in ``/proc``."""

from pathlib import Path


def words_of(pid: int) -> list[bytes]:
    """Return the words of a process's ``stat`` from the third on, its state (proc(5)).

    Raises:
        OSError: There is no such process.
    """
    # The second word, the name in brackets, may contain anything.
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()


def started(pid: int) -> int | None:
    """Return when a process started, in ticks since the machine did; None if it has ended."""
    try:
        words = words_of(pid)
    except OSError:
        return None
    return None if words[0] in (b"Z", b"X") else int(words[19])
