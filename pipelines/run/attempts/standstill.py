"""Ends an attempt whose engine stands still, instead of waiting forever.

An engine that waits for a worker, a slot or a connection may have no time limit of its own. An
attempt makes progress while it finishes units and shards, or while its processes on this machine
compute. When neither has happened for as long as the options allow, its main thread raises an
error, and the attempt fails like any other: the next one resumes the run, or the command ends.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from pairweave.pipelines.process import descendants
from pairweave.transforms import process_stat
from pairweave.transforms.errors import WorkerError

WINDOW_SECONDS = 60.0
"""Time over which the processes' use of cores is measured; at most a quarter of the limit."""

BUSY_SHARE = 0.05
"""Share of a core above which the processes count as working; a waiting Java process uses less."""

AGAIN_SECONDS = 30.0
"""Time after which the error is raised again, because other code may have caught it."""

_SIGNAL = signal.SIGUSR2
_TICKS = os.sysconf("SC_CLK_TCK")


class StandstillError(WorkerError):
    """An attempt made no progress for too long."""


class Standstill:
    """Watches whether an attempt makes progress, and ends it if it does not.

    Attributes:
        message: The error with which the attempt was ended; None if it was not.
    """

    def __init__(
        self, seconds: float | None, what: str, roots: Callable[[], Iterable[int]]
    ) -> None:
        """Begin to watch.

        Args:
            seconds: The time without progress after which the attempt is ended; None for no limit.
            what: The first words of the message.
            roots: Returns the processes whose work counts, including that of their descendants.
        """
        self.message: str | None = None
        self._seconds = seconds
        self._window = min(WINDOW_SECONDS, (seconds or WINDOW_SECONDS) / 4)
        self._what = what
        self._roots = roots
        self._finished = -1
        self._moved = self._opened = time.monotonic()
        self._used = cpu_seconds(roots())
        self._told = 0.0
        self._listens = False

    @contextlib.contextmanager
    def ending(self) -> Iterator[None]:
        """Make this block raise `StandstillError` when the attempt stands still.

        Only the main thread can be interrupted; in another thread this has no effect.
        """
        if self._seconds is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(_SIGNAL, self._raise)
        self._listens = True
        try:
            yield
        except Exception as error:
            if self.message is not None and not isinstance(error, StandstillError):
                raise StandstillError(self.message) from error
            raise
        finally:
            self._listens = False
            signal.signal(_SIGNAL, before)

    def check(self, finished: int, state: str) -> None:
        """Check whether the attempt has made progress, and end it if it has not for too long.

        Args:
            finished: Number of units and shards finished so far.
            state: The same in words, for the message.
        """
        now = time.monotonic()
        if finished != self._finished or self._has_worked(now):
            self._finished, self._moved = finished, now
        if not self._listens or self._seconds is None or now - self._moved < self._seconds:
            return
        if self.message is None or now - self._told > AGAIN_SECONDS:
            self.message = (
                f"{self._what}: no unit was read, no shard was written and no process of the run "
                f"worked for {self._seconds / 60:g} min ({state}); a worker may not have started, "
                "or a connection may be stuck. --standstill_minutes is the limit"
            )
            self._told = now
            signal.pthread_kill(threading.main_thread().ident or 0, _SIGNAL)

    def _has_worked(self, now: float) -> bool:
        """Tell, once in each window of time, whether the processes have worked in it."""
        if now - self._opened < self._window:
            return False
        used = cpu_seconds(self._roots())
        worked = used - self._used >= BUSY_SHARE * (now - self._opened)
        self._opened, self._used = now, used
        return worked

    def _raise(self, _number: int, _frame: object) -> None:
        raise StandstillError(self.message)


def cpu_seconds(roots: Iterable[int]) -> float:
    """Return the CPU time that processes and their descendants have used."""
    total = 0
    for root in roots:
        for pid in (root, *descendants.of(root)):
            # A process may end at any time.
            with contextlib.suppress(OSError):
                words = process_stat.words_of(pid)
                total += int(words[11]) + int(words[12])  # utime, stime
    return total / _TICKS
