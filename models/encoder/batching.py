"""Batches: sorted by length, within a budget of padded pieces, and how they are processed."""

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
        members: Their numbers, int64.
        width: Padded length.
    """

    members: np.ndarray
    width: int


def cut_batches(lengths: np.ndarray, budget: int, multiple: int = 1) -> list[Batch]:
    """Cut sequences into batches, the longest first.

    Every batch but that of a single sequence keeps ``rows x width`` within the budget. The order
    is by length and then by number, so it is a function of the lengths alone; the longest come
    first so that memory runs out at once or not at all.

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
        halvings: How often memory ran out.
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
        """Do the work of a batch, in halves if memory runs out.

        Args:
            members: Sequences of the batch.
            row_size: How much one of them counts towards the limit.
            work: Does some of the members, and leaves its results where they belong.
            free: Gives unused memory back to the device.

        Raises:
            Exception: The device's own, when a single sequence does not fit.
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
    """Return how many of some wanted threads this process has cores for, at least 1."""
    return max(min(wanted, len(os.sched_getaffinity(0))), 1)


def run_batches(
    batches: Sequence[Batch],
    budget: Budget,
    work: Callable[[np.ndarray], None],
    free: Callable[[], None],
    threads: int = 1,
) -> None:
    """Do the work of some batches, each within a budget.

    Args:
        batches: What `cut_batches` made.
        budget: What one of them may hold.
        work: See `Budget.run`; with several threads it is called from several at once.
        free: See `Budget.run`.
        threads: How many batches are worked on at once.

    Raises:
        Exception: What ``work`` raised first; batches that were not begun stay undone.
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
    """Yield ``make(item)`` in order, made by one thread while the caller works on the last.

    An error in ``make`` is raised here, in its turn. A caller that stops early ends the thread.
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
