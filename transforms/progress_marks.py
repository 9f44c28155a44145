"""Marks of the workers' progress within a shard, for the progress bar of a command.

They are files in the temporary directory of the run, which its workers have in ``TMPDIR``. Workers
on other machines leave none.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_RUN = "pairweave-run-"
_ALIGNED = "aligned-"
_FITTING = "fitting"


class Marks(NamedTuple):
    """The progress of a run.

    Attributes:
        aligned: Number of aligned pairs, including pairs of unfinished shards.
        rounds: The current round of fitting an aligner, from 1, and the number of rounds; after the
            last round, one more than this number. Zeros before the first round.
    """

    aligned: int
    rounds: tuple[int, int]


class _Marked(threading.local):
    """Number of pairs that this thread has marked: a process may align two shards at once."""

    pairs = 0


_marked = _Marked()


def aligned(pairs: int) -> None:
    """Mark that this process has aligned further pairs."""
    _marked.pairs += pairs
    directory = _directory()
    if directory is not None:
        with (
            contextlib.suppress(OSError),
            (directory / f"{_ALIGNED}{os.getpid()}").open("a") as file,
        ):
            file.write(f"{pairs}\n")


@contextlib.contextmanager
def aligning(pairs: int) -> Iterator[None]:
    """Mark pairs as aligned when this block ends, except pairs that the block itself marks."""
    before = _marked.pairs
    yield
    left = pairs - (_marked.pairs - before)
    if left > 0:
        aligned(left)


def fitting(begun: int, rounds: int) -> None:
    """Mark that a round of fitting an aligner begins."""
    directory = _directory()
    if directory is not None:
        with contextlib.suppress(OSError):
            (directory / _FITTING).write_text(f"{begun} {rounds}\n", encoding="utf-8")


def read() -> Marks:
    """Return the marks of the workers since `clear`."""
    directory = _directory()
    pairs, rounds = 0, (0, 0)
    if directory is not None:
        with contextlib.suppress(OSError, ValueError):  # a line may be half written
            for path in directory.glob(f"{_ALIGNED}*"):
                pairs += sum(map(int, path.read_text(encoding="utf-8").split()))
        with contextlib.suppress(OSError, ValueError):
            begun, number = (directory / _FITTING).read_text(encoding="utf-8").split()
            rounds = int(begun), int(number)
    return Marks(pairs, rounds)


def clear() -> None:
    """Remove the marks of an earlier attempt or job."""
    directory = _directory()
    if directory is not None:
        for path in (*directory.glob(f"{_ALIGNED}*"), directory / _FITTING):
            with contextlib.suppress(OSError):
                path.unlink()


def _directory() -> Path | None:
    """Return the temporary directory of the run to which this process belongs."""
    directory = Path(os.environ.get("TMPDIR", ""))
    return directory if directory.name.startswith(_RUN) else None
