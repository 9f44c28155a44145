"""Finish all other shards when some fail on every attempt.

A shard that kills its worker, or always raises an error, would keep a run from ever finishing the
shards after it. After the last attempt, the missing shards are therefore divided: those that were
being worked on (`transforms.output.attempt_marks`) are made one by one and the others together, and
a group that fails is divided again. A shard that fails alone is set aside. Nothing is committed
while a shard is missing.
"""

from typing import Protocol

from pairweave.pipelines.process.log import LOG
from pairweave.transforms.errors import SetAsideError, WorkerError

FEW = 4
"""Up to this many marked shards are made one by one; more are divided into halves."""

Shards = frozenset[int]


class Rest(Protocol):
    """The missing shards of a run."""

    def missing(self) -> Shards:
        """Return the shards that are not finished."""

    def begun(self) -> Shards:
        """Return the shards that the last graph worked on and did not finish."""

    def make(self, shards: Shards) -> str | None:
        """Make some shards and leave the others; return the failure, or None."""


def finish_others(rest: Rest, shards: int, most: int, message: str) -> None:
    """Finish all missing shards except those that fail alone.

    Args:
        rest: The missing shards, after a failed attempt.
        shards: The number of the run's shards.
        most: Maximum number of shards that may be set aside.
        message: The error of the attempt.

    Raises:
        SetAsideError: Shards fail alone, and all others are finished.
        WorkerError: Nothing can be set aside: no shard was being worked on, all fail, or too many.
    """
    left, marked = rest.missing(), rest.begun()
    if not most or not marked & left:
        raise WorkerError(message)
    LOG.warning("the last attempt failed: %s; finding the shards that fail", message)
    failures: dict[int, str] = {}
    groups = divide(left, marked) if len(left) > 1 else []
    if not groups:  # the only shard has already failed alone
        failures = dict.fromkeys(left, message)
        _check_limit(failures, shards, most)
    while groups:
        group = groups.pop(0) & rest.missing()
        failed = rest.make(group) if group else None
        if failed is None:
            continue
        unfinished = group & rest.missing()
        if len(unfinished) > 1:
            groups = [*divide(unfinished, rest.begun()), *groups]
        for shard in unfinished if len(unfinished) == 1 else ():
            failures[shard] = failed
            LOG.warning("shard %d fails alone: %s", shard, failed)
        _check_limit(failures, shards, most)
    if failures:
        raise SetAsideError(_describe(failures, shards))


def _check_limit(failures: dict[int, str], shards: int, most: int) -> None:
    if len(failures) > most or len(failures) == shards:
        message = list(failures.values())[-1]
        raise WorkerError(f"{message} ({len(failures)} of {shards} shards fail alone)")


def divide(shards: Shards, marked: Shards) -> list[Shards]:
    """Divide shards that failed together into groups that are made one after the other.

    >>> divide(frozenset({1, 2, 3, 4}), frozenset({2, 9}))
    [frozenset({2}), frozenset({1, 3, 4})]
    >>> divide(frozenset({1, 2, 3}), frozenset())
    [frozenset({1}), frozenset({2, 3})]
    >>> divide(frozenset({1, 2}), frozenset({1, 2}))
    [frozenset({1}), frozenset({2})]
    """
    suspects = sorted(shards & marked)
    if 0 < len(suspects) <= FEW:
        groups = [*(frozenset({shard}) for shard in suspects), shards - marked]
    elif 0 < len(suspects) < len(shards):
        groups = [frozenset(suspects), shards - marked]
    else:
        ordered = sorted(shards)
        half = len(ordered) // 2
        groups = [frozenset(ordered[:half]), frozenset(ordered[half:])]
    return [group for group in groups if group]


def _describe(failures: dict[int, str], shards: int) -> str:
    each = "; ".join(f"shard {shard}: {message}" for shard, message in sorted(failures.items()))
    return (
        f"{len(failures)} of {shards} shards failed on every attempt and were set aside; the "
        f"others are finished and nothing is committed. {each}. Remove the cause and run the same "
        "command again, which makes only these"
    )
