"""The progress of a run, on every engine: read from the receipts that it writes.

On a terminal, marks of workers on the same machine say how far they are within a shard.
"""

import contextlib
import sys
import threading
import time
from types import TracebackType

import rich.console
import rich.progress

from pairweave.pipelines.process import verbosity
from pairweave.pipelines.process.log import LOG
from pairweave.pipelines.run.attempts.standstill import Standstill
from pairweave.transforms import progress_marks
from pairweave.transforms.output.run_files import RECEIPTS
from pairweave.transforms.storage import files

LOCAL_SECONDS = 0.5
REMOTE_SECONDS = 15.0
LOG_SECONDS = 10.0
STANDSTILL_SECONDS = 900.0
"""Time without a finished unit or shard after which a warning says so: an engine that waits for a
worker may wait forever, and only the user knows how long a shard may take."""

MAX_ALIGNED = 0.99
"""Largest part of the bar of shards that aligned pairs fill: only written shards are finished."""

SPEED_SECONDS = 1.0
"""Time after which a speed is shown; a speed measured earlier would be unreliable."""


class Progress:
    """Follows a run's receipts in a thread: a bar on a terminal, lines in a log.

    Receipts are files, so this works wherever the workers are.
    """

    def __init__(
        self,
        output: str,
        units: int,
        shards: int,
        pairs: int,
        model: str | None = None,
        standstill: Standstill | None = None,
        alignments: int = 1,
    ) -> None:
        """Set up.

        Args:
            output: The run's directory or URI.
            units: Units to read.
            shards: Shards to write.
            pairs: Pairs in all of them.
            model: A file that exists once the run's model is fitted; None if none is fitted.
            standstill: Ends the attempt if it makes no progress; None if it may wait forever.
            alignments: How many aligners align each pair.
        """
        self._standstill = standstill
        self._directory = files.join(output, RECEIPTS)
        self._model = model
        self._seconds = REMOTE_SECONDS if files.is_uri(output) else LOCAL_SECONDS
        self._units = units
        self._shards = shards
        self._pairs = pairs
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._since = self._changed = time.monotonic()
        self._finished = -1
        self._counted = self._count()
        self._shards_before = self._shards_at_start = self._counted[1]
        self._alignments = alignments
        progress_marks.clear()

    def __enter__(self) -> "Progress":
        """Begin to follow."""
        self._since = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Show the last state and end."""
        self._stop.set()
        self._thread.join()

    def _count(self) -> tuple[int, int]:
        """Return how many units were read and shards written."""
        names = files.list_names(self._directory)
        units = sum(name.startswith("unit-") for name in names)
        shards = sum(name.startswith("shard-") for name in names)
        return units, shards

    def _count_again(self) -> tuple[int, int]:
        """Return `_count`, or the last counts if the store fails, which ends no watch of a run."""
        with contextlib.suppress(OSError):
            self._counted = self._count()
        return self._counted

    def _has_model(self) -> bool:
        """Tell whether the model that the run fits is finished; not if the store fails."""
        with contextlib.suppress(OSError):
            return self._model is not None and files.exists(self._model)
        return False

    def _look_for_standstill(self, units: int, shards: int) -> None:
        self._warn_of_standstill(units + shards)
        if self._standstill is not None:
            state = (
                f"{units} of {self._units} units read, {shards} of {self._shards} shards written"
            )
            self._standstill.check(units + shards, state)

    def _warn_of_standstill(self, finished: int) -> None:
        """Warn if no unit and no shard has been finished for a long time."""
        now = time.monotonic()
        if finished != self._finished:
            self._finished, self._changed = finished, now
        elif now - self._changed >= STANDSTILL_SECONDS:
            self._changed = now
            LOG.warning(
                "no unit was read and no shard written for %s; if the workers are idle, press "
                "Ctrl-C and run the same command again, which continues",
                _duration(STANDSTILL_SECONDS),
            )

    def _follow(self) -> None:
        chosen = verbosity.current()
        if sys.stderr.isatty() and not chosen.quiet and chosen.log_format == "text":
            self._draw()
        else:
            self._log()

    def _draw(self) -> None:
        columns = (
            rich.progress.TextColumn("{task.description}"),
            rich.progress.BarColumn(),
            rich.progress.TaskProgressColumn(),
            rich.progress.TextColumn("{task.fields[state]}"),
        )
        console = rich.console.Console(stderr=True)
        with rich.progress.Progress(*columns, console=console, transient=False) as bar:
            unit_bar = bar.add_task("units", total=self._units, state="")
            round_bar = bar.add_task("rounds", total=None, state="", visible=False)
            shard_bar = bar.add_task("shards", total=self._shards, state="")
            running = True
            while running:
                running = not self._stop.wait(self._seconds)
                units, shards = self._count_again()
                marks = progress_marks.read()
                if running:
                    self._look_for_standstill(units, shards)
                bar.update(unit_bar, completed=units, state=f"{units} of {self._units}")
                state = self._state(units, shards) + self._aligned(shards, marks.aligned)
                bar.update(shard_bar, completed=self._done(shards, marks.aligned), state=state)
                if self._model is not None and any(marks.rounds):
                    begun, rounds = marks.rounds
                    state = f"{begun - 1} of {rounds} of fitting the aligner"
                    bar.update(
                        round_bar, total=rounds, visible=True, completed=begun - 1, state=state
                    )
                else:
                    bar.update(round_bar, visible=False)

    def _log(self) -> None:
        last, due = "", 0.0
        running = True
        while running:
            running = not self._stop.wait(self._seconds)
            now = time.monotonic()
            if running and now < due:
                continue
            units, shards = self._count_again()
            if running:
                self._look_for_standstill(units, shards)
            line = f"{units} of {self._units} units read, shards {self._state(units, shards)}"
            if line != last:
                LOG.info(line)
                last, due = line, now + LOG_SECONDS

    def _done(self, shards: int, aligned: int) -> float:
        """Return how many shards are done, with parts of those whose pairs are being aligned."""
        if shards == self._shards:
            return shards
        part = aligned / max(1, self._pairs * self._alignments)
        begun = self._shards_at_start + part * self._shards
        return max(shards, min(begun, MAX_ALIGNED * self._shards))

    def _aligned(self, shards: int, aligned: int) -> str:
        """Describe the progress of aligning, until a finished shard gives a speed."""
        if not aligned or shards > self._shards_at_start:
            return ""
        pairs = self._pairs * (self._shards - self._shards_at_start) // self._shards
        done = min(aligned // self._alignments, pairs)
        text = f", {done:,} of {pairs:,} pairs aligned"
        seconds = time.monotonic() - self._since
        if not done or seconds < SPEED_SECONDS:
            return text
        return f"{text}, the others in {_duration((pairs - done) * seconds / done)}"

    def _state(self, units: int, shards: int) -> str:
        """Describe the shards: the number done, the total, pairs/s, and the time left.

        The speed is measured from the start of the run, or, if a model is fitted, from the time
        when the model was first seen.
        """
        text = f"{shards} of {self._shards}"
        if self._model is not None:
            if units < self._units or not self._has_model():
                return f"{text}, {'fitting the aligner' if units == self._units else 'reading'}"
            self._model = None
            self._since = time.monotonic()
            self._shards_before = shards
        written = shards - self._shards_before
        seconds = time.monotonic() - self._since
        if not written or seconds < SPEED_SECONDS:
            return text
        speed = written * self._pairs / self._shards / seconds
        if shards == self._shards:
            return f"{text}, {speed:,.0f} pairs/s"
        left = (self._shards - shards) * seconds / written
        return f"{text}, {speed:,.0f} pairs/s, {_duration(left)} left"


def _duration(seconds: float) -> str:
    """Write seconds as minutes and seconds, or hours and minutes.

    >>> _duration(75), _duration(7_500)
    ('1 min 15 s', '2 h 05 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
