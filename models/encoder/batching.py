"""Batches, sorted by length and limited by a budget of padded pieces, and their processing."""

import dataclasses
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
Made = TypeVar("Made")


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """Sequences that are padded to one width.

    Attributes:
        members: Numbers of the sequences, int64.
        width: Padded length.
    """

    members: np.ndarray
    width: int


def cut_batches(lengths: np.ndarray, budget: int, multiple: int = 1) -> list[Batch]:
    """Group sequences into batches, the longest first.

    ``rows x width`` of a batch is within the budget unless it has a single sequence. Sequences are
    ordered by length and then by number, so the order depends only on the lengths. The longest come
    first, so that memory runs out early or not at all.

    Args:
        lengths: Pieces of each sequence ``[sequence]``.
        budget: Padded pieces in a batch.
        multiple: Widths are rounded up to a multiple of this.

    >>> [(batch.members.tolist(), batch.width) for batch in cut_batches(np.array([3, 9, 4]), 8)]
    [([1], 9), ([2, 0], 4)]
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    batches = []
    position = 0
    while position < len(order):
        longest = max(int(lengths[order[position]]), 1)
        width = -(-longest // multiple) * multiple
        rows = max(budget // width, 1)
        batches.append(Batch(order[position : position + rows], width))
        position += rows
    return batches


class Budget:
    """The maximum size of a batch; it shrinks when memory runs out, and stays smaller.

    Attributes:
        limit: Padded pieces (or cells) in a batch.
        halvings: Number of times that memory ran out.
    """

    def __init__(self, limit: int, out_of_memory: tuple[type[BaseException], ...]) -> None:
        """Start with a limit.

        Args:
            limit: Padded pieces (or cells) in a batch.
            out_of_memory: The errors that mean that the device's memory ran out.
        """
        self.limit = limit
        self.halvings = 0
        self._out_of_memory = out_of_memory
        self._lock = threading.Lock()

    def run(
        self,
        members: np.ndarray,
        row_size: int,
        work: Callable[[np.ndarray], None],
        free: Callable[[], None],
    ) -> None:
        """Process a batch, in halves if memory runs out.

        Args:
            members: Sequences of the batch.
            row_size: Size of one sequence, in units of the limit.
            work: Processes some of the members and stores the results.
            free: Returns unused memory to the device.

        Raises:
            Exception: The device's error, if a single sequence does not fit.
        """
        rows = max(self.limit // max(row_size, 1), 1)
        if len(members) > rows:
            for start in range(0, len(members), rows):
                self.run(members[start : start + rows], row_size, work, free)
            return
        try:
            work(members)
            return
        except self._out_of_memory:
            if len(members) == 1:
                raise
        # Outside the handler: the caught error would keep the failed batch's tensors alive.
        free()
        half = -(-len(members) // 2)
        with self._lock:
            self.halvings += 1
            self.limit = max(min(self.limit, half * row_size), 1)
        self.run(members[:half], row_size, work, free)
        self.run(members[half:], row_size, work, free)


def allowed_threads(wanted: int) -> int:
    """Return the number of threads: at least 1, and at most the number of cores."""
    return max(min(wanted, len(os.sched_getaffinity(0))), 1)


def run_batches(
    batches: Sequence[Batch],
    budget: Budget,
    work: Callable[[np.ndarray], None],
    free: Callable[[], None],
    threads: int = 1,
) -> None:
    """Process batches, each within a budget.

    Args:
        batches: From `cut_batches`.
        budget: The maximum size of a batch.
        work: See `Budget.run`; with several threads it is called from several at once.
        free: See `Budget.run`.
        threads: Number of batches that are processed at once.

    Raises:
        Exception: The first exception of ``work``; further batches are not started.
    """
    if threads == 1 or len(batches) < 2:
        for batch in batches:
            budget.run(batch.members, batch.width, work, free)
        return
    with ThreadPoolExecutor(min(threads, len(batches)), thread_name_prefix="batch") as pool:
        futures = [
            pool.submit(budget.run, batch.members, batch.width, work, free) for batch in batches
        ]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def prefetch(items: Iterable[Item], make: Callable[[Item], Made], ahead: int = 1) -> Iterator[Made]:
    """Yield ``make(item)`` in order; a thread makes it while the caller works on the item before.

    An error in ``make`` is raised at the item's place in the order. If the caller stops early, the
    thread ends.
    """
    queue: Queue[tuple[bool, Made | BaseException | None]] = Queue(maxsize=ahead)
    stopped = threading.Event()

    def produce() -> None:
        try:
            for item in items:
                if stopped.is_set():
                    return
                queue.put((True, make(item)))
            queue.put((False, None))
        except BaseException as error:  # noqa: BLE001 - handed to the caller
            queue.put((False, error))

    thread = threading.Thread(target=produce, name="prefetch", daemon=True)
    thread.start()
    try:
        while True:
            more, made = queue.get()
            if not more:
                if made is not None:
                    raise made  # type: ignore[misc]
                return
            yield made  # type: ignore[misc]
    finally:
        stopped.set()
        while thread.is_alive():
            while not queue.empty():
                queue.get_nowait()
            thread.join(timeout=0.01)
